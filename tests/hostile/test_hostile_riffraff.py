"""Hostile bots at a table with a simulator, where all are asked at once: each costs nobody but itself."""

import gc
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec import Struct
from support.hostile_bots import HostileBot, bot_of, stage
from support.hostile_play import WITH_PROCESSES, Guest, forget_peak, is_gone, left_of, resident_mb
from support.process_boxes import open_files
from support.waiting import a_second, eventually

from arena.games import load_game
from arena.games.luck import derive
from arena.match.record import ActionStep, MatchRecord, SimulationStep, pack, unpack
from arena.match.referee import hello_for, play_match
from arena.match.replay import problems
from arena.match.settings import ClockSettings, MatchSpec
from arena.process.launch import STRICTEST
from arena.verify.resimulation import resimulate

pytest.importorskip("mujoco", reason="the extra `riffraff` is not installed")
pytestmark = pytest.mark.process

RIFFRAFF: Final = load_game("riffraff")
OPTIONS: Final[dict[str, Any]] = {"simulations": 13}
CLOCK: Final = ClockSettings(move_ms=200, bank_ms=600, wall_ms=1500, startup_ms=10_000)
HASTY: Final = ClockSettings(move_ms=100, bank_ms=0, wall_ms=300, startup_ms=10_000)
"""For those who do not answer in time anyway."""
RUSHED: Final = ClockSettings(move_ms=30, bank_ms=0, wall_ms=1000, startup_ms=10_000)
ENDLESS: Final = ClockSettings(move_ms=20_000, startup_ms=10_000)
"""For those who come to it by what they say."""
STRICT: Final = ClockSettings(move_ms=200, bank_ms=600, wall_ms=1500, startup_ms=10_000, strict=True)
PONDERING: Final = ClockSettings(move_ms=20_000, startup_ms=10_000, ponder=True)
EVIL: Final = 1
REFUSED_PASSES: Final = {"illegal_action"}
"""All of them pass, which nobody may who can load; the referee loads for them."""
MOST_GROWN_MB: Final = 30.0
LONGEST_S: Final = 12.0
"""Of a match on an idle machine: thirty turns and their simulations take half a second, the evil one the rest."""


class Rascal(Struct, frozen=True):
    """A bot of bot_simulate.py; `ends` is its termination, or one of two.

    `faults` are those that were pardoned, by code; `ignored` what was said in vain.
    """

    behaviour: str
    ends: str = "normal"
    word: str = ""
    faults: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    clock: ClockSettings = CLOCK
    capabilities: tuple[str, ...] = ("simulate",)
    processes: bool = False


SENSELESS: Final = (
    "bad_number bad_number outside_area bad_number bad_number bad_number bad_number malformed_reply malformed_reply"
    " answered malformed_reply not_a_choice malformed_reply"
)
EITHER: Final = "malformed_reply or protocol_violation"
"""The flood is met before the next request, or after it."""
RASCALS: Final = (
    Rascal("beyond-the-budget", word="left 12 to 0", clock=ENDLESS),
    Rascal("beyond-the-flood", "protocol_violation", "bytes that answer nothing", clock=ENDLESS),
    Rascal("beyond-the-flood", "timeout", "of CPU time", ("timeout",), ("early", "stale"), RUSHED),
    Rascal("wrong-ids", ignored=("stale",)),
    Rascal("answer-the-question", ignored=("stale",)),
    Rascal("huge-questions", word="malformed_reply malformed_reply malformed_reply"),
    Rascal("endless-question", "timeout", "of wall time", ("malformed_reply", "timeout"), clock=HASTY),
    Rascal("deep-question", "timeout", "of wall time", ("malformed_reply", "timeout"), clock=HASTY),
    Rascal("senseless-questions", word=SENSELESS),
    Rascal("interlocked-cargo", word="overlap overlap overlap overlap overlap not_a_choice"),
    Rascal("all-at-once", ignored=()),
    Rascal("never-listen", "malformed_reply", "lines without end", clock=ENDLESS),
    Rascal("answer-into-a-full-pipe", "timeout", "of wall time", clock=HASTY),
    Rascal("ask-after-the-answer", ignored=("early", "stale")),
    Rascal("ask-after-the-answer", ignored=("early", "stale"), clock=PONDERING),
    Rascal(
        "flood-after-the-answer", "protocol_violation", "bytes that answer nothing", (), ("early", "stale"), ENDLESS
    ),
    Rascal("flood-after-the-answer", EITHER, "lines", (), ("early", "stale"), PONDERING),
    Rascal("ask-before-a-request", ignored=("early",)),
    Rascal("ask-uninvited", "protocol_violation", "without that capability", capabilities=()),
    Rascal("spy", word="kept: silence"),
    Rascal("spy", word="kept: silence", capabilities=("events",)),
    Rascal("card-on-stderr"),
    Rascal("crash-among-others", "crash", "no card to play"),
    Rascal("hang-among-others", "timeout", "of wall time", ("timeout",), clock=HASTY),
    Rascal("leave-a-child-among-others", processes=True),
    Rascal("nonsense-to-every-load", faults=("malformed_reply",)),
    Rascal("nonsense-to-every-load", "malformed_reply", "not a message", clock=STRICT),
    Rascal("change-of-mind", ignored=("early", "stale")),
    Rascal("load-far-out"),
)
HONEST: Final = Rascal("honest", capabilities=())
PASSER: Final = Rascal("card-on-stderr")


class Table:
    """Rascals by seat, with their processes."""

    def __init__(self, staged: Path, rascals: tuple[Rascal, ...], clock: ClockSettings) -> None:
        self.clock = clock
        self._hello = hello_for(RIFFRAFF, OPTIONS, clock.startup_ms, seats=len(rascals))
        self.guests = [self._guest(staged, rascal) for rascal in rascals]

    def _guest(self, staged: Path, rascal: Rascal) -> Guest:
        bot = bot_of(HostileBot("simulate", rascal.behaviour, processes=rascal.processes), staged)
        facts = json.dumps({"capabilities": rascal.capabilities})
        confinement = WITH_PROCESSES if rascal.processes else STRICTEST
        return Guest(bot, rascal.behaviour, facts, clock=self.clock, confinement=confinement, hello=self._hello)

    def play(self) -> MatchRecord:
        """A match; afterwards no process is left."""
        spec = MatchSpec("m", "riffraff", OPTIONS, derive("hostile"), self.clock, wire_id="m", bot_seeds=(1, 2, 3, 4))
        try:
            return unpack(pack(play_match(spec, [guest.bot_player for guest in self.guests])))
        finally:
            for guest in self.guests:
                guest.bot_player.close(grace_s=0.0)
            for guest in self.guests:
                assert is_gone(lambda guest=guest: left_of(guest))  # type: ignore[misc]


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hostile bots."""
    return stage(tmp_path_factory.mktemp("riffraff") / "hostile")


@pytest.fixture(scope="module")
def undisturbed(staged: Path) -> list[Any]:
    """What happens when the seat of the evil one only passes, so that the referee loads for it."""
    return course(Table(staged, (HONEST, PASSER, HONEST), CLOCK).play())


def course(record: MatchRecord) -> list[Any]:
    """What must not depend on the reason for which one seat gave no load."""
    found: list[Any] = []
    for step in record.steps:
        if isinstance(step, ActionStep):
            found.append((step.seat, step.action))
        elif isinstance(step, SimulationStep):
            found.append((step.key, step.result))
        else:
            found.append((step.key, step.outcome))
    return found


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """No memory, no descriptor, once threads and the collector of garbage have come to an end."""
    gc.collect()
    files, before_mb = open_files(), resident_mb()
    forget_peak()
    yield
    assert resident_mb("VmHWM") - before_mb < MOST_GROWN_MB
    gc.collect()
    assert eventually(lambda: open_files() <= files)


def lane(number: int, rascal: Rascal) -> list[pytest.MarkDecorator]:
    """Every third plays in the main suite, of those whose match comes to its end one; a lane of CI plays the others."""
    is_long = rascal.ends == "normal" and not rascal.processes
    return [pytest.mark.slow] if number % 3 or is_long else []


@pytest.mark.parametrize(
    "rascal", [pytest.param(each, id=each.behaviour, marks=lane(number, each)) for number, each in enumerate(RASCALS)]
)
@pytest.mark.usefixtures("nothing_left")
def test_a_rascal_costs_nobody_but_itself(rascal: Rascal, staged: Path, undisturbed: list[Any]) -> None:
    """Soon over, the blame where it belongs; until then everybody else meets what they would meet without it."""
    begin_s = time.monotonic()
    record = Table(staged, (HONEST, rascal, HONEST), rascal.clock).play()
    took_s = time.monotonic() - begin_s

    said = "\n".join(step.note for step in record.steps if isinstance(step, ActionStep) and step.seat == EVIL)
    fault = record.fault
    if fault is not None:
        said = f"{fault.message}\n{fault.hint}\n{fault.stderr}"
        assert (fault.seat, record.ranks) == (EVIL, (0, 2, 0))
    assert record.termination.value in rascal.ends.split(" or "), said
    assert rascal.word in said
    assert "BROKE" not in said
    assert took_s < LONGEST_S * a_second()
    faults = [set(seat.faults or ()) - REFUSED_PASSES for seat in record.seats]
    assert faults == [set(), set(rascal.faults) - REFUSED_PASSES, set()]
    assert [seat.ignored for seat in record.seats] == [{}, record.seats[EVIL].ignored, {}]
    assert set(record.seats[EVIL].ignored) <= set(rascal.ignored)
    assert course(record) == undisturbed[: len(record.steps)]
    assert (len(record.steps) == len(undisturbed)) == (rascal.ends == "normal")
    assert problems(record) == []
    assert resimulate(record)[1] == []


@pytest.mark.usefixtures("nothing_left")
def test_of_two_that_fail_at_once_the_first_is_guilty(staged: Path) -> None:
    """Seats 1 and 3 crash over the same card: one forfeit, no process left of either, and the same blame each time."""
    crash = Rascal("crash-among-others")
    records = [Table(staged, (HONEST, crash, HONEST, crash), CLOCK).play() for _ in range(3)]

    assert [(each.termination.value, each.ranks) for each in records] == [("crash", (0, 3, 0, 0))] * 3
    assert {each.fault.seat for each in records if each.fault is not None} == {1}
    assert [problems(each) + resimulate(each)[1] for each in records] == [[], [], []]


@pytest.mark.usefixtures("nothing_left")
def test_who_is_pardoned_is_not_blamed_for_who_is_not(staged: Path) -> None:
    """Seat 1 is late over the card in which seat 3 crashes: that is the fault of seat 3."""
    late, crash = Rascal("hang-among-others"), Rascal("crash-among-others")
    record = Table(staged, (HONEST, late, HONEST, crash), HASTY).play()

    assert (record.termination.value, record.ranks) == ("crash", (0, 0, 0, 3))
    assert [seat.faults for seat in record.seats] == [{}, {"timeout": 1}, {}, {}]
    assert problems(record) + resimulate(record)[1] == []


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_left")
def test_four_that_simulate_at_once_get_the_same_answers(staged: Path) -> None:
    """Each in a thread of its own: no simulation disturbs another."""
    record = Table(staged, (Rascal("ask-with-all-others"),) * 4, CLOCK).play()

    notes = [step.note for step in record.steps if isinstance(step, ActionStep) and step.note]
    assert len(notes) == 4
    assert len(set(" ".join(notes).split())) == 1
    assert all(set(seat.faults or ()) <= REFUSED_PASSES for seat in record.seats)
    assert problems(record) + resimulate(record)[1] == []


@pytest.mark.usefixtures("nothing_left")
def test_a_crash_waits_for_what_others_simulate(staged: Path) -> None:
    """The others end their thoughts in their own time; the blame stays where it belongs."""
    record = Table(staged, (Rascal("ask-with-all-others"), Rascal("crash-among-others"), HONEST), CLOCK).play()

    assert (record.termination.value, record.ranks) == ("crash", (0, 2, 0))
    assert [seat.moves for seat in record.seats] == [1, 1, 1]
