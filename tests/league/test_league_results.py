"""What standings get to know of a match."""

from typing import Literal

import pytest
from msgspec.structs import replace

from arena.games import load_game
from arena.games.luck import derive
from arena.league.results import summarise
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
    return play(MatchSpec(match="m", game="nim", options={}, seed=derive("results"), clock=CLOCK), seats)


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
