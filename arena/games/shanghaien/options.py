"""The options of Shanghaien, and the unshuffled table that they make.

Rule: `first_state` is the only place that joins expansions to the base game.
"""

from collections.abc import Mapping

import msgspec

from arena.errors import SpecError
from arena.games.shanghaien.actions import Action, Joker, Place, Roll, Shanghai
from arena.games.shanghaien.cards import SAILOR_COUNT, TRICK_COUNT, Card, sailor_text
from arena.games.shanghaien.state import Effect, Expansion, Player, State, Variant
from arena.games.shanghaien.turns import BASE_TRICKS, end_round, lay_joker, put_down, start_roll
from arena.text import unknown


class TrickCounts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The number of dirty tricks of each kind, eight in all; a ruling, for the texts print no numbers."""

    adjust: int = 3
    both: int = 2
    reroll: int = 3


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of the game, as a tournament file or a command line gives them; `expansions` in any order."""

    expansions: tuple[str, ...] = ()
    tricks: TrickCounts = TrickCounts()


def check_options(options: Options, known: Mapping[str, Expansion]) -> Options:
    """Return the options if they are possible; SpecError names an unknown expansion or an impossible value."""
    for index, name in enumerate(options.expansions):
        if name not in known:
            place = f"options of shanghaien: expansions[{index}]"
            raise SpecError(f"{place}: {unknown('expansion', name, known)}")
        if name in options.expansions[:index]:
            raise SpecError(f'options of shanghaien: expansions[{index}]: "{name}" is given twice')
    counts = msgspec.structs.asdict(options.tricks)
    if min(counts.values()) < 0 or sum(counts.values()) != TRICK_COUNT:
        numbers = ", ".join(f"{kind} {count}" for kind, count in counts.items())
        raise SpecError(
            f"options of shanghaien: tricks: {numbers}: none may be negative and together they must be {TRICK_COUNT}"
        )
    return options


def first_state(known: Mapping[str, Expansion], options: Options) -> State:
    """Return the unshuffled table that these options make; expansions in the order of `known`, others ignored."""
    expansions = [expansion for name, expansion in known.items() if name in options.expansions]
    faces = [sailor_text(Card(card)) for card in range(SAILOR_COUNT)]
    for kind, count in msgspec.structs.asdict(options.tricks).items():
        faces += [kind] * count
    owned: tuple[list[Card], list[Card], list[Card]] = ([], [], [])
    for expansion in expansions:
        for owner in owned[:2] if expansion.is_dealt else owned[2:]:
            owner.append(Card(len(faces)))
            faces.append(expansion.trick.kind)
    tricks = (*BASE_TRICKS, *(expansion.trick for expansion in expansions))
    effects: dict[type[Action], Effect] = {Roll: start_roll, Shanghai: end_round, Place: put_down, Joker: lay_joker}
    for added_effects in (*(trick.effects for trick in tricks), *(expansion.effects for expansion in expansions)):
        effects.update(added_effects)
    variant = Variant(
        faces=tuple(faces),
        tricks={trick.kind: trick for trick in tricks},
        kinds={action: trick.kind for trick in tricks for action in trick.effects},
        effects=effects,
        expansions={expansion.name: expansion for expansion in expansions},
        **{
            hook: {e.name: function for e in expansions if (function := getattr(e, hook)) is not None}
            for hook in ("on_rolled", "intercept", "restrict", "on_placed", "award", "on_round_end")
        },
    )
    first, second, table = map(tuple, owned)
    players = Player(tricks=first), Player(tricks=second)
    extras = {expansion.name: expansion.start for expansion in expansions}
    return State(variant=variant, phase="shuffle", players=players, table=table, extras=extras)
