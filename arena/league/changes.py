"""What a person changed in a tournament between two runs, in words.

Rule: only what the matches depend on, or how many there are; the words are those of the tournament file.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from arena.league.tournament import Player, Tournament


def changes(former: Tournament, now: Tournament) -> list[str]:
    """One phrase for each change: `cycles changed from 5 to 6`, `player ann left`."""
    terms = (*_parts("clock", former.clock, now.clock), *_parts("limits", former.limits, now.limits))
    return [*_fields(former, now), *terms, *_players(former, now)]


def _fields(former: Tournament, now: Tournament) -> Iterator[str]:
    for name in ("game", "rules", "options", "seats", "schedule", "cycles"):
        yield from _difference(name, getattr(former, name), getattr(now, name))
    yield from _luck(former, now)


def _luck(former: Tournament, now: Tournament) -> Iterator[str]:
    if former.format != now.format:
        luck = "a secret" if now.seed is None else f"public seed {now.seed}"
        yield f"the recipe of luck changed from that of arena 0.1.0 (seed {former.seed}) to {luck}"
    else:
        yield from _difference("seed", *("none" if each.seed is None else each.seed for each in (former, now)))


def _parts(name: str, former: msgspec.Struct, now: msgspec.Struct) -> Iterator[str]:
    for part, value in msgspec.structs.asdict(former).items():
        yield from _difference(f"{name}.{part}", value, getattr(now, part))


def _players(former: Tournament, now: Tournament) -> Iterator[str]:
    old, new = ({player.name: player for player in each.players} for each in (former, now))
    yield from (f"player {name} left" for name in old if name not in new)
    yield from (f"player {name} joined" for name in new if name not in old)
    for name in old:
        if name in new:
            yield from _difference(f"player {name}", _described(old[name]), _described(new[name]))


def _described(player: Player) -> str:
    return " ".join([player.bot.label, *player.arguments])


def _difference(name: str, old: Any, new: Any) -> Iterator[str]:
    if old != new:
        yield f"{name} changed from {_text(old)} to {_text(new)}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
