"""A match with a hostile bot, and what must be seen of it afterwards: time, memory, processes."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Self

from arena.games import load_game
from arena.games.api import Json, Seat
from arena.games.luck import derive
from arena.match.baseline import BaselinePlayer
from arena.match.bot_player import BotPlayer
from arena.match.participant import Participant
from arena.match.record import MatchRecord
from arena.match.referee import hello_for, play_match
from arena.match.settings import ClockSettings, MatchSpec
from arena.process.channel import Channel, ProcessChannel
from arena.process.launch import STRICTEST, Confinement, start
from arena.process.limits import Limits
from arena.process.manifest import BotSpec, read_bot
from arena.process.process import BotProcess
from arena.protocol.codec import LINE_FROM_BOT_LIMIT
from arena.protocol.messages import Hello
from support.bot_source import bot_script
from support.waiting import eventually, state_of

HOSTILE: Final = Path(__file__).parents[1] / "hostile" / "bots" / "hostile.py"
CLOCK: Final = ClockSettings(move_ms=150, bank_ms=0, wall_ms=400, startup_ms=10_000)
NIM: Final = load_game("nim")
BARE: Final = Confinement(isolation="none")
"""For what the harness itself must do where nothing stands around a bot."""
WITH_PROCESSES: Final = Confinement(limits=Limits(processes=True, scratch_mib=0))
"""The sandbox for a bot that may start processes."""


class Guest:
    """A bot as a bot_player, with the processes it was given."""

    def __init__(
        self,
        bot: BotSpec,
        *arguments: str,
        clock: ClockSettings = CLOCK,
        confinement: Confinement = STRICTEST,
        hello: Hello | None = None,
    ) -> None:
        self.processes: list[BotProcess] = []
        self._confinement = confinement
        self._bot = bot
        self._arguments = arguments
        self.bot_player = BotPlayer(
            player=" ".join(arguments) or bot.name,
            bot=bot.digest,
            open_channel=self._open,
            hello=hello or hello_for(NIM, {}, clock.startup_ms),
            clock=clock,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.bot_player.close(grace_s=0.0)

    def _open(self) -> Channel:
        process = start(self._bot, self._arguments, self._confinement)
        self.processes.append(process)
        return ProcessChannel(process, limit=LINE_FROM_BOT_LIMIT)


def hostile(mode: str, *more: str, clock: ClockSettings = CLOCK, confinement: Confinement = STRICTEST) -> Guest:
    """The hostile bot of that mode."""
    return Guest(read_bot(HOSTILE), mode, *more, clock=clock, confinement=confinement)


def against(
    bot: Participant,
    other: Participant | None = None,
    *,
    game: Any = None,
    options: dict[str, Any] | None = None,
    clock: ClockSettings = CLOCK,
) -> MatchRecord:
    """A match of nim of `bot` in seat 0, against the house if there is no other."""
    spec = MatchSpec("m", "nim", options or {}, derive("hostile"), clock, wire_id="m", bot_seeds=(1, 2, 3, 4))
    return play_match(spec, [bot, other or BaselinePlayer()], game=game)


def bot_with(folder: Path, code: str, name: str = "bot.py") -> BotSpec:
    """The bot of that program, in a folder that everybody may enter."""
    folder.chmod(0o755)
    (folder / name).write_text(code, encoding="utf-8")
    return read_bot(folder / name)


class WideNim:
    """Nim with views larger than a pipe."""

    def __init__(self, size: int) -> None:
        self._padding = "x" * size

    def __getattr__(self, name: str) -> Any:
        return getattr(NIM, name)

    def observe(self, state: Any, seat: Seat) -> dict[str, Json]:
        return {**NIM.observe(state, seat), "padding": self._padding}


def elapsed_s(action: Callable[[], object]) -> float:
    """How long it took."""
    begin_s = time.monotonic()
    action()
    return time.monotonic() - begin_s


def all_pids() -> list[int]:
    """All processes of the machine."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def alive(session: int) -> list[int]:
    """Processes in that session or process group, without the dead that wait for their parent."""
    states = {pid: state_of(pid) for pid in all_pids()}
    return [pid for pid, (state, *places) in states.items() if session in places and state not in {"Z", "X"}]


def left_of(guest: Guest) -> list[int]:
    """Processes of the first process of that bot: in its session, and in the group of those inside its box."""
    first = guest.processes[0]
    return sorted({*alive(first.pid), *alive(first.group.id)})


def is_gone(pids: Callable[[], list[int]]) -> bool:
    """Whether nothing is found any more soon; a killed process takes a moment to go."""
    return eventually(lambda: not pids())


def resident_mb(field: str = "VmRSS") -> float:
    """Memory of this process: `VmRSS` now, `VmHWM` at the most since `forget_peak`."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise AssertionError(f"no {field} in /proc/self/status")


def forget_peak() -> None:
    """`VmHWM` begins anew."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


PLAYS: Final = bot_script()
PONDERS: Final = f"""\
import hashlib, threading
def burn():
    while True:
        hashlib.sha256(bytes(1 << 16))
threading.Thread(target=burn, daemon=True).start()
{PLAYS}"""
