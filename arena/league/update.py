"""A changed tournament file against the league that is stored: the differences, and the matches left behind.

Rule: nothing is deleted. A match left behind stays in the store and counts for no league, or for this one again as
soon as it asks for the same players, versions, settings and luck again, as when rounds are dealt again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from arena.league.state import LeagueState
from arena.league.tournament import Tournament
from arena.plugins import Package
from arena.text import counted


def describe_changes(former: Tournament, now: Tournament) -> list[str]:
    """Describe in a phrase each change of players, game, schedule, seed, clock or limits: `player ann left`.

    Other settings are not compared.
    """
    old, new = (
        {player.name: " ".join([player.bot.label, *player.arguments]) for player in tournament.players}
        for tournament in (former, now)
    )
    fields = ("game", "rules", "package", "options", "seats", "schedule", "cycles")
    settings = (
        (f"{name}.{part}", value, getattr(getattr(now, name), part))
        for name in ("clock", "limits")
        for part, value in msgspec.structs.asdict(getattr(former, name)).items()
    )
    return [
        *_describe_differences((name, getattr(former, name), getattr(now, name)) for name in fields),
        *_describe_differences([("seed", former.seed or "none", now.seed or "none")]),
        *_describe_differences(settings),
        *(f"player {name} left" for name in old if name not in new),
        *(f"player {name} joined" for name in new if name not in old),
        *_describe_differences((f"player {name}", old[name], new[name]) for name in old if name in new),
    ]


def _describe_differences(pairs: Iterable[tuple[str, Any, Any]]) -> Iterator[str]:
    """Yield a phrase for each of (name, old value, new value) whose values differ."""
    for name, old, new in pairs:
        if old != new:
            yield f"{name} changed from {_value_text(old)} to {_value_text(new)}"


def _value_text(value: Any) -> str:
    """Write a value of a setting: a text as it is, any other as JSON."""
    return str(value) if isinstance(value, str | Package) else msgspec.json.encode(value).decode()


_MOST_NAMED = 20


class DroppedMatches(msgspec.Struct, frozen=True):
    """The matches left behind by a change; `rounds_dealt_again` are the numbers of rounds that are no longer known.

    `by_round`: the title of each round before the change, its stored matches, and those of them that are left behind.
    """

    by_player: dict[str, int]
    by_round: tuple[tuple[str, int, int], ...]
    rounds_dealt_again: tuple[int, ...]

    @property
    def stored(self) -> int:
        """The number of stored matches of the league before the change."""
        return sum(stored for _, stored, _ in self.by_round)

    @property
    def dropped(self) -> int:
        """The number of stored matches that no longer belong to the league."""
        return sum(dropped for *_, dropped in self.by_round)


def count_dropped_matches(former: LeagueState, now: LeagueState) -> DroppedMatches:
    """Count the matches that a league leaves behind, by its states before and after a change."""
    by_player: Counter[str] = Counter()
    by_round, again = [], []
    known = {planned.number for planned in now.rounds}
    for planned in former.rounds:
        stored, dropped = 0, 0
        for pairing, first in zip(planned.pairings, planned.first, strict=True):
            blocks = {block for block in former.finished[pairing.key] if first <= block < first + planned.blocks}
            matches = len(blocks.difference(now.finished.get(pairing.key, ()))) * len(pairing.players)
            by_player.update({player.name: matches for player in pairing.players if matches})
            stored += len(blocks) * len(pairing.players)
            dropped += matches
        by_round.append((planned.title, stored, dropped))
        if planned.number not in known and stored and former.rounds[0].is_awaited:
            again.append(planned.number)
    return DroppedMatches(dict(sorted(by_player.items())), tuple(by_round), tuple(again))


def describe_drops(lost: DroppedMatches) -> Iterator[str]:
    """Yield sentences about the dropped matches: how many, by player, and by round where there are several."""
    if not lost.dropped:
        yield f"no stored match is dropped ({lost.stored} are there)"
        return
    yield (
        f"{lost.dropped} of {counted(lost.stored, 'stored match is', 'stored matches are')} dropped:"
        " kept in the store, but not counted"
    )
    most = sorted(lost.by_player.items(), key=lambda item: (-item[1], item[0]))
    more = f" and {len(most) - _MOST_NAMED} more players" if len(most) > _MOST_NAMED else ""
    yield f"by player: {', '.join(f'{name} {count}' for name, count in most[:_MOST_NAMED])}{more}"
    if len(lost.by_round) > 1:
        rounds = [f"{title} {dropped} of {stored}" for title, stored, dropped in lost.by_round if stored]
        yield f"by round: {', '.join(rounds)}"
    if lost.rounds_dealt_again:
        first, last = lost.rounds_dealt_again[0], lost.rounds_dealt_again[-1]
        span = f"round {first} is" if first == last else f"rounds {first} to {last} are"
        yield f"{span} dealt again; where the same players meet again in it, their matches count again"
