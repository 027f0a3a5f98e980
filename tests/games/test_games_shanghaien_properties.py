"""Shanghaien: what holds in every state of every random play."""

from random import Random

import msgspec
from games_play import Step, steps
from games_positions import GAME, all_cards
from games_scorer import points_by_the_text
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.games.api import Chance, Decision, Over, Seat
from arena.games.luck import draw
from arena.games.shanghaien.actions import Place, Reroll, Roll, Shanghai
from arena.games.shanghaien.cards import JOKER_VALUE, nation_of, strength_of
from arena.games.shanghaien.state import Player, State

MOST_STEPS = 1 + 8 * (2 * (5 * 3 + 2) + 1)
"""The shuffle; 8 rounds in which each player has at most 5 turns of asking, rolling and placing, one trick with
another roll, and one of them calls shanghai."""

SEEDS = st.integers(0, 2**32).map(str)
RNGS = st.integers(0, 2**32).map(Random)
MANY_REROLLS = {"tricks": {"adjust": 2, "both": 1, "reroll": 5}}
OPTIONS = st.sampled_from([{}, MANY_REROLLS])
PLAYS = st.builds(
    lambda seed, rng, options: list(steps(GAME, seed, rng, options=options)), seed=SEEDS, rng=RNGS, options=OPTIONS
)
few = settings(max_examples=40, deadline=None)


def frozen(state: State) -> bytes:
    """All of a state but its variant, which is the same throughout a play."""
    return msgspec.json.encode([getattr(state, name) for name in state.__struct_fields__ if name != "variant"])


def strength_by_cards(player: Player) -> tuple[int, ...]:
    sums = [0] * 8
    for card in player.sailors:
        sums[nation_of(card)] += strength_of(card)
    for _, nation in player.jokers:
        sums[nation] += JOKER_VALUE
    return tuple(sums)


@few
@given(play=PLAYS)
def test_every_card_lies_in_one_place(play: list[Step]) -> None:
    """From the shuffle to the end, 48 cards, each once."""
    assert all(all_cards(step.state) == list(range(48)) for step in play[1:])


@few
@given(play=PLAYS)
def test_every_player_has_six_dice(play: list[Step]) -> None:
    """Placed or in the supply, and never a negative number of either."""
    for step in play:
        for player in step.state.players:
            assert 0 <= player.supply <= 6
            assert min(player.placed) >= 0
            assert player.supply + sum(player.placed) == 6


@few
@given(play=PLAYS)
def test_the_strength_kept_is_the_strength_of_the_cards(play: list[Step]) -> None:
    """It is a cache of the sailors and jokers, and a joker always lies with a sailor card of its nation."""
    for step in play:
        for player in step.state.players:
            assert player.strength == strength_by_cards(player)
            assert {nation for _, nation in player.jokers} <= set(map(nation_of, player.sailors))


@few
@given(play=PLAYS)
def test_a_play_ends_within_the_bound(play: list[Step]) -> None:
    """Whatever the players do: a round takes dice, and there are six each."""
    assert len(play) <= MOST_STEPS
    assert isinstance(play[-1].turn, Over)


@few
@given(play=PLAYS)
def test_no_key_is_drawn_twice(play: list[Step]) -> None:
    """A key that came again would repeat the same dice."""
    keys = [step.turn.key for step in play if isinstance(step.turn, Chance)]

    assert len(set(keys)) == len(keys)


@few
@given(seed=SEEDS, one=RNGS, other=RNGS)
def test_the_same_round_seat_turn_and_roll_brings_the_same_dice(seed: str, one: Random, other: Random) -> None:
    """Whatever was decided before: the test counts the rolls of a play by itself and predicts every one."""
    for rng in (one, other):
        round_, turns, rolls = 1, [0, 0], 0
        for step in steps(GAME, seed, rng):
            for seat, action in step.actions.items():
                match action:
                    case Roll():
                        turns[seat], rolls = turns[seat] + 1, 1
                    case Reroll():
                        rolls += 1
                    case Shanghai():
                        round_, turns = round_ + 1, [0, 0]
            if isinstance(step.turn, Chance) and step.turn.is_public:
                mover = step.state.to_move
                named = Chance(key=f"roll/{round_}/{mover}/{turns[mover]}/{rolls}", kind=step.turn.kind)
                assert step.drawn == draw(seed, named)


@few
@given(play=PLAYS)
def test_a_state_is_untouched_by_what_follows_it(play: list[Step]) -> None:
    """Each step is done again on the old state; it leads to the same new one and the old one stays."""
    for step in play[:-1]:
        before = frozen(step.state)
        again = GAME.apply(step.state, step.actions) if step.actions else GAME.resolve(step.state, step.drawn)

        assert frozen(step.state) == before
        assert frozen(again) == frozen(step.after)


@few
@given(play=PLAYS, order=RNGS)
def test_nobody_sees_the_order_of_the_pile(play: list[Step], order: Random) -> None:
    """Two states that differ only in it look the same to both seats."""
    for step in play[1:]:
        pile = list(step.state.pile)
        order.shuffle(pile)
        other = replace(step.state, pile=tuple(pile))

        for seat in (Seat(0), Seat(1)):
            assert GAME.observe(step.state, seat) == GAME.observe(other, seat)
            assert GAME.legal(step.state, seat) == GAME.legal(other, seat)


@few
@given(play=PLAYS)
def test_both_seats_see_the_same_table(play: list[Step]) -> None:
    """All but the pile is public."""
    for step in play:
        first, second = (GAME.observe(step.state, Seat(seat)) for seat in (0, 1))

        assert (first.pop("you"), second.pop("you")) == (0, 1)
        assert first == second


@few
@given(play=PLAYS)
def test_each_player_uses_at_most_one_trick_per_round(play: list[Step]) -> None:
    """And only in the turn in which he rolled."""
    used: set[tuple[int, Seat]] = set()
    for step in play:
        for seat, action in step.actions.items():
            if not isinstance(action, Roll | Shanghai | Place):
                assert (step.state.round, seat) not in used
                assert step.state.dice
                used.add((step.state.round, seat))


@few
@given(play=PLAYS)
def test_the_game_has_eight_rounds(play: list[Step]) -> None:
    """Each ends with shanghai, by a player with two dice placed, and the other one starts the next."""
    ends = [step for step in play if any(isinstance(action, Shanghai) for action in step.actions.values())]

    assert [step.state.round for step in ends] == list(range(1, 9))
    for step in ends:
        assert sum(step.state.players[step.state.to_move].placed) >= 2
        if step is not ends[-1]:
            assert GAME.turn(step.after) == Decision(seats=(Seat(1 - step.state.to_move),))


@few
@given(play=PLAYS)
def test_the_points_are_those_of_the_open_cards(play: list[Step]) -> None:
    """A scorer written from the rule text finds the same outcome."""
    end = play[-1].state
    first, second = GAME.observe(end, Seat(0))["players"]

    outcome = GAME.outcome(end)

    assert outcome.scores == (points_by_the_text(first, second), points_by_the_text(second, first))
    assert len(end.gone) + sum(len(p.sailors) + len(p.jokers) + len(p.tricks) for p in end.players) == 48
