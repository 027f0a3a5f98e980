"""The folders of hostile and honest bots, with decoys; and what must hold of each match of one of them."""

import contextlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from hostile_bots import HostileBot, bot_of, stage
from hostile_decoys import Decoys, decoys
from hostile_league import PATIENT, honest_bots, honest_players, league_of, played

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

    def __init__(self, folder: Path, laid: Decoys, honest: tuple[BotSpec, BotSpec]) -> None:
        self.decoys = laid
        self.staged = stage(folder / "hostile")
        self.honest = honest
        self._folder = folder
        self.alone = cache(self._alone)

    def _alone(self, think_ms: int, clock: ClockSettings = PATIENT) -> list[MatchRecord]:
        """The honest ones among themselves, with time enough on any machine."""
        league = league_of(honest_players(self.honest, think_ms), clock)
        return played(league, self._folder / f"alone-{think_ms}-{clock.move_ms:g}")

    def player(self, rogue: HostileBot, *, everywhere: bool, name: str = EVIL) -> Player:
        """The hostile bot, told of the decoys as in Decoys.facts."""
        facts = self.decoys.facts(tasks=rogue.wishes.tasks or Limits().tasks, everywhere=everywhere)
        return Player(name=name, bot=bot_of(rogue, self.staged), arguments=(rogue.behaviour, json.dumps(facts)))

    def files(self) -> dict[str, int]:
        """What lies in the folders of all bots, and when it was changed."""
        folders = (self.staged, Path(self.honest[0].folder))
        return {str(file): file.stat().st_mtime_ns for folder in folders for file in folder.rglob("*")}


@contextlib.contextmanager
def grounds_in(folder: Path) -> Iterator[Grounds]:
    """Lay everything out in an empty folder."""
    folder.chmod(0o755)
    for name in ("honest", "decoys"):
        (folder / name).mkdir()
        (folder / name).chmod(0o755)
    bots = honest_bots(folder / "honest")
    with decoys(folder / "decoys", Path(bots[0].source)) as laid:
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


def shortfalls(rogue: HostileBot, record: MatchRecord, player: str = EVIL) -> list[str]:
    """What of a match with the rogue is not as it must be."""
    seat = seat_of(player, record)
    said = said_in(record, seat)
    found = problems(record)
    told = lines_of(record)
    found += [f"lines of {each.player} are told otherwise" for each in told if not each.is_exact and not each.left_out]
    shown = "\n".join(transcript(record, every_state=False)).split("\n")
    found += [f"not to be shown on a terminal: {line!r}" for line in shown if not line.isprintable()]
    if "BROKE" in said:
        found.append(f"broke out: {said}")
    if record.termination.value not in rogue.ends.split(" or "):
        found.append(f"ended as {record.termination.value}, expected {rogue.ends}: {said}")
    if rogue.word not in said and (record.fault is not None or rogue.ends == "normal"):
        found.append(f"no {rogue.word!r} in {said!r}")
    if record.fault is not None and (record.fault.seat, record.ranks) != (seat, (int(seat == 0), int(seat == 1))):
        found.append(f"the fault is that of seat {record.fault.seat}, ranks {record.ranks}, expected seat {seat}")
    return found


def open_files() -> int:
    """Descriptors of this process."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
