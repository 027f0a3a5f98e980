$stdout.sync = true
while line = gets
  threads = 4.times.map { |n| Thread.new { sleep 0.001; 'x' * 100_000 * n } }
  threads.each(&:join)
  GC.start
  puts 'got ' + line
end
