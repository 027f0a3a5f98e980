"""Shanghaien: invariants of every state of random plays, with all sixteen sets of expansions."""

import json
from collections import Counter
from random import Random
from typing import NamedTuple

import msgspec
import pytest
from support.expansions_positions import (
    DOUBLES,
    MATCHES,
    SPENT_ON,
    VARIANTS,
    Play,
    happened,
    is_asking,
    played,
    points_by_the_text,
)
from support.games_positions import GAME, every_card, replace

from arena.games.api import Chance, Dice, Json, Seat
from arena.games.shanghaien.actions import Action, Adjust, Both, Joker, Place, Reroll, Roll, Shanghai
from arena.games.shanghaien.cards import JOKER_VALUE, NATIONS, nation_of, strength_of
from arena.games.shanghaien.expansions.crazy_captain import PlayCaptain, Veto
from arena.games.shanghaien.expansions.doubles import TakeDoubles
from arena.games.shanghaien.expansions.no_shanghai import Ban, KeepBack, RerollAll
from arena.games.shanghaien.expansions.sharks import Exchange
from arena.games.shanghaien.state import ROUNDS, ExtraRoll, Interlude, State

TRICKS: tuple[type[Action], ...] = (Joker, Adjust, Both, Reroll, *SPENT_ON)


class Plays(NamedTuple):
    """All plays of one set of expansions."""

    expansions: tuple[str, ...]
    plays: list[Play]

    @property
    def sampled(self) -> list[State]:
        """Every fifth state after the shuffle, and the last one, where looking at all would take too long."""
        return [step.state for play in self.plays for step in (*play[1:-1:5], play[-1])]


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda chosen: "+".join(chosen) or "base")
def them(request: pytest.FixtureRequest) -> Plays:
    """Yield one set of expansions after the other."""
    return Plays(request.param, [played(request.param, number) for number in range(MATCHES)])


def placed(state: State) -> list[list[int]]:
    return [list(side.placed) for side in state.players]


def moved(state: State, action: Action) -> list[list[int]]:
    """The dice on the cards after `action`, counted by hand."""
    after = placed(state)
    own = after[state.to_move]
    added: list[int] = []
    match action:
        case Shanghai():
            return [[0] * 6, [0] * 6]
        case RerollAll():
            own[:] = [0] * 6
        case Exchange(back):
            own[back - 1] -= 1
        case Place(dice):
            added = list(dice)
        case KeepBack(die):
            added = list(state.dice)
            added.remove(die)
    for die in added:
        own[die - 1] += 1
    return after


def test_every_card_lies_in_one_place(them: Plays) -> None:
    """The 48, two of each expansion that deals cards, and the one of doubles; beside the row as well."""
    total = 48 + sum(1 if name == DOUBLES else 2 for name in them.expansions)

    assert all(every_card(step.state) == list(range(total)) for play in them.plays for step in play[1:])


def test_only_a_card_in_force_or_to_be_had_lies_beside_the_row(them: Plays) -> None:
    """At the end only the doubles card may lie beside the row."""
    for play in them.plays:
        for step in play:
            kinds = Counter(step.state.variant.faces[card] for card in step.state.table)
            assert set(kinds) <= {"crazy_captain", "no_shanghai", "doubles"}
            assert kinds["crazy_captain"] <= 1
        assert {end.variant.faces[card] for end in (play[-1].state,) for card in end.table} <= {"doubles"}


def test_the_strength_kept_is_the_strength_of_the_cards(them: Plays) -> None:
    """The strength equals that of sailors and jokers, and a joker always lies with a sailor of its nation."""
    for state in them.sampled:
        for side in state.players:
            strength = Counter(
                {nation: JOKER_VALUE * count for nation, count in Counter(dict(side.jokers).values()).items()}
            )
            for card in side.sailors:
                strength[nation_of(card)] += strength_of(card)
            assert side.strength == tuple(strength[nation] for nation in range(len(NATIONS)))
            assert {nation for _, nation in side.jokers} <= set(map(nation_of, side.sailors))


def test_dice_move_only_where_an_action_puts_them(them: Plays) -> None:
    """A ledger of the dice on the cards, kept from what was carried out; each player has six."""
    for play in them.plays:
        done = {id(step): action for step, action in happened(play)}
        for step in play:
            expected = moved(step.state, done[id(step)]) if id(step) in done else placed(step.state)
            assert placed(step.after) == expected
            for side in step.state.players:
                assert 0 <= side.supply == 6 - sum(side.placed)
                assert min(side.placed) >= 0


def test_dice_in_hand_come_from_the_supply(them: Plays) -> None:
    """Two after a roll; in a roll of all, two more than were placed before, and none is placed meanwhile."""
    for play in them.plays:
        many = 0
        for step in play:
            state, own = step.state, step.state.players[step.state.to_move]
            if isinstance(state.phase, Interlude) and state.phase.name in ("reroll_all", "keep_back"):
                assert sum(own.placed) == 0
                assert len(state.dice) == (2 if isinstance(state.phase, ExtraRoll) else many)
            else:
                many = 2 + sum(own.placed)
                is_rolled = state.phase == "rolled" or (isinstance(state.phase, Interlude) and state.dice)
                assert len(state.dice) == (2 if is_rolled else 0)
            assert len(state.dice) <= own.supply
            if isinstance(step.turn, Chance) and step.turn.key.startswith("many/"):
                assert step.turn.kind == Dice(many)


def test_everything_an_expansion_adds_was_played(them: Plays) -> None:
    """The plays contain every action of every expansion, else the other tests would prove little."""
    variant = them.plays[0][0].state.variant
    added = {kind for each in variant.expansions.values() for kind in (*each.trick.effects, *each.effects)}

    seen = {type(action) for play in them.plays for step in play for action in step.actions.values()}

    assert seen >= added | {Roll, Shanghai, Place, Joker, Adjust, Both, Reroll}


def test_both_seats_see_the_same_plain_values_and_no_order_of_the_pile(them: Plays) -> None:
    """All but the pile is public; `you` is the one difference."""
    order = Random(0)
    for state in them.sampled:
        pile = list(state.pile)
        order.shuffle(pile)
        first, second = (GAME.observe(state, Seat(seat)) for seat in (0, 1))
        other = replace(state, pile=tuple(pile))

        assert json.loads(json.dumps(first)) == json.loads(msgspec.json.encode(first))
        assert first == GAME.observe(other, Seat(0))
        assert [GAME.legal(state, Seat(seat)) for seat in (0, 1)] == [GAME.legal(other, Seat(seat)) for seat in (0, 1)]
        assert (first.pop("you"), second.pop("you")) == (0, 1)
        assert first == second


def test_the_numbering_is_the_choice_of_the_starter_in_the_first_turn(them: Plays) -> None:
    """Told from the actions alone: one is carried out with an end in each round, and it ends the starter's first turn.

    Nothing offered asks for an end afterwards, and nothing that would end that turn is offered without one.
    """
    for play in them.plays:
        starter, chosen = Seat(0), False
        done = {id(step): action for step, action in happened(play)}
        for step in play[1:]:
            ends = {action.one for seat in (0, 1) for action in numbering(GAME.legal(step.state, Seat(seat)) or ())}
            assert ends <= ({None} if chosen else {"left", "right"})
            action = done.get(id(step))
            if any(ending.one for ending in numbering((action,))):
                assert (step.state.to_move, step.state.turns[starter], chosen) == (starter, 1, False)
                chosen = True
            if step.after.to_move != step.state.to_move:
                assert chosen
            if isinstance(action, Shanghai):
                starter, chosen = Seat(1 - step.state.to_move), False


def numbering(actions: tuple[Action | None, ...]) -> list[Place | KeepBack | TakeDoubles]:
    """Return the actions that end a turn in which the numbering may be open."""
    return [action for action in actions if isinstance(action, Place | KeepBack | TakeDoubles)]


def test_both_dice_are_a_right_after_both_and_a_duty_after_an_exchange(them: Plays) -> None:
    """The placements offered, told from the tricks carried out in the turn; else one die is placed."""
    for play in them.plays:
        played_in: dict[int, Action] = {}
        done = {id(step): action for step, action in happened(play)}
        for step in play:
            if step.state.phase == "rolled":
                trick = played_in.get(step.state.turn)
                both, each = {tuple(sorted(step.state.dice))}, {(die,) for die in step.state.dice}
                expected = both | each if isinstance(trick, Both) else both if isinstance(trick, Exchange) else each
                legal = GAME.legal(step.state, step.state.to_move) or ()
                assert {action.dice for action in legal if isinstance(action, Place)} == expected
            if isinstance(action := done.get(id(step)), TRICKS):
                played_in[step.state.turn] = action


def test_a_veto_is_asked_for_when_and_only_when_there_is_the_right(them: Plays) -> None:
    """Told from the actions alone: whose captain is in force, and whether he has been used in this turn."""
    for play in them.plays:
        captain, is_spent, happening = None, False, {id(step): action for step, action in happened(play)}
        for step in play:
            mover = step.state.to_move
            for action in step.actions.values():
                can_be = isinstance(action, (Place, *TRICKS)) or (
                    isinstance(action, Shanghai) and step.state.players[mover].supply >= 2
                )
                assert is_asking(step) == (captain == 1 - mover and not is_spent and can_be)
                is_spent = is_spent or isinstance(action, Veto)
            if isinstance(happening.get(id(step)), PlayCaptain):
                captain = mover
            if step.after.to_move != mover:
                is_spent = False
            if step.after.round != step.state.round:
                captain = None


def test_one_trick_a_round_and_no_captain_in_the_last(them: Plays) -> None:
    """A player uses one trick a round, of all kinds together; a vetoed one does not count."""
    for play in them.plays:
        used: Counter[tuple[int, Seat]] = Counter()
        for step, action in happened(play):
            used[step.state.round, step.state.to_move] += isinstance(action, TRICKS)
            assert step.state.dice or not isinstance(action, TRICKS)
            assert not (isinstance(action, PlayCaptain) and step.state.round == ROUNDS)
        assert set(used.values()) <= {0, 1}


def test_under_the_ban_a_round_ends_only_when_a_player_has_to(them: Plays) -> None:
    """The ban is checked from the actions alone."""
    for play in them.plays:
        banned = 0
        for step, action in happened(play):
            if isinstance(action, Ban):
                banned = step.state.round
            if isinstance(action, Shanghai):
                supply = step.state.players[step.state.to_move].supply
                assert supply < 2 or banned != step.state.round
            assert not (isinstance(action, Roll) and step.state.players[step.state.to_move].supply < 2)


def test_each_of_eight_rounds_ends_with_a_shanghai(them: Plays) -> None:
    """The caller has two dice placed, and the other player starts the next round."""
    for play in them.plays:
        ends = [step for step, action in happened(play) if isinstance(action, Shanghai)]
        assert [step.state.round for step in ends] == list(range(1, ROUNDS + 1))
        assert all(sum(step.state.players[step.state.to_move].placed) >= 2 for step in ends)
        assert all(step.after.to_move == 1 - step.state.to_move for step in ends[:-1])


def test_the_points_are_those_of_the_open_cards(them: Plays) -> None:
    """A scorer written from the rule text finds the same outcome; expansion cards count as unused tricks."""
    for play in them.plays:
        sides: list[dict[str, Json]] = GAME.observe(play[-1].state, Seat(0))["players"]
        first, second = sides

        expected = points_by_the_text(first, second), points_by_the_text(second, first)

        assert GAME.outcome(play[-1].state).scores == expected
