"""fastchess (github.com/Disservin/fastchess, C++), the peer for speed: wall time of a move between instant engines.

Rule: measured as the leagues are: engines that answer at once, while all workers are busy. Build it with
`make` in its checkout, at commit 74deac23 for the figures of README.md, and name the program with `--fastchess`.
"""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

_BOTS: Final = Path(__file__).resolve().parent / "bots"
_MOVES: Final = _BOTS / "chess_moves.txt"
_PLIES: Final = 100
_FINISHED: Final = re.compile(r"^Finished game", re.MULTILINE)


def engine(language: str, scratch: Path) -> list[str]:
    """Return the command of an instant engine, `C` or `Python`."""
    if language == "Python":
        return [sys.executable, "-S", str(_BOTS / "instant_uci.py"), str(_MOVES)]
    program = scratch / "instant-uci"
    if not program.exists():
        compiler = shutil.which("cc")
        assert compiler is not None, "the engine in C needs the compiler `cc`"
        subprocess.run([compiler, "-O2", "-o", program, _BOTS / "instant_uci.c"], check=True, timeout=60)
    return [str(program), str(_MOVES)]


def us_a_move(fastchess: Path, command: list[str], *, workers: int, games: int, scratch: Path) -> float:
    """Measure microseconds of wall time a move and worker.

    The time runs from the end of an early game to the end after which a worker has no more to do.
    """
    program, *words = command
    engine_options = [f"cmd={program}", f"args={' '.join(words)}"]
    settings = [
        *("-each", "tc=10+0.1", "-rounds", str(games // 2), "-games", "2", "-maxmoves", str(_PLIES // 2)),
        *("-concurrency", str(workers), "-ratinginterval", "0", "-autosaveinterval", "0"),
        *("-config", f"outname={scratch / 'fastchess.json'}"),
    ]
    engines = ["-engine", *engine_options, "name=A", "-engine", *engine_options, "name=B"]
    with subprocess.Popen(
        [fastchess, *engines, *settings], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=scratch
    ) as running:
        assert running.stdout is not None
        ends_s = [time.perf_counter() for line in running.stdout if _FINISHED.match(line)]
    assert len(ends_s) == games, f"fastchess finished {len(ends_s)} of {games} games"
    skipped = max(2 * workers, games // 20)
    counted = games - skipped - (workers - 1)
    return (ends_s[-workers] - ends_s[skipped - 1]) * workers / (counted * _PLIES) * 1e6
