"""Kuhn poker against what is known of it: its value, and that no player can do better than the known play."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import permutations, product

import pytest

from arena.games.api import Decision, Over
from arena.games.kuhn_poker import GAME, RANKS, State
from arena.match.baseline import BaselinePlayer
from arena.match.human import HumanPlayer
from arena.match.participant import ActionRequest
from arena.match.record import ActionStep, ChanceStep
from arena.match.referee import play_match
from arena.match.secret_luck import Secret, draw_block
from arena.match.settings import ClockSettings, MatchSettings, spec_of
from arena.protocol.messages import Answer

VALUE = Fraction(-1, 18)
Chances = Callable[[str, tuple[str, ...]], Fraction]
"""The probability of a bet or a call, by the own card and the moves so far."""
THIRD = Fraction(1, 3)


def first(alpha: Fraction) -> Chances:
    """The best play of seat 0 by Kuhn's paper, one for each alpha from 0 to 1/3."""
    bets = {"jack": alpha, "queen": Fraction(0), "king": 3 * alpha}
    calls = {"jack": Fraction(0), "queen": alpha + THIRD, "king": Fraction(1)}
    return lambda card, moves: calls[card] if moves else bets[card]


def second(card: str, moves: tuple[str, ...]) -> Fraction:
    """Return the best play of seat 1."""
    bets = {"jack": THIRD, "queen": Fraction(0), "king": Fraction(1)}
    calls = {"jack": Fraction(0), "queen": THIRD, "king": Fraction(1)}
    return calls[card] if moves == ("bet",) else bets[card]


def expected(players: tuple[Chances, Chances]) -> Fraction:
    """The chips that seat 0 wins on average, over all deals, each player seeing no more than their view."""
    deals = list(permutations(range(3)))
    return sum((won(GAME.resolve(GAME.setup({}, 2), deal), players) for deal in deals), Fraction(0)) / len(deals)


def won(state: State, players: tuple[Chances, Chances]) -> Fraction:
    turn = GAME.turn(state)
    if isinstance(turn, Over):
        return Fraction(GAME.outcome(state).scores[0])
    assert isinstance(turn, Decision)
    (seat,) = turn.seats
    view = GAME.observe(state, seat)
    chance = players[seat](view["cards"][seat], tuple(view["moves"]))
    passive, active = GAME.legal(state, seat)
    return (1 - chance) * won(GAME.apply(state, {seat: passive}), players) + chance * won(
        GAME.apply(state, {seat: active}), players
    )


def pure(turns: tuple[tuple[str, ...], ...]) -> Iterator[Chances]:
    """All players without dice that decide at these turns."""
    keys = list(product(RANKS, turns))
    for choices in product((Fraction(0), Fraction(1)), repeat=len(keys)):
        yield decided(dict(zip(keys, choices, strict=True)))


def decided(table: dict[tuple[str, tuple[str, ...]], Fraction]) -> Chances:
    return lambda card, moves: table[card, moves]


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 7), THIRD])
def test_the_value_is_that_of_the_literature(alpha: Fraction) -> None:
    """-1/18 of a chip for seat 0, with every best play of it; no other play of either seat gets more."""
    best = first(alpha)

    assert expected((best, second)) == VALUE
    assert min(expected((best, other)) for other in pure((("bet",), ("check",)))) == VALUE
    assert max(expected((other, second)) for other in pure(((), ("check", "bet")))) == VALUE


def test_a_person_at_the_table_does_not_read_the_other_card() -> None:
    """Neither when they are asked nor after a fold."""
    told: list[str] = []
    answers = iter("2")
    human = HumanPlayer(say=told.append, prompt=lambda _: next(answers))
    drawn = draw_block(Secret.public("kuhn"), "x-0", 2)
    spec = spec_of(MatchSettings("kuhn_poker", {}, ClockSettings(decides="wall")), f"{0:012x}-0-0", drawn, 0, "none")

    record = play_match(spec, [human, Folding()])

    deal = next(step.outcome for step in record.steps if isinstance(step, ChanceStep))
    assert RANKS[deal[0]] in "".join(told)
    assert RANKS[deal[1]] not in "".join(told)
    assert [step.action.do for step in record.steps if isinstance(step, ActionStep)] == ["bet", "fold"]


class Folding(BaselinePlayer):
    """Always takes the first action: after a bet it folds."""

    def ask(self, request: ActionRequest) -> Answer:  # noqa: ARG002 - it does not look
        self.moves += 1
        return Answer(id=self.moves, action=0)
