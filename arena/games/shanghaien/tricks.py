"""Dirty tricks: what each kind of card lets a player do after a roll.

Source: "Schmutzige Tricks" in the German rule text. Rule: the rules know tricks only as the table `Variant.tricks`, so
an expansion adds a kind by adding a row.
"""

from functools import cache, lru_cache
from typing import Final

from msgspec.structs import replace

from arena.games.shanghaien.actions import Action, Adjust, Both, Joker, Reroll
from arena.games.shanghaien.cards import JOKER_VALUE, NATIONS, Card
from arena.games.shanghaien.state import Player, State, Trick, Variant, lying, with_mover
from arena.games.shanghaien.turns import roll_again


def kind_spent(variant: Variant, action: Action) -> str | None:
    """The kind of trick card that `action` spends; None if it is no trick."""
    return action.card if isinstance(action, Joker) else variant.kinds.get(type(action))


def trick_actions(state: State) -> tuple[Action, ...]:
    """The actions of each kind of trick that the player to move holds, in the order of the tricks in play.

    The joker side of a card takes any nation of which the player already holds a sailor card; as jokers never lie
    alone, these are the nations of which they have any strength.
    """
    player = state.players[state.to_move]
    held = {state.variant.faces[card] for card in player.tricks}
    crewed = tuple([nation for nation, sum_ in enumerate(player.strength) if sum_])
    actions: list[Action] = []
    for kind, trick in state.variant.tricks.items():
        if kind in held:
            actions += trick.actions(state)
            if trick.has_joker_side:
                actions += _jokers(kind, crewed)
    return tuple(actions)


def _spend(state: State, kind: str) -> tuple[Player, Card]:
    """The player to move without one trick card of `kind`, and that card; the one trick of their round is used."""
    player = state.players[state.to_move]
    card = next(card for card in player.tricks if state.variant.faces[card] == kind)
    rest = tuple([held for held in player.tricks if held != card])
    return replace(player, tricks=rest, has_used_trick=True), card


def lay_out(state: State, kind: str) -> State:
    """The state after the trick card of `kind` was laid beside the row, where it stays in force."""
    player, card = _spend(state, kind)
    return replace(with_mover(state, player), table=(*state.table, card))


def discard(state: State, kind: str) -> State:
    """The state after the trick card of `kind` has left the game."""
    player, card = _spend(state, kind)
    return replace(with_mover(state, player), gone=(*state.gone, card))


def clear_away(state: State, kind: str) -> State:
    """The state after the trick cards of `kind` beside the row have left the game."""
    leaving = lying(state, kind)
    if not leaving:
        return state
    return replace(state, table=tuple([card for card in state.table if card not in leaving]), gone=state.gone + leaving)


def lay_joker(state: State, action: Joker) -> State:
    """The trick card becomes two sailors of a nation; the player then places a die as usual."""
    player, card = _spend(state, action.card)
    nation = NATIONS.index(action.nation)
    strength = list(player.strength)
    strength[nation] += JOKER_VALUE
    return with_mover(state, replace(player, jokers=(*player.jokers, (card, nation)), strength=tuple(strength)))


def _adjust(state: State, action: Adjust) -> State:
    """Wuerfel +/-1: one of the two dice just rolled changes by 1, within 1..6; then either of the two is placed."""
    dice = list(state.dice)
    dice[dice.index(action.die)] = action.to
    return replace(discard(state, "adjust"), dice=tuple(dice))


def _both(state: State, _: Both) -> State:
    """Beide Wuerfel anlegen: both dice just rolled may be placed."""
    return replace(discard(state, "both"), to_place=2)


def _reroll(state: State, _: Reroll) -> State:
    """Noch einmal wuerfeln: both dice are rolled again, and the new roll stands."""
    return roll_again(discard(state, "reroll"))


@cache
def _adjustments(dice: tuple[int, ...]) -> tuple[Action, ...]:
    faces = dict.fromkeys(dice)
    return tuple(Adjust(die=die, to=to) for die in faces for to in (die - 1, die + 1) if 1 <= to <= 6)


@lru_cache(maxsize=1024)
def _jokers(kind: str, nations: tuple[int, ...]) -> tuple[Action, ...]:
    return tuple(Joker(card=kind, nation=NATIONS[nation]) for nation in nations)


BASE_TRICKS: Final = (
    Trick("adjust", {Adjust: _adjust}, lambda state: _adjustments(state.dice), has_joker_side=True),
    Trick("both", {Both: _both}, lambda _: (Both(),), has_joker_side=True),
    Trick("reroll", {Reroll: _reroll}, lambda _: (Reroll(),), has_joker_side=True),
)
