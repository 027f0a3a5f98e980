"""`python benchmarks/collusion.py`: what a bot gains at Kuhn poker that tells its card to the mirror match.

The bot (bots/colluder.c) holds queued signals, which the kernel adds up for each user, and plays against itself without
that. All bots run as one ordinary user, as they do where root does not run arena: root itself becomes one here. The
first row is a control: the processes of both rotations side by side and no limit on queued signals, where the trick
works. In the next ones each protection stands alone, then both. `relay`: two such leagues at once, one rotation at a
time and without the limit, and how often one saw signals of the other.
"""

import os
import pickle
import shutil
import subprocess
import tempfile
import traceback
from collections import Counter
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from statistics import mean
from typing import Any, Final, NamedTuple

import click
from tables import Figure, Row, Table

from arena.league import worker
from arena.league.exhibition import exhibition
from arena.league.schedule import Job, jobs
from arena.league.tournament import Player
from arena.match.record import ActionStep, ChanceStep, unpack
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings
from arena.process import reaper
from arena.process.limits import sandbox_rlimits
from arena.process.manifest import read_bot
from arena.process.sandbox import runtimes, sandbox
from arena.statistics.interval import interval

_HERE: Final = Path(__file__).resolve().parent
_USER: Final = 64_817
"""A user id that nobody has, to become if this is root."""
_CARDS: Final = ("jack", "queen", "king")
_MOST_SIGNALS: Final = 8_192
"""The limit of queued signals for the user: a bot reaches it in a few milliseconds."""
_STEP: Final = 512


class Hands(NamedTuple):
    """Results: matches, score by block, and how often a card was sent, sent correctly, and foreign signals seen."""

    matches: int
    scores: list[float]
    sent: int
    right: int
    saw: int


@click.command()
@click.option("--blocks", default=1000, help="Of two matches.")
def main(blocks: int) -> None:
    """Play and print."""
    with tempfile.TemporaryDirectory(prefix="arena-collusion-") as folder:
        scratch = Path(folder)
        scratch.chmod(0o777)
        build_bots(scratch)
        play_hands(scratch, 1)  # imports what is needed: an ordinary user may be unable to read root's Python
        rows = [
            _row("both side by side, no limit", play_as_ordinary_user(scratch, blocks, beside=True, limit=False)),
            _row("both side by side, limit", play_as_ordinary_user(scratch, blocks, beside=True)),
            _row("one at a time, no limit", play_as_ordinary_user(scratch, blocks, limit=False)),
            _row("one at a time, limit", play_as_ordinary_user(scratch, blocks)),
        ]
        relayed = play_as_ordinary_user(scratch, blocks, count=2, limit=False)
        closed = play_as_ordinary_user(scratch, blocks, count=2)
    rows += [_row("relay: two leagues, no limit", relayed), _row("relay: two leagues, limit", closed)]
    headers = (
        "rotations",
        "matches",
        "score % of\nthe colluder",
        "told a card,\n% of matches",
        "right,\n% of these",
        "saw signals,\n%",
    )
    note = (
        "score +-: 95 % interval over blocks, as a leaderboard has it; 50 is what the same bot gets without the trick"
    )
    print(Table(title="Collusion of the rotations", headers=headers, rows=tuple(rows), notes=(note,)).text())


def _row(label: str, hands: list[Hands]) -> Row:
    scores = [score for league in hands for score in league.scores]
    matches, sent = sum(league.matches for league in hands), sum(league.sent for league in hands)
    spread = mean((score - mean(scores)) ** 2 for score in scores) / (len(scores) - 1)
    score = interval(mean(scores), spread**0.5, degrees=len(scores) - 1, blocks=len(scores), lowest=0.0, highest=1.0)
    right = sum(league.right for league in hands)
    return (
        label,
        Figure(matches, 0),
        Figure(100 * score.value, 2, error=100 * score.error),
        Figure(100 * sent / matches),
        Figure(100 * right / sent) if sent else "-",
        Figure(100 * sum(league.saw for league in hands) / matches),
    )


def build_bots(scratch: Path) -> None:
    """Compile the bot that colludes, and the same bot without the trick."""
    for name, words in (("colluder", "./colluder"), ("plain", "./colluder, plain")):
        (scratch / name).mkdir(mode=0o755)
        source = _HERE / "bots" / "colluder.c"
        subprocess.run(["cc", "-O2", "-o", scratch / name / "colluder", source], check=True)
        (scratch / name / "bot.yaml").write_text(f"name: {name}\ncommand: [{words}]\n", encoding="utf-8")


def play_as_ordinary_user(
    scratch: Path, blocks: int, *, count: int = 1, beside: bool = False, limit: bool = True
) -> list[Hands]:
    """Play `count` leagues at once, each in a fork that is not root; return the hands of each.

    `beside`: run the processes of both rotations at the same time. All modules must have been imported before.
    """
    pipes = []
    for _ in range(count):
        reading, writing = os.pipe()
        if os.fork() == 0:
            try:
                _become_ordinary(scratch / f"home-{os.getpid()}")
                if beside:
                    setattr(worker, "play_rotations", _side_by_side)  # noqa: B010
                if not limit:
                    setattr(sandbox, "sandbox_rlimits", _without_signals)  # noqa: B010
                with os.fdopen(writing, "wb") as out:
                    pickle.dump(play_hands(scratch, blocks), out)
            except BaseException:  # noqa: BLE001 - the end of this copy
                traceback.print_exc()
            finally:
                os._exit(0)
        os.close(writing)
        pipes.append(reading)
    hands = []
    for number in pipes:
        with os.fdopen(number, "rb") as pipe:
            hands.append(pickle.load(pipe))
        os.wait()
    return hands


def _become_ordinary(home: Path) -> None:
    import resource  # noqa: PLC0415 - as arena does

    resource.setrlimit(resource.RLIMIT_SIGPENDING, (_MOST_SIGNALS, _MOST_SIGNALS))
    home.mkdir()
    if os.geteuid() == 0:
        shutil.chown(home, _USER, _USER)
        os.setgroups([])
        os.setresgid(_USER, _USER, _USER)
        os.setresuid(_USER, _USER, _USER)
        setattr(runtimes, "folders", lambda: ())  # noqa: B010 - the bots are in C
    os.environ["TMPDIR"] = tempfile.tempdir = str(home)
    reaper.become_subreaper()


def _without_signals(limits: Any) -> dict[str, int]:
    return {name: value for name, value in sandbox_rlimits(limits).items() if name != "SIGPENDING"}


def _side_by_side(job: Job, **_: object) -> Generator[worker.PlayedMatch, None, None]:
    """Play a job as arena once did: with a table for each rotation, all open during the whole job."""
    with ExitStack() as ending:
        tables = [worker._make_bots(job) for _ in job.pairing.players]  # noqa: SLF001
        for player in (player for table in tables for player in table):
            ending.callback(player.close, grace_s=0.0)
        for fixture in job.fixtures:
            for rotation in fixture.draw.order:
                yield worker._play_at_table(job, fixture, rotation, tables[rotation])  # noqa: SLF001


def play_hands(scratch: Path, blocks: int) -> Hands:
    """Play `blocks` blocks of both bots in this process."""
    players = [Player(name=name, bot=read_bot(scratch / name)) for name in ("colluder", "plain")]
    secret, clock = Secret.random(), ClockSettings()
    meeting = exhibition(players, game="kuhn_poker", options={}, clock=clock, secret=secret, blocks=blocks)
    points, sent, right, saw = Counter[int](), 0, 0, 0
    for job in jobs(meeting, {}, secret=secret):
        for match in (match for block in worker.play_job(job) for match in block.results):
            record, result = unpack(match.record), match
            assert record.fault is None, record.fault
            seat = record.players.index("colluder")
            points[result.key.block] += result.points[seat]
            notes = [step.note for step in record.steps if isinstance(step, ActionStep) and step.seat == seat]
            (deal,) = (step.outcome for step in record.steps if isinstance(step, ChanceStep))
            seen, _, card = (notes or ["0 "])[0].partition(" ")
            sent, right, saw = sent + bool(card), right + (card == _CARDS[deal[1 - seat]]), saw + (int(seen) >= _STEP)
    return Hands(2 * blocks, [value / 4 for value in points.values()], sent, right, saw)


if __name__ == "__main__":
    main()
