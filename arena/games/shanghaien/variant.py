"""Options of Shanghaien, and the table of tricks and effects they lead to.

Rule: this is the one place where a match is composed. What an option adds is a row in these tables, so that the rules
can look things up without knowing what was added.
"""

from collections.abc import Mapping
from functools import lru_cache, reduce
from operator import or_
from typing import Any

import msgspec

from arena import strict
from arena.errors import SpecError
from arena.games.api import Json
from arena.games.shanghaien.actions import Action, Place, Roll, Shanghai
from arena.games.shanghaien.cards import SAILOR_COUNT, TRICK_COUNT, Card, sailor_text
from arena.games.shanghaien.state import Variant
from arena.games.shanghaien.tricks import BASE_TRICKS


class TrickCounts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the eight dirty tricks are of each kind; a ruling, for the texts print no numbers."""

    adjust: int = 3
    both: int = 2
    reroll: int = 3


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of the game, as a tournament file or a command line gives them."""

    tricks: TrickCounts = TrickCounts()


def read_options(raw: Mapping[str, Json]) -> Options:
    """Options from plain data; SpecError names an unknown key or an impossible value."""
    options = strict.read(dict(raw), Options, place="options of shanghaien")
    counts = msgspec.structs.asdict(options.tricks)
    if min(counts.values()) < 0 or sum(counts.values()) != TRICK_COUNT:
        found = ", ".join(f"{kind} {count}" for kind, count in counts.items())
        raise SpecError(
            f"options of shanghaien: tricks: {found}: none may be negative and together they must be {TRICK_COUNT}"
        )
    return options


@lru_cache(maxsize=64)
def compose(options: Options) -> Variant:
    """The variant these options describe."""
    counts = msgspec.structs.asdict(options.tricks)
    kinds = tuple(kind for kind, count in counts.items() for _ in range(count))
    sailors = tuple(sailor_text(Card(card)) for card in range(SAILOR_COUNT))
    effects: dict[type[Action], Any] = {}
    for trick in BASE_TRICKS:
        effects.update(trick.effects)
    return Variant(
        faces=sailors + kinds,
        tricks={trick.kind: trick for trick in BASE_TRICKS},
        effects=effects,
        action_type=reduce(or_, [Roll, Shanghai, Place, *effects]),
    )
