"""The value of a position of Shanghaien: fair at every chance node, zero-sum, finite, frozen.

The enumeration of what can fall is made from the rules alone; it knows nothing of how the value works.
"""

import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from hashlib import sha256
from itertools import permutations, product
from math import fsum, perm
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict
from support.expansions_positions import VARIANTS
from support.games_play import Step, steps
from support.games_positions import GAME, cards, player, replace, to_move

from arena.games.api import Chance, Decision, Dice, Over, Seat
from arena.games.shanghaien.state import State
from arena.games.shanghaien.value.constants import CONSTANTS
from arena.games.shanghaien.value.position import ShanghaienValue

OPTIONS: Final[list[dict[str, Any]]] = [{"expansions": chosen} for chosen in VARIANTS]
ALL: Final = OPTIONS[-1]


def rolls(dice: Dice) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every roll as a multiset, with its probability."""
    counted = Counter(tuple(sorted(roll)) for roll in product(range(1, dice.faces + 1), repeat=dice.count))
    for roll, ways in counted.items():
        yield roll, Fraction(ways, dice.faces**dice.count)


def after_rolls(state: State) -> list[tuple[State, Fraction]]:
    """Every state that can follow a state that waits for dice."""
    turn = GAME.turn(state)
    assert isinstance(turn, Chance)
    assert isinstance(turn.kind, Dice)
    return [(GAME.resolve(state, roll), chance) for roll, chance in rolls(turn.kind)]


def rows(state: State) -> list[tuple[State, Fraction]]:
    """Every state that can follow from cards lying face down: each row, in each order. Only for few cards."""
    cards = state.pile
    size = min(6, len(cards))
    every = Fraction(1, perm(len(cards), size))
    return [
        (replace(state, row=row, pile=tuple(card for card in cards if card not in row)), every)
        for row in permutations(cards, size)
    ]


def random_steps(number: int, options: dict[str, Any] | None = None) -> list[Step]:
    """Play at random and return the steps."""
    return list(steps(GAME, f"value {number}", Random(number), options=options or {}))


VALUE: Final = ShanghaienValue()
MANY: Final = 2
"""Rolls of more dice are no luck to the value, and too many to enumerate at every node."""


def mean(after: list[tuple[State, Fraction]]) -> float:
    return fsum([VALUE(state)[0] * float(chance) for state, chance in after])


def swapped(state: State) -> State:
    """Return the position with the seats exchanged, the base game only."""
    first, second = state.players
    return replace(state, players=(second, first), to_move=Seat(1 - state.to_move), turns=state.turns[::-1])


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "+".join(options["expansions"]) or "base")
def test_a_position_that_waits_for_dice_is_worth_the_mean_of_what_follows(options: dict[str, Any]) -> None:
    """At every roll of a random match, with any expansions: the luck of a node has mean 0."""
    waiting = [
        step.state
        for step in random_steps(len(str(options)), options)
        if isinstance(step.turn, Chance) and isinstance(step.turn.kind, Dice) and step.turn.kind.count <= MANY
    ]

    assert waiting
    for state in waiting:
        assert mean(after_rolls(state)) == pytest.approx(VALUE(state)[0], abs=1e-12)


@pytest.mark.parametrize("must_place", [1, 2])
def test_two_dice_to_place_are_fair_too(must_place: int) -> None:
    """After a vetoed placement of both dice they are rolled again; they are a right, or a duty."""
    state = replace(
        to_move(player(dice=(1, 4)), player(dice=(2, 3))),
        phase="rolling",
        to_place=2,
        must_place=must_place,
        turns=(3, 2),
        roll=2,
    )

    assert mean(after_rolls(state)) == pytest.approx(VALUE(state)[0], abs=1e-12)


@pytest.mark.parametrize("one_at", ["left", None])
def test_a_right_to_place_both_is_worth_the_better_of_both_and_one(one_at: Any) -> None:
    """In every round and for every roll: as much as the duty to place both, or as one die, whichever is more."""
    better = []
    for round_, (dice, _) in product((1, 4, 8), rolls(Dice(2))):
        table = to_move(player(dice=(1, 4)), player(dice=(2, 3)), round_=round_)
        lying = replace(table, phase="rolled", dice=dice, one_at=one_at)
        right, one, duty = (
            VALUE(replace(lying, to_place=most, must_place=least))[0] for least, most in ((1, 2), (1, 1), (2, 2))
        )
        assert right == max(one, duty)
        better.append(duty < one)
    assert len(set(better)) == 2


@pytest.mark.parametrize("starter", [0, 1])
def test_cards_face_down_are_worth_the_mean_of_the_rows(starter: int) -> None:
    """All 5040 rows of seven cards: three French, a Spanish 4, two Italians and a trick."""
    pile = cards("french 1", "french 3", "french 4", "spanish 4", "italian 2", "italian 3", "both")
    first = player(sailors=("french 2", "spanish 3"), tricks=("reroll",))
    second = player(sailors=("french 3", "italian 4"))
    table = to_move(first, second, seat=Seat(starter), round_=6)
    state = replace(table, row=(), pile=pile, one_at=None)

    every = rows(state)

    assert sum(chance for _, chance in every) == 1
    assert len({VALUE(after) for after, _ in every}) > 1
    assert mean(every) == pytest.approx(VALUE(state)[0], abs=1e-12)


def test_a_new_row_was_face_down() -> None:
    """And nothing else is ever turned up by a decision."""
    for step in random_steps(3):
        if not isinstance(step.turn, Decision):
            continue
        hidden = VALUE.before_reveal(step.state, step.after)

        assert (hidden is not None) == (step.after.round > step.state.round)
        if hidden is not None:
            assert (hidden.row, hidden.pile) == ((), step.after.row + step.after.pile)


@settings(max_examples=8)
@given(number=st.integers(0, 10**6))
def test_seats_are_alike(number: int) -> None:
    """Exchanged seats have exchanged payoffs."""
    for step in random_steps(number):
        assert VALUE(swapped(step.state)) == pytest.approx(VALUE(step.state)[::-1], abs=1e-12)


def test_the_last_shanghai_decides() -> None:
    """In round 8, with five dice each and the cards decided, the value is the outcome."""
    mine = player(dice=(1, 1, 2, 2, 3), sailors=("spanish 4",))
    theirs = player(dice=(4, 4, 5, 5, 6), sailors=("french 4",))

    ended = to_move(mine, theirs, round_=8)

    assert VALUE(ended) == VALUE(GAME.apply(ended, {Seat(0): GAME.legal(ended, Seat(0))[0]}))  # type: ignore[index]


def leaves(state: State, luck: float, chance: Fraction) -> Iterator[tuple[float, float, Fraction]]:
    """Luck, payoff and probability of every end of the match, if both roll while they may and place the lower die."""
    turn = GAME.turn(state)
    if isinstance(turn, Over):
        yield luck, VALUE(state)[0], chance
    elif isinstance(turn, Decision):
        seat = turn.seats[0]
        yield from leaves(GAME.apply(state, {seat: (GAME.legal(state, seat) or ())[0]}), luck, chance)
    else:
        here = VALUE(state)[0]
        for after, share in after_rolls(state):
            yield from leaves(after, luck + VALUE(after)[0] - here, chance * share)


def test_adjusted_payoffs_have_the_mean_of_the_payoffs() -> None:
    """Over all 441 ways in which the last two rolls of a match can fall, whatever part of the luck is subtracted."""
    mine = player(dice=(1, 3, 3, 6), sailors=("spanish 4", "american 3", "french 1"), tricks=("both",))
    theirs = player(dice=(2, 3, 4, 4), sailors=("french 4", "american 2", "spanish 3"))
    state = to_move(mine, theirs, round_=8)

    ends = list(leaves(state, 0.0, Fraction(1)))

    assert len(ends) == 441
    assert sum(chance for *_, chance in ends) == 1
    payoff = fsum([payoff * float(chance) for _, payoff, chance in ends])
    assert 0.05 < payoff < 0.95
    for part in (0.5, 1.0, 3.0):
        adjusted = fsum([(payoff - part * luck) * float(chance) for luck, payoff, chance in ends])
        assert adjusted == pytest.approx(payoff, abs=1e-12)


def digest() -> str:
    """Digest the exact bits of the value of every state of some matches, and the constants."""
    values = [VALUE(step.state)[0].hex() for number in (1, 2) for step in random_steps(number)]
    values += [VALUE(step.state)[0].hex() for step in random_steps(3, ALL)]
    constants = {name.upper(): value for name, value in asdict(CONSTANTS).items() if name != "version"}
    # rounds 1 to 5, 6 and 7, 8 and the last: the names they had when version 1 was frozen
    for name in ("ENDED", "LESSER"):
        for part, round_ in {"EARLY": 1, "MIDDLE": 6, "LATE": 7, "LAST": 8}.items():
            constants[f"_{name}_{part}"] = constants[name][round_]
    named = json.dumps([[name, constants[name]] for name in sorted(constants)])
    return sha256("\n".join([*values, named]).encode()).hexdigest()


def test_the_value_is_frozen() -> None:
    """Whoever changes any value gives it a new version, with a digest of its own: luck is stored with its version."""
    frozen = json.loads((Path(__file__).parent / "value_versions.json").read_text(encoding="utf-8"))

    assert frozen[ShanghaienValue.version] == digest()
