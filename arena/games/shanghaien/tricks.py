"""Dirty tricks: what each kind of card lets a player do after a roll.

Source: "Schmutzige Tricks" in the German rule text. Rule: a trick is one object that lists its actions and carries
them out; the rules know tricks only as the table in `Variant.tricks`, so an expansion adds a kind by adding a row.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, ClassVar, Final, Protocol

from msgspec.structs import replace

from arena.games.shanghaien.actions import Action, Adjust, Both, Joker, Reroll
from arena.games.shanghaien.cards import JOKER_VALUE, NATIONS, Card
from arena.games.shanghaien.state import Player, State, Variant, with_player
from arena.games.shanghaien.turns import roll_again


class Trick(Protocol):
    """One kind of dirty trick card."""

    kind: ClassVar[str]
    effects: ClassVar[Mapping[type[Action], Any]]
    """Each type of action this kind of card allows -> function (state, action) -> state that carries it out."""

    def actions(self, state: State, player: Player) -> tuple[Action, ...]:
        """What `player`, who holds such a card and has just rolled, may do with it."""


def kind_spent(variant: Variant, action: Action) -> str | None:
    """The kind of trick card that `action` spends; None if it is no trick."""
    return action.card if isinstance(action, Joker) else variant.kinds.get(type(action))


def spend(state: State, kind: str) -> tuple[Player, Card]:
    """The player to move without one trick card of `kind`, and that card; his one trick of the round is used."""
    player = state.players[state.to_move]
    card = next(card for card in player.tricks if state.variant.faces[card] == kind)
    rest = tuple([held for held in player.tricks if held != card])
    return replace(player, tricks=rest, has_used_trick=True), card


def lay_out(state: State, kind: str) -> State:
    """The state after the trick card of `kind` was laid beside the row, where it stays in force."""
    player, card = spend(state, kind)
    return replace(state, players=with_player(state, state.to_move, player), table=(*state.table, card))


def discard(state: State, kind: str) -> State:
    """The state after the trick card of `kind` has left the game."""
    player, card = spend(state, kind)
    return replace(state, players=with_player(state, state.to_move, player), gone=(*state.gone, card))


def joker_actions(kind: str, player: Player) -> tuple[Action, ...]:
    """The joker side of a card of `kind`: any nation of which the player already holds a sailor card.

    As jokers never lie alone, these are the nations of which he has any strength.
    """
    return _jokers(kind, tuple([nation for nation, sum_ in enumerate(player.strength) if sum_]))


def lay_joker(state: State, action: Joker) -> State:
    """The trick card becomes two sailors of a nation; the player then places a die as usual."""
    player, card = spend(state, action.card)
    nation = NATIONS.index(action.nation)
    strength = list(player.strength)
    strength[nation] += JOKER_VALUE
    player = replace(player, jokers=(*player.jokers, (card, nation)), strength=tuple(strength))
    return replace(state, players=with_player(state, state.to_move, player))


class AdjustTrick:
    """Wuerfel +/-1: one of the two dice just rolled changes by 1, within 1..6; then either of the two is placed."""

    kind: ClassVar[str] = "adjust"

    @staticmethod
    def _play(state: State, action: Adjust) -> State:
        kept = list(state.dice)
        kept[kept.index(action.die)] = action.to
        return replace(discard(state, "adjust"), dice=tuple(kept))

    effects: ClassVar[Mapping[type[Action], Any]] = {Adjust: _play, Joker: lay_joker}

    def actions(self, state: State, player: Player) -> tuple[Action, ...]:
        """Every change of either die, then the joker side."""
        return _adjustments(state.dice) + joker_actions(self.kind, player)


class BothTrick:
    """Beide Wuerfel anlegen: both dice just rolled may be placed."""

    kind: ClassVar[str] = "both"

    @staticmethod
    def _play(state: State, _: Both) -> State:
        return replace(discard(state, "both"), to_place=2)

    effects: ClassVar[Mapping[type[Action], Any]] = {Both: _play, Joker: lay_joker}

    def actions(self, state: State, player: Player) -> tuple[Action, ...]:  # noqa: ARG002 - the signature of Trick
        """The right to place both, then the joker side."""
        return (Both(), *joker_actions(self.kind, player))


class RerollTrick:
    """Noch einmal wuerfeln: both dice are rolled again, and the new roll stands."""

    kind: ClassVar[str] = "reroll"

    @staticmethod
    def _play(state: State, _: Reroll) -> State:
        return roll_again(discard(state, "reroll"))

    effects: ClassVar[Mapping[type[Action], Any]] = {Reroll: _play, Joker: lay_joker}

    def actions(self, state: State, player: Player) -> tuple[Action, ...]:  # noqa: ARG002 - the signature of Trick
        """The new roll, then the joker side."""
        return (Reroll(), *joker_actions(self.kind, player))


BASE_TRICKS: Final[tuple[Trick, ...]] = (AdjustTrick(), BothTrick(), RerollTrick())


@cache
def _adjustments(dice: tuple[int, ...]) -> tuple[Action, ...]:
    faces = dict.fromkeys(dice)
    return tuple(Adjust(die=die, to=to) for die in faces for to in (die - 1, die + 1) if 1 <= to <= 6)


@lru_cache(maxsize=1024)
def _jokers(kind: str, nations: tuple[int, ...]) -> tuple[Action, ...]:
    return tuple(Joker(card=kind, nation=NATIONS[nation]) for nation in nations)
