#!/usr/bin/env python3
"""A UCI engine that knows one game by heart, and how engines fail: its argument names a fault."""

import os
import sys
import time

GAME = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"]
FAULT = sys.argv[1] if len(sys.argv) > 1 else ""


def say(*lines: str) -> None:
    """Write lines."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def fail() -> None:  # noqa: C901
    """Do what the fault is, before the best move."""
    match FAULT:
        case "nonsense":
            say("", "bestmov e2e4", "info depth", "info score cp", "Segmentation fault\x1b[2J", *["info string"] * 9999)
        case "hang":
            time.sleep(60)
        case "flood":
            while True:
                say("info currmove e2e4")
        case "die":
            os._exit(3)
        case "long":
            say("info string " + "x" * (10 << 20))
        case "endless":
            while True:
                sys.stdout.write("x" * 65536)
        case "fork":
            for _ in range(5):
                if os.fork() == 0:
                    time.sleep(5)
                    os._exit(0)
        case "late":
            assert sys.stdin.readline() == "stop\n"


def search() -> None:
    """Answer `go`."""
    best = {"illegal": "e2e5", "none": "(none)", "huge": "e" * 5000}.get(FAULT) or GAME[len(moves)]
    say(
        "info depth 1 multipv 2 score cp -92 pv g8f6",
        "info depth 1 multipv 3 score mate -2 pv f7f6",
        f"info depth 7 score cp 31 time 5 nodes 99 pv {best} e7e5",
    )
    say("info depth 8 currmove a2a3 currmovenumber 1")
    say("bestmove" if FAULT == "empty" else f"bestmove {best} ponder e7e5")


moves: list[str] = []
for line in sys.stdin:
    sys.stderr.write(f"> {line}")
    sys.stderr.flush()
    match line.split():
        case ["uci"] if FAULT != "silent":
            say("id name Heart", "option name Ponder type check default false", "option name Skill Level type spin")
            say("option name Threads type spin default 9", "option name MultiPV type spin", "uciok")
        case ["isready"]:
            say("readyok")
        case ["position", "fen", *rest]:
            moves = rest[7:]
        case ["go", *_]:
            fail()
            search()
        case ["quit"]:
            break
