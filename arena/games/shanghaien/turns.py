"""The steps of a turn and of the end of a round: the moves that actions are made of, dirty tricks among them.

Source: "A. Wuerfeln", "B. Shanghaien", "Ende der Runde" and "Schmutzige Tricks" in the German rule text. Rule: each
function changes the state, which is the copy of this step, and runs the hooks that belong to the step; `rules` makes
the copy and asks whether the step is allowed. The rules know tricks only as the table `Variant.tricks`, so an expansion
adds a kind by adding a row.
"""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import compress
from typing import Final, cast

from arena.games.api import Chance, Dice, Seat
from arena.games.shanghaien.actions import Action, Adjust, Both, Joker, Place, Reroll, Roll, Shanghai
from arena.games.shanghaien.cards import (
    JOKER_VALUE,
    NATIONS,
    Card,
    card_winners,
    final_scores,
    is_sailor,
    nation_of,
    strength_of,
)
from arena.games.shanghaien.state import NO_DICE, ROUNDS, ROW_SIZE, Player, State, T, Trick, Variant, order_by_number

_OTHER: Final[tuple[Seat, ...]] = (Seat(1), Seat(0))


def announce(state: State, action: Action, *, asked_by: str | None = None) -> None:
    """Ask somebody about `action`, or, if nobody is to be asked, carry it out.

    `asked_by`: the expansion whose question about it has just been answered; only those after it may ask now.
    """
    variant = state.variant
    if hooks := variant.intercept:
        for intercept in hooks.values() if asked_by is None else _hooks_after(asked_by, hooks):
            if intercept(state, action):
                return
    variant.effects[type(action)](state, action)


def _hooks_after(expansion: str, hooks: Mapping[str, T]) -> Iterable[T]:
    """Return the hooks after the one of `expansion`."""
    return list(hooks.values())[list(hooks).index(expansion) + 1 :]


def apply_shuffle(state: State, drawn: tuple[int, ...]) -> None:
    """Lay the first row open; the player who starts is to move."""
    cards = cast(tuple[Card, ...], drawn)
    state.phase, state.row, state.pile = "turn", cards[:ROW_SIZE], cards[ROW_SIZE:]


def start_roll(state: State, _: Roll) -> None:
    """Start the first roll of a turn."""
    first, second = state.turns
    state.turns = (first + 1, second) if state.to_move == 0 else (first, second + 1)
    state.phase, state.roll = "rolling", 1


def roll_again(state: State) -> None:
    """Start another roll of both dice in the same turn."""
    state.phase, state.dice = "rolling", ()
    state.roll += 1


@cache
def next_roll(round_: int, seat: Seat, turn: int, roll: int) -> Chance:
    """Return the chance node of the two dice of that roll of that turn."""
    return Chance(key=f"roll/{round_}/{seat}/{turn}/{roll}", kind=Dice(2))


def apply_roll(state: State, dice: tuple[int, ...], *, asked_by: str | None = None) -> None:
    """Lay two dice down and run the hooks; one that opens an interlude keeps the following ones waiting.

    `asked_by`: the expansion whose interlude about these very dice is over; only the hooks after it run.
    """
    state.phase, state.dice = "rolled", dice
    if hooks := state.variant.on_rolled:
        for hook in hooks.values() if asked_by is None else _hooks_after(asked_by, hooks):
            if hook(state):
                return


def put_down(state: State, placement: Place) -> None:
    """Put the dice on their numbers, the others back into the supply, and end the turn."""
    player = state.mover()
    player.placed = _add_dice(player.placed, placement.dice)
    state.one_at = state.one_at or placement.one
    if hooks := state.variant.on_placed:
        for hook in hooks.values():
            hook(state, placement.dice)
    end_turn(state)


@lru_cache(maxsize=16384)
def _add_dice(placed: tuple[int, ...], dice: tuple[int, ...]) -> tuple[int, ...]:
    """Add these faces to the dice on each number. Cached: there are 924 ways to place six dice or fewer."""
    counts = list(placed)
    for die in dice:
        counts[die - 1] += 1
    return tuple(counts)


def end_turn(state: State) -> None:
    """Let the opponent move next."""
    state.phase, state.dice = "turn", ()
    state.to_move = _OTHER[state.to_move]
    state.turn += 1
    state.to_place = state.must_place = 1


def end_round(state: State, _: Shanghai) -> None:
    """Hand out the cards of the row, or take them out of the game; the other player starts the next round.

    After the last round the match is over.
    """
    assert state.one_at is not None, "shanghai comes after the first turn, which fixed the numbering"
    first, second = state.players
    won_by = card_winners((first.placed, second.placed))
    for award in state.variant.award.values():
        won_by = award(state, won_by)
    taken: tuple[list[Card], list[Card]] = ([], [])
    gone = list(state.gone)
    for index, card in enumerate(order_by_number(state.row, state.one_at)):
        winner = won_by[index]
        (gone if winner is None else taken[winner]).append(card)
    state.players = _award_cards(first, taken[0]), _award_cards(second, taken[1])
    state.gone = tuple(gone)
    state.row, state.pile = state.pile[:ROW_SIZE], state.pile[ROW_SIZE:]
    for hook in state.variant.on_round_end.values():
        hook(state)
    if state.round == ROUNDS:
        state.phase = "over"
        state.turn += 1
        return
    end_turn(state)
    state.round += 1
    state.turns, state.roll, state.one_at = (0, 0), 0, None


def _award_cards(player: Player, cards: list[Card]) -> Player:
    """Return the player with the cards won, the dice back in the supply, ready for a new round."""
    sailors: list[Card] = []
    tricks: list[Card] = []
    strength = list(player.strength)
    for card in cards:
        if is_sailor(card):
            sailors.append(card)
            strength[nation_of(card)] += strength_of(card)
        else:
            tricks.append(card)
    after = player.copy()
    after.placed, after.has_used_trick = NO_DICE, False
    after.sailors += tuple(sailors)
    after.strength = tuple(strength)
    after.tricks += tuple(tricks)
    return after


def scores_of(state: State) -> tuple[int, int]:
    """Return the points of both seats, as if the match ended here."""
    first, second = state.players
    return final_scores((first.strength, second.strength), (len(first.tricks), len(second.tricks)))


def trick_kind_of(variant: Variant, action: Action) -> str | None:
    """Return the kind of trick card that `action` spends; None if it is no trick."""
    return action.card if isinstance(action, Joker) else variant.kinds.get(type(action))


def trick_actions(state: State) -> tuple[Action, ...]:
    """List the actions of each kind of trick that the player to move holds, in the order of the tricks in play.

    The joker side of a card takes any nation of which the player already holds a sailor card; as jokers never lie
    alone, these are the nations of which they have any strength.
    """
    player, faces = state.players[state.to_move], state.variant.faces
    held = {faces[card] for card in player.tricks}
    actions: list[Action] = []
    for kind, trick in state.variant.tricks.items():
        if kind in held:
            actions += trick.actions(state)
            if trick.has_joker_side:
                actions += compress(_jokers_of(kind), player.strength)
    return tuple(actions)


def _spend(state: State, kind: str) -> tuple[Player, Card]:
    """Take a trick card of `kind` from the player to move, whose one trick of the round is used."""
    player, faces = state.mover(), state.variant.faces
    card = next(card for card in player.tricks if faces[card] == kind)
    player.tricks = tuple([held for held in player.tricks if held != card])
    player.has_used_trick = True
    return player, card


def lay_out(state: State, kind: str) -> None:
    """Lay the trick card of `kind` beside the row, where it stays in force."""
    _, card = _spend(state, kind)
    state.table += (card,)


def discard(state: State, kind: str) -> Player:
    """Take the trick card of `kind` out of the game; return the player to move, who may be changed."""
    player, card = _spend(state, kind)
    state.gone += (card,)
    return player


def clear_away(state: State, kind: str) -> None:
    """Take the trick cards of `kind` beside the row out of the game."""
    leaving = tuple([card for card in state.table if state.variant.faces[card] == kind])
    if leaving:
        state.table = tuple([card for card in state.table if card not in leaving])
        state.gone += leaving


def lay_joker(state: State, action: Joker) -> None:
    """Turn the trick card into two sailors of a nation; the player then places a die as usual."""
    player, card = _spend(state, action.card)
    nation = NATIONS.index(action.nation)
    strength = list(player.strength)
    strength[nation] += JOKER_VALUE
    player.jokers, player.strength = (*player.jokers, (card, nation)), tuple(strength)


def _adjust(state: State, action: Adjust) -> None:
    """Change one of the two dice just rolled by 1, within 1..6 (Wuerfel +/-1); then either of the two is placed."""
    discard(state, "adjust")
    dice = list(state.dice)
    dice[dice.index(action.die)] = action.to
    state.dice = tuple(dice)


def _both(state: State, _: Both) -> None:
    """Allow both dice just rolled to be placed (Beide Wuerfel anlegen)."""
    discard(state, "both")
    state.to_place = 2


def _reroll(state: State, _: Reroll) -> None:
    """Roll both dice again (Noch einmal wuerfeln); the new roll stands."""
    discard(state, "reroll")
    roll_again(state)


@cache
def _adjustments(dice: tuple[int, ...]) -> tuple[Action, ...]:
    """List the changes by 1, within 1..6, of a die among these."""
    faces = dict.fromkeys(dice)
    return tuple(Adjust(die=die, to=to) for die in faces for to in (die - 1, die + 1) if 1 <= to <= 6)


@cache
def _jokers_of(kind: str) -> tuple[Action, ...]:
    """Return a joker for each nation."""
    return tuple([Joker(card=kind, nation=nation) for nation in NATIONS])


_BOTH: Final = (Both(),)
_REROLL: Final = (Reroll(),)
BASE_TRICKS: Final = (
    Trick("adjust", {Adjust: _adjust}, lambda state: _adjustments(state.dice), has_joker_side=True),
    Trick("both", {Both: _both}, lambda _: _BOTH, has_joker_side=True),
    Trick("reroll", {Reroll: _reroll}, lambda _: _REROLL, has_joker_side=True),
)
