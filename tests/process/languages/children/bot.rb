$stdout.sync = true
while line = gets do puts `echo got`.strip + ' ' + line end
