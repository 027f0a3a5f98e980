for line in io.lines() do collectgarbage() print('got ' .. line) io.stdout:flush() end
