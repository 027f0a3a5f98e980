"""What standings get to know of a match."""

from typing import Literal

import msgspec
import pytest
from msgspec.structs import replace

from arena.games import load_game
from arena.games.luck import derive
from arena.league.results import MatchSummary, summarise
from arena.match.house import house_contestant
from arena.match.luck_sum import MatchLuck
from arena.match.record import MatchRecord
from arena.match.referee import hello_for, play
from arena.match.terms import ClockSettings, MatchSpec

CLOCK = ClockSettings()


@pytest.fixture
def record() -> MatchRecord:
    """A match of nim in which seat 0 plays by wall time, as a bot with children does, and seat 1 by CPU time."""
    hello = hello_for(load_game("nim"), {}, CLOCK.startup_ms)
    seats = [house_contestant(hello, replace(CLOCK, decides="wall")), house_contestant(hello, CLOCK)]
    return play(
        MatchSpec(
            match="m", game="nim", options={}, seed=derive("results"), clock=CLOCK, wire_id="m", bot_seeds=(1, 2, 3, 4)
        ),
        seats,
    )


@pytest.mark.parametrize(("seat", "decides"), [(0, "wall"), (1, "cpu")])
def test_time_is_of_the_kind_that_decided_for_the_seat(
    record: MatchRecord, seat: int, decides: Literal["cpu", "wall"]
) -> None:
    """Not of the kind that the match names: that is CPU time for both."""
    seats = tuple(replace(entry, cpu_ms=1.0, wall_ms=2.0) for entry in record.seats)

    assert record.seats[seat].decides == decides
    assert summarise(replace(record, seats=seats)).time_ms[seat] == {"cpu": 1.0, "wall": 2.0}[decides]


def test_luck_goes_with_its_version(record: MatchRecord) -> None:
    """In millionths; a game without a value has none, and one without the other is refused."""
    summary = summarise(record, MatchLuck(version="7", by_seat=(1 / 3, -1 / 3), nodes=()))

    assert (summary.luck, summary.luck_version) == ((0.333333, -0.333333), "7")
    assert summarise(record) == summarise(record, MatchLuck(version="", by_seat=(0.0, 0.0), nodes=()))
    assert replace(summary, luck=(), luck_version="") == summarise(record)
    for changes in ({"luck_version": ""}, {"luck": ()}, {"luck": (0.0,)}):
        with pytest.raises(ValueError, match="luck needs a version"):
            replace(summary, **changes)


def test_pardoned_faults_are_by_seat(record: MatchRecord) -> None:
    """As the record has them; a match without any says nothing of them."""
    first, second = record.seats
    faulty = replace(record, seats=(replace(first, faults={"timeout": 2}), second))
    spared = replace(record, seats=(replace(first, faults={}), second))

    assert summarise(faulty).pardoned == ({"timeout": 2}, {})
    assert summarise(record).pardoned == summarise(spared).pardoned == ()


@pytest.mark.parametrize(
    "pardoned",
    [({},), ({}, {}, {}), ({"crash": 1}, {}), ({"laziness": 1}, {}), ({}, {"timeout": 0}), ({"timeout": -1}, {})],
)
def test_impossible_pardons_are_refused(record: MatchRecord, pardoned: tuple[dict[str, int], ...]) -> None:
    """A count for each seat, of kinds that can be pardoned."""
    with pytest.raises(ValueError, match="pardoned faults are counted by seat and by illegal_action, malformed_reply"):
        replace(summarise(record), pardoned=pardoned)


def test_a_summary_of_former_times_can_be_read(record: MatchRecord) -> None:
    """It knows nothing of luck and pardons."""
    now = summarise(record)
    then = msgspec.to_builtins(now)
    for name in ("luck", "luck_version", "pardoned"):
        del then[name]

    assert msgspec.json.decode(msgspec.json.encode(then), type=MatchSummary) == now
