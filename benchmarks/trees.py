"""Another tree of the project beside this one: CPU time of whole commands, as ratios within one run.

    python benchmarks/trees.py /path/to/other/checkout          # each tree with its own .venv; about 20 minutes
    python benchmarks/trees.py /path/to/other/checkout --only leaderboard

Both trees do the same work in turns, until the 95 % interval of the ratio this / other has a half width of at most
0.03, or after 30 rounds. Each works on files of its own, made by its own commands. The time of a command is that of
all its processes: workers and bots count too.
"""

import contextlib
import math
import os
import resource
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Final

import click
from measure import machine_speed

from arena.process.reaper import become_subreaper
from arena.statistics.distributions import t_quantile

HERE: Final = Path(__file__).resolve().parent.parent
HALF_WIDTH: Final = 0.03
MOST_ROUNDS: Final = 30
LEAST_ROUNDS: Final = 5

TOURNAMENT: Final = """\
name: trees
game: {game}
cycles: {cycles}
players: [{{bot: random}}, {{bot: random, name: other}}]
"""
"""One secret for both trees: the same luck, and bots that draw their moves from it."""

FOUR: Final = """\
name: four
game: {game}
seats: 4
cycles: {cycles}
players:
  - {{bot: shipmate, name: lookahead, arguments: [lookahead]}}
  - {{bot: shipmate, name: tidy, arguments: [tidy]}}
  - {{bot: shipmate, name: random, arguments: [random]}}
  - {{bot: shipmate, name: other, arguments: [random]}}
"""
"""A tournament of Riff Raff at one table; a cycle is four matches."""

PLAYOUTS: Final = """
from random import Random
from time import process_time
from arena.games import load_game
from arena.games.api import Decision, Over
from arena.games.luck import draw
game, rng = load_game("shanghaien"), Random(5)
begun_s = process_time()
for number in range(600):
    state = game.setup({}, 2)
    while not isinstance(turn := game.turn(state), Over):
        if isinstance(turn, Decision):
            state = game.apply(state, {seat: game.sample(state, seat, rng) for seat in turn.seats})
        else:
            state = game.resolve(state, draw(f"playout {number}", turn))
print(process_time() - begun_s)
"""
"""A program that prints the CPU time of random matches, without the start of Python."""

LUCK: Final = """
from time import process_time
from arena.games import load_game
from arena.match.baseline import BaselinePlayer
from arena.match.luck import LuckMeter, luck_of
from arena.match.referee import play_match
from arena.match.settings import ClockSettings, MatchSpec
taken_s = 0.0
for number in range(150):
    spec = MatchSpec("m", "shanghaien", {}, f"luck {number}", ClockSettings(), wire_id="m", bot_seeds=(number, -number))
    meter = LuckMeter(load_game("shanghaien"), 2)
    noted = {"meter": meter} if "meter" in (play_match.__kwdefaults__ or {}) else {}  # a tree of before replays
    record = play_match(spec, [BaselinePlayer(), BaselinePlayer()], **noted)
    begun_s = process_time()
    if number >= 10:
        meter.luck() if noted else luck_of(record)
        taken_s += process_time() - begun_s
print(taken_s)
"""
"""A program that prints the CPU time that the luck of matches takes beyond playing them."""


class Tree:
    """A checkout with its own environment, and the results that its commands made."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self._root = root
        self._bin = root / ".venv" / "bin"
        self._results = scratch / "results"
        self._scratch = scratch
        scratch.mkdir()

    def prepare(self) -> None:
        """Store a league that the reading commands ask about."""
        self.league("nim", 300)

    def league(self, game: str, cycles: int, results: Path | None = None, *, template: str = TOURNAMENT) -> float:
        """Run a new league; return its CPU seconds."""
        file = self._scratch / f"{game}.yaml"
        file.write_text(template.format(game=game, cycles=cycles), encoding="utf-8")
        return self.arena("league", "run", str(file), "--workers", "1", results=results)

    def fresh_league(self, game: str, cycles: int, template: str = TOURNAMENT) -> float:
        """Run a new league into an empty folder; return its CPU seconds."""
        with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
            return self.league(game, cycles, Path(folder) / "results", template=template)

    def arena(self, *arguments: str, results: Path | None = None) -> float:
        """Run a command on stored results; return its CPU seconds."""
        return self._cpu_s([self._bin / "arena", *arguments, "--results", results or self._results])

    def help(self) -> float:
        """Run `arena --help`; return its CPU seconds."""
        return self._cpu_s([self._bin / "arena", "--help"])

    def measure(self, program: str) -> float:
        """Run a program; return the CPU seconds that it prints at its end."""
        return float(self._run([self._bin / "python", "-c", program]))

    def _cpu_s(self, command: Sequence[str | Path]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self._run(command)
        with contextlib.suppress(ChildProcessError):
            while True:
                os.wait()  # workers and bots that the command leaves to us
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def _run(self, command: Sequence[str | Path]) -> str:
        """Run a command; return its output. ClickException if it fails."""
        # an installed program is compiled once, not at each start: otherwise the ratio is one of lines of code
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(self._scratch / "compiled")
        environment["PATH"] = f"{self._bin}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(command, cwd=self._root, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise click.ClickException(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout


BENCHMARKS: Final[Mapping[str, Callable[[Tree], float]]] = {
    "help": Tree.help,
    "playouts": lambda tree: tree.measure(PLAYOUTS),
    "luck": lambda tree: tree.measure(LUCK),
    "league of nim": lambda tree: tree.fresh_league("nim", 60),
    "league of Shanghaien": lambda tree: tree.fresh_league("shanghaien", 10),
    "league of Riff Raff": lambda tree: tree.fresh_league("riffraff", 2),
    "table of Riff Raff": lambda tree: tree.fresh_league("riffraff", 1, FOUR),
    "leaderboard": lambda tree: tree.arena("leaderboard"),
    "stats": lambda tree: tree.arena("stats", "random"),
    "matrix": lambda tree: tree.arena("matrix"),
    "verify": lambda tree: tree.arena("verify"),
}


@click.command()
@click.argument("other", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--only", type=click.Choice(list(BENCHMARKS)), multiple=True, help="Only this one; may be repeated.")
def main(other: Path, only: tuple[str, ...]) -> None:
    """Compare this tree with the checkout OTHER."""
    become_subreaper()
    with tempfile.TemporaryDirectory(prefix="arena-trees-") as folder:
        here, there = Tree(HERE, Path(folder) / "here"), Tree(other.resolve(), Path(folder) / "there")
        here.prepare()
        there.prepare()
        print(f"machine before: {machine_speed()}", flush=True)
        for name in only or BENCHMARKS:
            print(f"{name:22} {compare(BENCHMARKS[name], here, there)}", flush=True)
        print(f"machine after: {machine_speed()}")


def compare(measure: Callable[[Tree], float], here: Tree, there: Tree) -> str:
    """Measure the ratio this / other; return it as text with its 95 % interval and the number of rounds."""
    logs: list[float] = []
    for tree in (here, there):
        measure(tree)
    while True:
        pair = (here, there) if len(logs) % 2 else (there, here)
        taken = {tree: measure(tree) for tree in pair}
        logs.append(math.log(taken[here] / taken[there]))
        if len(logs) < LEAST_ROUNDS:
            continue
        error = t_quantile(len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
        low, ratio, high = (math.exp(fmean(logs) + shift) for shift in (-error, 0.0, error))
        if (high - low) / 2 <= HALF_WIDTH or len(logs) >= MOST_ROUNDS:
            return f"{ratio:.3f} ({low:.3f} to {high:.3f}), {len(logs)} rounds, {taken[here]:.2f} s"


if __name__ == "__main__":
    main()
