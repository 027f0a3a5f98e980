"""Luck where several decide at once and nature takes its course: only draws count, and each step once."""

from typing import ClassVar

import pytest
from match_raft import State
from match_raft_table import raft_bot, sail_bots

from arena.games import GAMES
from arena.match.luck import luck_of
from arena.match.record import ChanceStep


class Leaning:
    """A value that is fair enough to be measured: a share for each point and, once it is known, each wave."""

    version: ClassVar[str] = "test"

    def __init__(self) -> None:
        self.turned: list[tuple[State, State]] = []

    def __call__(self, state: State) -> tuple[float, ...]:
        wave = 0.0 if state.wave is None else state.wave - 3.5
        return (0.5 + wave / 100, 0.5 - wave / 100)

    def before_reveal(self, before: State, after: State) -> State | None:
        self.turned.append((before, after))
        return None


@pytest.fixture(autouse=True)
def _raft_is_on_offer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES, "raft", "match_raft")


def test_without_a_value_nothing_is_measured() -> None:
    """However many decide at once."""
    luck = luck_of(sail_bots(raft_bot(), raft_bot(), raft_bot()))

    assert (luck.version, luck.by_seat, luck.nodes) == ("", (0.0, 0.0, 0.0), ())


def test_what_is_simulated_is_no_luck() -> None:
    """The waves are; and a decision of several is looked at once."""
    record = sail_bots(raft_bot(), raft_bot())
    value = Leaning()

    luck = luck_of(record, value)

    waves = [place for place, step in enumerate(record.steps) if isinstance(step, ChanceStep)]
    assert [node.step for node in luck.nodes] == waves
    assert [node.key for node in luck.nodes] == ["wave/1", "wave/2"]
    assert len(value.turned) == 4  # of each round the leaning and the trimming
