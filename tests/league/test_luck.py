"""Luck in a worker: measured where it is wanted and known, and never at the price of a match."""

from typing import Any

from support.golden import Golden
from support.made_matches import tournament

from arena.errors import HarnessFault
from arena.games import load_game
from arena.games.luck import derive
from arena.games.shanghaien.state import State
from arena.games.shanghaien.value.position import ShanghaienValue
from arena.league.exhibition import exhibition
from arena.league.schedule import jobs, pairings
from arena.league.worker import _make_meter, _measure_luck
from arena.match.baseline import BaselinePlayer
from arena.match.luck import LuckMeter, luck_of
from arena.match.record import MatchRecord
from arena.match.referee import play_match
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings, MatchSpec

CLOCK = ClockSettings()


def record(meter: LuckMeter | None = None) -> MatchRecord:
    spec = MatchSpec("m", "shanghaien", {}, derive("luck"), CLOCK, wire_id="m", bot_seeds=(1, 2, 3, 4))
    return play_match(spec, [BaselinePlayer(), BaselinePlayer()], meter=meter)


def job(**changes: Any) -> Any:
    return next(jobs(tournament("ann", "bob", **changes), {}))


def test_luck_is_measured_where_it_is_wanted_and_known() -> None:
    """It is measured by default, in games with a value function, unless the file says no."""
    meter = _make_meter(job(game="shanghaien"))

    assert meter is not None
    dice = record(meter)
    assert _measure_luck(dice, meter) == luck_of(dice)
    assert _make_meter(job(game="shanghaien", luck=False)) is None
    assert _make_meter(job()) is None


class Broken(ShanghaienValue):
    def __call__(self, state: State) -> tuple[float, float]:
        raise ZeroDivisionError(state.round)


def test_a_value_that_fails_is_our_fault(golden: Golden) -> None:
    """No bot forfeits: the block is void and named."""
    meter = LuckMeter(load_game("shanghaien"), 2, Broken())
    dice = record(meter)

    with golden.raises(HarnessFault):
        _measure_luck(dice, meter)


def test_whether_luck_is_measured_changes_no_match() -> None:
    """Pairings, and so seeds and ids, are the same; exhibitions measure none."""
    with_luck, without = (tournament("ann", "bob", luck=luck) for luck in (True, False))
    one, other = with_luck.players

    meeting = exhibition((one, other), game="nim", options={}, clock=CLOCK, secret=Secret.public("1"), blocks=1)

    assert pairings(with_luck) == pairings(without)
    assert [each.fixtures for each in jobs(with_luck, {})] == [each.fixtures for each in jobs(without, {})]
    assert not meeting.luck
