const { execFileSync, spawn } = require('child_process');
require('readline').createInterface({ input: process.stdin }).on('line', line => {
    const text = execFileSync('echo', ['got'], { encoding: 'utf8' }).trim();
    spawn('cat').on('exit', () => console.log(text + ' ' + line)).stdin.end('x');
});
