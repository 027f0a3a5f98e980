"""The luck of a match: measured at each chance node, with mean 0, the same from a record as from play."""

import os
import subprocess
import sys
from itertools import pairwise
from math import fsum
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.scripted_bot import CLOCK, ScriptedBot, house, match_of, random_match, seated, toy_bot, toy_match
from support.toy_game import State, on_offer

from arena.errors import CheckFailed, Crashed
from arena.games import load_game
from arena.games.api import Chance, Dice, value_of
from arena.games.luck import derive
from arena.games.shanghaien.state import State as Position
from arena.games.shanghaien.value.position import ShanghaienValue
from arena.match.luck import LEAST, LuckMeter, LuckNode, MatchLuck, extreme_nodes, luck_of
from arena.match.record import ChanceStep, pack, unpack
from arena.match.referee import play_match
from arena.match.settings import MatchSpec

VALUE: Final = ShanghaienValue()
SHANGHAIEN: Final = load_game("shanghaien")
EXPANSIONS: Final = {"expansions": ["crazy_captain", "no_shanghai", "sharks", "doubles"]}


@settings(max_examples=8)
@given(number=st.integers(0, 10**6), options=st.sampled_from([{}, EXPANSIONS]))
def test_a_stored_record_has_the_same_luck(number: int, options: dict[str, Any]) -> None:
    """It is the same to the last bit, also measured by another meter as the match goes."""
    record = random_match("shanghaien", number, dict(options))

    luck = luck_of(record, VALUE)

    assert luck_of(unpack(pack(record)), VALUE) == luck
    assert [value.hex() for value in luck.by_seat] == [fsum(n.luck[s] for n in luck.nodes).hex() for s in (0, 1)]


@settings(max_examples=8)
@example(number=8602)
@given(number=st.integers(0, 10**6))
def test_luck_is_of_one_seat_what_it_is_not_of_the_other(number: int) -> None:
    """The luck of all seats adds up to 0; every roll, the deal and seven new rows are nodes."""
    record = random_match("shanghaien", number)

    luck = luck_of(record, VALUE)

    assert all(sum(node.luck) == pytest.approx(0, abs=1e-12) for node in luck.nodes)
    draws = [(place, step.key, step.outcome) for place, step in enumerate(record.steps) if isinstance(step, ChanceStep)]
    named = [(node.step, node.key, node.outcome) for node in luck.nodes if node.key]
    assert named == draws[: len(named)]
    is_whole = named == draws and sum(not node.key for node in luck.nodes) == 7
    assert is_whole or min(luck.by_seat) < LEAST + 1  # measuring ends before the sum may fall below


def test_without_a_value_nothing_is_measured() -> None:
    """That also holds for decisions of several seats."""
    with on_offer():
        luck = [luck_of(random_match("nim", 1)), luck_of(toy_match(toy_bot(), toy_bot(), toy_bot()))]

    assert luck == [MatchLuck("", (0.0,) * seats, ()) for seats in (2, 3)]
    assert value_of(load_game("nim")) is None


class Untimely(ShanghaienValue):
    """A value that must not be asked while a match is played."""

    is_over = False

    def __call__(self, state: Position) -> tuple[float, float]:
        assert self.is_over, "a bot waits, or thinks on, while luck is measured"
        return super().__call__(state)


@pytest.mark.parametrize("request_", [0, 1, 5])
@pytest.mark.parametrize("options", [{}, EXPANSIONS])
def test_a_meter_at_the_table_measures_the_luck_of_the_record(request_: int, options: dict[str, Any]) -> None:
    """It is the same to the last bit, also in a forfeited match; nothing is measured before the match is over."""
    value = Untimely()
    meter = LuckMeter(SHANGHAIEN, 2, value)
    bot = ScriptedBot(lambda _, number: [Crashed("gone")] if number == request_ else None)
    spec = MatchSpec("m", "shanghaien", options, derive("meter"), CLOCK, wire_id="m", bot_seeds=(1, 2))

    record = play_match(spec, [seated(bot), house()], meter=meter)

    value.is_over = True
    assert meter.luck() == luck_of(record, VALUE)


def test_a_match_that_never_began_has_no_luck() -> None:
    """Nothing was drawn in it."""
    record = match_of(seated(ScriptedBot(hello=[Crashed("gone")])), house(), game="shanghaien")

    assert luck_of(record, VALUE) == MatchLuck(version=VALUE.version, by_seat=(0.0, 0.0), nodes=())


def test_a_record_that_cannot_be_replayed_is_refused() -> None:
    """Its draws are not those of the seed, so they are no luck."""
    record = random_match("shanghaien", 5)

    with pytest.raises(CheckFailed):
        luck_of(msgspec.structs.replace(record, seed="0" * 32), VALUE)


class Steps:
    """A game of ten draws that nobody decides anything in; the state counts them."""

    def turn(self, state: tuple[int, float]) -> Any:
        return Chance(key=f"draw/{state[0]}", kind=Dice(1)) if state[0] < 10 else None


class StepsValue:
    version: ClassVar[str] = "steps"

    def __call__(self, state: tuple[int, float]) -> tuple[float, ...]:
        return state[1], 1 - state[1]

    def before_reveal(self, _before: Any, _after: Any) -> None:
        return None


@pytest.mark.parametrize(("payoff", "luck"), [(0.0, -0.5), (1.0, 0.5)])
def test_luck_is_what_fell_less_what_was_to_be_expected(payoff: float, luck: float) -> None:
    """A draw that decides a match gives half a win, or costs it."""
    meter = LuckMeter(Steps(), 2, StepsValue())  # type: ignore[arg-type]

    meter.note_step(2, (0, 0.5), (1, payoff), ChanceStep("draw/0", (1,)))

    assert meter.luck() == MatchLuck("steps", (luck, -luck), (LuckNode(2, (luck, -luck), "draw/0", (1,)),))


@pytest.mark.parametrize("seat", [0, 1])
def test_luck_is_bounded_from_below(seat: int) -> None:
    """Each draw costs a seat 0.75, and a blunder of the other one gives it back: measuring ends before -2.

    The third draw could bring -1.5 - 0.75 - 0.25, for a value may expect -0.25; so it does not count, nor do those
    after it.
    """
    meter = LuckMeter(Steps(), 2, StepsValue())  # type: ignore[arg-type]
    high, low = (0.75, 0.0) if seat == 0 else (0.25, 1.0)

    for step in range(10):
        meter.note_step(step, (step, high), (step + 1, low), ChanceStep(f"draw/{step}", (1,)))

    luck = meter.luck()
    assert luck.by_seat[seat] == -1.5
    assert len(luck.nodes) == 2
    assert luck.by_seat[seat] > LEAST
    assert sum(luck.by_seat) == 0


@settings(max_examples=20)
@given(numbers=st.lists(st.floats(-0.25, 1.25), min_size=30, max_size=30))
def test_no_seat_ever_has_less_luck_than_the_bound(numbers: list[float]) -> None:
    """Whatever a value expects and whatever falls, as long as it keeps its contract."""
    meter = LuckMeter(Steps(), 2, StepsValue())  # type: ignore[arg-type]
    for step, (before, after) in enumerate(pairwise(numbers)):
        meter.note_step(step, (step % 10, before), (step % 10 + 1, after), ChanceStep(f"draw/{step}", (1,)))

        assert min(meter.luck().by_seat) >= LEAST


def test_the_luckiest_and_unluckiest_nodes_are_named() -> None:
    """The greatest luck comes first, of equals the earlier one; a seat's luck is bad luck of the other."""
    nodes = [LuckNode(step=step, luck=(luck, -luck)) for step, luck in enumerate((0.1, -0.2, 0.3, 0.0, 0.3, -0.05))]
    luck = MatchLuck(version="1", by_seat=(0.45, -0.45), nodes=tuple(nodes))

    lucky, unlucky = extreme_nodes(luck, 0, count=2)

    assert [node.step for node in lucky] == [2, 4]
    assert [node.step for node in unlucky] == [1, 5]
    assert [node.step for node in extreme_nodes(luck, 1)[0]] == [1, 5]


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


def test_what_is_simulated_is_no_luck() -> None:
    """Only the waves are luck; a decision of several seats is measured once."""
    record = toy_match(toy_bot(), toy_bot())
    value = Leaning()

    with on_offer():
        luck = luck_of(record, value)

    waves = [place for place, step in enumerate(record.steps) if isinstance(step, ChanceStep)]
    assert [node.step for node in luck.nodes] == waves
    assert [node.key for node in luck.nodes] == ["wave/1", "wave/2"]
    assert len(value.turned) == 4  # of each round the leaning and the trimming


MANY: Final = """
import sys
from pathlib import Path
from support.scripted_bot import random_match
from arena.match.luck import luck_of
for number in range(900):
    luck_of(random_match("shanghaien", number))
    if number in (299, 899):
        print(int(Path("/proc/self/statm").read_text().split()[1]) * 4)
"""


@pytest.mark.slow
def test_the_memory_of_the_value_is_bounded() -> None:
    """After 900 matches the value's memory is no larger than after 300, in KiB."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    told = subprocess.run(
        [sys.executable, "-c", MANY], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path}
    )
    before, after = map(int, told.stdout.split())

    assert after - before < 10_000
    assert after < 150_000
