"""`python benchmarks/term.py`: a week of a course, from hand-ins to grades, with the default game and clock.

All bots are the Python template. The first week is a full league; in the second one five authors hand in a new version.
The checks of all hand-ins are counted apart.
"""

import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import click
from tables import Figure, Row, Table

_COURSE: Final = "name: course\ngame: shanghaien\nplayers: [{submitted: '*'}, {bot: greedy}]\ncycles: 1\n"
_SUBMIT: Final = ("submit", "handed-in", "--authors", "authors.csv", "--for", "course.yaml", "--to", "verdicts")
_RUN: Final = ("league", "run", "course.yaml")


@click.command()
@click.option("--authors", default=60, help="Number of authors.")
@click.option("--new", default=5, help="Number of authors with a new version in the second week.")
def main(authors: int, new: int) -> None:
    """Play two weeks and print what each command took."""
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory(prefix="arena-term-") as folder, contextlib.chdir(folder):
        names = [f"a{number}" for number in range(authors)]
        lines = [f"{name},{name},,yes" for name in names]
        Path("authors.csv").write_text("\n".join(["author,hand_in,address,active", *lines, ""]), encoding="utf-8")
        Path("course.yaml").write_text(_COURSE, encoding="utf-8")
        for name in names:
            _arena("new-bot", name, "--to", f"handed-in/{name}")
        rows = [*_week("first")]
        for name in names[:new]:
            with Path("handed-in", name, "bot.py").open("a", encoding="utf-8") as source:
                source.write("# second version\n")
        rows += _week("second")
    print(Table(title=f"{authors} authors, {new} new versions", headers=("what", "measured"), rows=tuple(rows)).text())


def _week(name: str) -> list[Row]:
    """Submit all hand-ins, run the league and write table, grades and reports."""
    check_s, before = _arena(*_SUBMIT), _matches()
    first_s, run_s = _run(before)
    grades_s, reports_s = _arena("grades", "--yardstick", "greedy"), _arena("report", "--to", "reports")
    return [
        (f"{name} week: check of all hand-ins (s)", Figure(check_s, 1)),
        ("first match stored (s from the start of the run)", Figure(first_s, 1)),
        (f"run of {_matches() - before} matches, with the table (s)", Figure(run_s, 1)),
        ("grades (s)", Figure(grades_s, 1)),
        ("reports (s)", Figure(reports_s, 1)),
        ("run, grades and reports (s)", Figure(run_s + grades_s + reports_s, 1)),
        ("results (MB)", Figure(_size_mb(Path("results")), 1)),
    ]


def _run(before: int) -> tuple[float, float]:
    """Run the league; return the seconds until a match is stored that was not `before`, and those of the run."""
    start_s = time.monotonic()
    run = subprocess.Popen([sys.executable, "-m", "arena", *_RUN], stdout=subprocess.DEVNULL)
    while _matches() == before and run.poll() is None:
        time.sleep(0.05)
    first_s = time.monotonic() - start_s
    if run.wait():
        raise SystemExit("the league failed")
    return first_s, time.monotonic() - start_s


def _arena(*words: str) -> float:
    """Run a command and return the seconds it took."""
    start_s = time.monotonic()
    subprocess.run([sys.executable, "-m", "arena", *words], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start_s


def _matches() -> int:
    """Return the number of stored matches."""
    with contextlib.closing(sqlite3.connect("results/arena.db")) as connection:
        return int(connection.execute("SELECT count(*) FROM record").fetchone()[0])


def _size_mb(folder: Path) -> float:
    """Return the size of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


if __name__ == "__main__":
    main()
