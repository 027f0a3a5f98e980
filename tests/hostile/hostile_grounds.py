"""Where the zoo lies, with honest bots and bait; and what must hold of each match of one of its animals."""

import contextlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from hostile_bait import Bait, bait
from hostile_league import honest_bots, honest_players, league_of, played
from hostile_zoo import Animal, bot_of, stage

from arena.league.tournament import Player
from arena.match.reconstruction import lines_of
from arena.match.record import ActionStep, MatchRecord
from arena.match.replay import problems
from arena.match.settings import ClockSettings
from arena.process.limits import Limits
from arena.process.manifest import BotSpec
from arena.report.transcript import transcript

EVIL: Final = "evil"


class Grounds:
    """All of it in one folder."""

    def __init__(self, folder: Path, laid: Bait, honest: tuple[BotSpec, BotSpec]) -> None:
        self.bait = laid
        self.staged = stage(folder / "zoo")
        self.honest = honest
        self._folder = folder
        self.alone = cache(self._alone)

    def _alone(self, clock: ClockSettings, think_ms: int) -> list[MatchRecord]:
        """The honest ones among themselves."""
        players = honest_players(self.honest, think_ms)
        return played(league_of(players, clock), self._folder / f"alone-{clock.move_ms:g}-{think_ms}")

    def player(self, animal: Animal, *, everywhere: bool, name: str = EVIL) -> Player:
        """The animal, told what there is to reach for; see Bait.facts."""
        facts = self.bait.facts(tasks=animal.wishes.tasks or Limits().tasks, everywhere=everywhere)
        return Player(name=name, bot=bot_of(animal, self.staged), arguments=(animal.habit, json.dumps(facts)))

    def files(self) -> dict[str, int]:
        """What lies in the folders of all bots, and when it was changed."""
        folders = (self.staged, Path(self.honest[0].folder))
        return {str(file): file.stat().st_mtime_ns for folder in folders for file in folder.rglob("*")}


@contextlib.contextmanager
def grounds_in(folder: Path) -> Iterator[Grounds]:
    """Lay everything out in an empty folder."""
    folder.chmod(0o755)
    for name in ("honest", "bait"):
        (folder / name).mkdir()
        (folder / name).chmod(0o755)
    bots = honest_bots(folder / "honest")
    with bait(folder / "bait", Path(bots[0].source)) as laid:
        yield Grounds(folder, laid, bots)


def seat_of(player: str, record: MatchRecord) -> int:
    """Where that player sat."""
    return [seat.player for seat in record.seats].index(player)


def said_in(record: MatchRecord, seat: int) -> str:
    """What the bot said besides its actions: notes, and what is kept of its fault."""
    notes = [step.note for step in record.steps if isinstance(step, ActionStep) and step.seat == seat]
    if record.fault is not None and record.fault.seat == seat:
        notes += [record.fault.message, record.fault.stderr]
    return "\n".join(filter(None, notes))


def shortfalls(animal: Animal, record: MatchRecord, player: str = EVIL) -> list[str]:
    """What of a match with the animal is not as it must be."""
    seat = seat_of(player, record)
    said = said_in(record, seat)
    found = problems(record)
    told = lines_of(record)
    found += [f"lines of {each.player} are told otherwise" for each in told if not each.is_exact and not each.left_out]
    shown = "\n".join(transcript(record, every_state=False)).split("\n")
    found += [f"not to be shown on a terminal: {line!r}" for line in shown if not line.isprintable()]
    if "BROKE" in said:
        found.append(f"broke out: {said}")
    if record.termination.value not in animal.ends.split(" or "):
        found.append(f"ended as {record.termination.value}, expected {animal.ends}: {said}")
    if animal.word not in said and (record.fault is not None or animal.ends == "normal"):
        found.append(f"no {animal.word!r} in {said!r}")
    if record.fault is not None and (record.fault.seat, record.ranks) != (seat, (int(seat == 0), int(seat == 1))):
        found.append(f"the fault is that of seat {record.fault.seat}, ranks {record.ranks}, expected seat {seat}")
    return found


def open_files() -> int:
    """Descriptors of this process."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
