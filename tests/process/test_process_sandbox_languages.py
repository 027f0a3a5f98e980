"""Languages at work in the box: threads, timers, garbage collectors under pressure, and programs that a build made.

Each answers two requests, with a rest between them; a call of the kernel that it needs and does not have shows here.
"""

import shutil
from pathlib import Path
from typing import Final

import msgspec
import pytest
from process_boxes import ask, built, folder_of, in_a_box, ran, talking
from test_process_sandbox_runtimes import WIDE, require_program

from arena.process.sandbox import runtimes

pytestmark = in_a_box

GO = """
package main
import ("bufio"; "fmt"; "os"; "runtime"; "sync"; "time")
func work(done *sync.WaitGroup) {
    defer done.Done()
    kept := [][]byte{}
    for i := 0; i < 200; i++ {
        kept = append(kept, make([]byte, 100000))
        if i % 20 == 0 { kept = kept[:0] }
    }
    runtime.KeepAlive(kept)
}
func main() {
    for in := bufio.NewScanner(os.Stdin); in.Scan(); {
        var done sync.WaitGroup
        for i := 0; i < 8; i++ { done.Add(1); go work(&done) }
        done.Wait()
        runtime.GC()
        time.Sleep(time.Millisecond)
        fmt.Println("got", in.Text())
    }
}
"""
RUST = """
use std::{io::BufRead, sync::mpsc, thread, time::Duration};
fn main() {
    for line in std::io::stdin().lock().lines() {
        let (sender, receiver) = mpsc::channel();
        let workers: Vec<_> = (0..8).map(|n| {
            let sender = sender.clone();
            thread::spawn(move || { thread::sleep(Duration::from_millis(1)); sender.send(vec![n; 100_000]).unwrap(); })
        }).collect();
        for worker in workers { worker.join().unwrap(); }
        assert_eq!(receiver.iter().take(8).count(), 8);
        println!("got {}", line.unwrap());
    }
}
"""
CPP = r"""
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <string>
#include <thread>
#include <vector>
int main() {
    for (std::string line; std::getline(std::cin, line); ) {
        std::atomic<int> sum{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 8; i++) threads.emplace_back([&] {
            std::vector<std::string> kept(1000, std::string(1000, 'x'));
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            sum += kept.size();
        });
        for (auto &thread : threads) thread.join();
        try { throw sum.load(); } catch (int found) { if (found == 8000) std::cout << "got " << line << std::endl; }
    }
}
"""
C = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static void *work(void *unused) {
    (void)unused;
    for (int i = 0; i < 100; i++) { char *kept = malloc(1 << 20); memset(kept, i, 1 << 20); free(kept); }
    return 0;
}
int main(void) {
    char line[99];
    while (fgets(line, sizeof line, stdin)) {
        pthread_t threads[8];
        for (int i = 0; i < 8; i++) if (pthread_create(threads + i, 0, work, 0)) abort();
        for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
        nanosleep(&(struct timespec){0, 1000000}, 0);
        printf("got %s", line);
        fflush(stdout);
    }
}
"""
JAVA = """
import java.util.*;
import java.util.concurrent.*;
class Bot {
    static int work(int n) {
        List<byte[]> kept = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            kept.add(new byte[100_000]);
            if (i % 100 == 0) kept.clear();
        }
        return n;
    }
    public static void main(String[] a) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            String line = in.nextLine();
            List<Future<Integer>> jobs = new ArrayList<>();
            for (int i = 0; i < 8; i++) { int n = i; jobs.add(pool.submit(() -> work(n))); }
            int sum = 0;
            for (Future<Integer> job : jobs) sum += job.get();
            System.gc();
            Thread.sleep(1);
            if (sum == 28) System.out.println("got " + line);
        }
        pool.shutdown();
    }
}
"""
NODE = """
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
"""
ASYNCIO = """
import asyncio, sys
async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        first, _ = await asyncio.gather(loop.run_in_executor(None, line.decode), asyncio.sleep(0.001))
        print("got", first.strip(), flush=True)
asyncio.run(main())
"""
PHP = "<?php while (($line = fgets(STDIN)) !== false) { echo 'got ' . $line; }\n"
LUA = "for line in io.lines() do collectgarbage() print('got ' .. line) io.stdout:flush() end\n"
RUBY = """
$stdout.sync = true
while line = gets
  threads = 4.times.map { |n| Thread.new { sleep 0.001; 'x' * 100_000 * n } }
  threads.each(&:join)
  GC.start
  puts 'got ' + line
end
"""
PERL = """
use strict; use warnings; use Time::HiRes; $| = 1;
while (<STDIN>) { my @kept = map { 'x' x 100_000 } 1 .. 50; Time::HiRes::sleep(0.001); print 'got ', $_; }
"""
INTERPRETED = {
    "node": ("bot.js", NODE, ("node", "bot.js")),
    "python3": ("bot.py", ASYNCIO, ("python3", "bot.py")),
    "php": ("bot.php", PHP, ("php", "bot.php")),
    "lua5.4": ("bot.lua", LUA, ("lua5.4", "bot.lua")),
    "ruby": ("bot.rb", RUBY, ("ruby", "bot.rb")),
    "perl": ("bot.pl", PERL, ("perl", "bot.pl")),
}
TELLS: Final = {"ruby": "timer_create failed"}
"""Complaints that cost nothing: Ruby then has no timer for signals that come at a bad moment."""
COMPILED = {
    "go": ("bot.go", GO, "go build -o bot bot.go", ("./bot",)),
    "rustc": ("bot.rs", RUST, "rustc -C target-feature=+crt-static bot.rs", ("./bot",)),
    "gcc": ("bot.c", C, "gcc -O1 -pthread -static -o bot bot.c", ("./bot",)),
    "g++": ("bot.cc", CPP, "g++ -O1 -pthread -o bot bot.cc", ("./bot",)),
    "javac": ("Bot.java", JAVA, "javac Bot.java", ("java", "-Xmx96m", "-cp", ".", "Bot")),
}


def check_answers(folder: Path, command: tuple[str, ...]) -> None:
    """Two, the second after a rest, and no complaint."""
    with talking(folder, *command, limits=WIDE) as (channel, _):
        assert ask(channel, b"one") == b"got one"
        assert ask(channel, b"two") == b"got two"
        complaints = [line for line in channel.stderr().splitlines() if TELLS.get(command[0], "\0") not in line]
        assert complaints == []


@pytest.mark.parametrize("program", sorted(INTERPRETED))
def test_an_interpreter_at_work(tmp_path: Path, program: str) -> None:
    """With what it has of threads, timers and garbage."""
    require_program(program)
    name, code, command = INTERPRETED[program]
    (folder_of(tmp_path) / name).write_text(code)

    check_answers(tmp_path, command)


@pytest.mark.parametrize("compiler", sorted(COMPILED))
def test_a_compiler_and_what_it_made(tmp_path: Path, compiler: str) -> None:
    """The one in the box of builds, the other in that of bots."""
    require_program(compiler)
    name, code, build, command = COMPILED[compiler]
    (folder_of(tmp_path / "run") / name).write_text(code)

    check_answers(built(tmp_path / "run", build), command)


def test_numpy_at_work(tmp_path: Path) -> None:
    """With the threads of its linear algebra, where bots have it."""
    require_program("python3")
    code = """
try:
    import numpy
except ImportError:
    print("none")
else:
    print(numpy.linalg.inv(numpy.eye(300) * 2).sum())
"""
    said = ran(tmp_path, code, limits=WIDE)
    if said.out == "none\n":
        pytest.skip("no numpy for bots here")

    assert (said.out, said.err) == ("150.0\n", "")


CHILDREN = {
    "node": (
        "bot.js",
        """
const { execFileSync, spawn } = require('child_process');
require('readline').createInterface({ input: process.stdin }).on('line', line => {
    const text = execFileSync('echo', ['got'], { encoding: 'utf8' }).trim();
    spawn('cat').on('exit', () => console.log(text + ' ' + line)).stdin.end('x');
});
""",
    ),
    "python3": (
        "bot.py",
        """
import asyncio, concurrent.futures, subprocess, sys
async def said():
    child = await asyncio.create_subprocess_exec("echo", "got", stdout=subprocess.PIPE)
    return (await child.communicate())[0].decode().strip()
def main():
    for line in sys.stdin:
        with concurrent.futures.ProcessPoolExecutor(2) as pool: assert list(pool.map(abs, [-1, -2])) == [1, 2]
        print(asyncio.run(said()), line.strip(), flush=True)
main()
""",
    ),
    "java": (
        "Bot.java",
        """
import java.util.Scanner;
class Bot {
    public static void main(String[] a) throws Exception {
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            Process child = new ProcessBuilder("echo", "got").start();
            String said = new String(child.getInputStream().readAllBytes()).trim();
            System.out.println(said + " " + in.nextLine());
        }
    }
}
""",
    ),
    "perl": ("bot.pl", '$| = 1; while (<STDIN>) { my $said = `echo got`; chomp $said; print "$said $_"; }\n'),
    "ruby": ("bot.rb", "$stdout.sync = true\nwhile line = gets do puts `echo got`.strip + ' ' + line end\n"),
}


@pytest.mark.parametrize("program", sorted(CHILDREN))
def test_children_of_a_bot_with_processes(tmp_path: Path, program: str) -> None:
    """Each language has a way of its own to start them; Python's pools need shared memory besides."""
    require_program(program)
    name, code = CHILDREN[program]
    (folder_of(tmp_path) / name).write_text(code)
    limits = msgspec.structs.replace(WIDE, processes=True, scratch_mib=8)

    with talking(tmp_path, program, name, limits=limits) as (channel, _):
        assert ask(channel, b"one") == b"got one"
        assert ask(channel, b"two") == b"got two"


def test_awk_and_shells_at_work(tmp_path: Path) -> None:
    """A script of a shell that runs programs, where the bot may have processes."""
    code = 'while read -r line; do echo "$line" | awk \'{ print "got", $1 }\' | cat; done\n'
    folder = folder_of(tmp_path, bot_sh=code)
    limits = msgspec.structs.replace(WIDE, processes=True)

    for shell in ("sh", "bash"):
        if shutil.which(shell, path=runtimes.search_path()):
            with talking(folder, shell, "bot.sh", limits=limits) as (channel, _):
                assert ask(channel, b"one") == b"got one"
