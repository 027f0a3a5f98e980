const { Worker, isMainThread, parentPort } = require('worker_threads');
const fs = require('fs');
if (!isMainThread) parentPort.on('message', n => parentPort.postMessage(Array(100000).fill(n).length));
else {
    const worker = new Worker(__filename);
    require('readline').createInterface({ input: process.stdin }).on('line', async line => {
        for (let i = 0; i < 20; i++) Buffer.alloc(1 << 20, i);
        const text = await fs.promises.readFile(__filename, 'utf8');
        const count = await new Promise(done => { worker.once('message', done); worker.postMessage(line); });
        await new Promise(done => setTimeout(done, 1));
        if (count === 100000 && text.length) console.log('got ' + line);
    }).on('close', () => worker.terminate());
}
