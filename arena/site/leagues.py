"""The leagues of a store as the site shows them: each computed once, with the functions that reports use.

Rule: names are the players' own, keys are digests: a key stands in the name of a file, a name never does.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import combinations, islice
from typing import Any, Final

import msgspec

from arena.errors import SpecError
from arena.league.history import EndedRun
from arena.league.profiles import ProfilePage, player_profile
from arena.league.progress import progress_of
from arena.league.standings import matrix_of, ratings_over_time, standings_and_timing
from arena.league.state import LeagueState, state_of
from arena.match.results import MatchKey, MatchResult
from arena.standings.matrix import HeadToHead
from arena.standings.ratings import Rating
from arena.standings.sums import PairingSums
from arena.standings.table import Standings, Timing
from arena.store.matches import MatchStore
from arena.text import unknown

MOST_IN_MATRIX: Final = 30
RATING_STEPS: Final = 60
MATCHES_ON_A_PAGE: Final = 500
MOST_HIGHLIGHTS: Final = 20
"""The number of matches listed of each kind: the latest, the closest, the biggest upsets."""
MOST_FAULTY: Final = 200
"""The number of matches with faults listed; the page gives the number of the others."""
_MOST: Final = {"latest": MOST_HIGHLIGHTS, "closest": MOST_HIGHLIGHTS, "upsets": MOST_HIGHLIGHTS, "faulty": MOST_FAULTY}


def key_of(name: str) -> str:
    """Return the digest that names the files of a league or a player: 12 hexadecimal digits."""
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def pair_of(one: str, other: str) -> tuple[str, str]:
    """Return two players, in either order, as the sorted key of their matches."""
    return (one, other) if one < other else (other, one)


class Highlights(msgspec.Struct, frozen=True):
    """The matches worth a look, best first in each list; `faults` counts all matches with a fault, listed or not."""

    latest: tuple[MatchResult, ...]
    closest: tuple[MatchResult, ...]
    upsets: tuple[MatchResult, ...]
    faulty: tuple[MatchResult, ...]
    faults: int

    @property
    def kinds(self) -> tuple[tuple[MatchResult, ...], ...]:
        """The lists of matches."""
        return self.latest, self.closest, self.upsets, self.faulty


class MatchRange(msgspec.Struct, frozen=True):
    """The part of the list of all matches for one pairing: its whole `blocks`, at least one, from place `start` on."""

    pairing: str
    players: tuple[str, ...]
    start: int
    seats: int
    blocks: Sequence[int]

    @property
    def end(self) -> int:
        """The place after the last match."""
        return self.start + self.seats * len(self.blocks)


class LeagueView(msgspec.Struct, frozen=True, dict=True):
    """A league of a store with its standings; `sums` cover all its stored matches."""

    state: LeagueState
    sums: PairingSums
    table: Standings
    timing: tuple[Timing, ...]
    runs: tuple[EndedRun, ...] = ()

    @property
    def name(self) -> str:
        """The name of the tournament."""
        return self.state.tournament.name

    @property
    def key(self) -> str:
        """The name of the league's folder."""
        return key_of(self.name)

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.state.tournament.game

    @property
    def players(self) -> tuple[str, ...]:
        """The names of the players, best first."""
        return tuple(row.name for row in self.table.rows)

    @property
    def progress(self) -> str:
        """The progress of the league in words."""
        return progress_of(self.state)

    @property
    def leaders(self) -> list[str]:
        """The names of the best three players with matches."""
        return [row.name for row in self.table.rows if row.matches][:3]

    @cached_property
    def matrix(self) -> HeadToHead:
        """The results of the best players against each other."""
        return matrix_of(self.state, top=MOST_IN_MATRIX, only=())

    @cached_property
    def ratings(self) -> list[tuple[int, dict[str, Rating]]]:
        """The ratings over time: (matches so far, rating by player), about `RATING_STEPS` of them."""
        return [*ratings_over_time(self.state, RATING_STEPS)]

    @cached_property
    def torn(self) -> frozenset[tuple[str, int]]:
        """The incomplete blocks, as (pairing, block); their matches are not shown."""
        return frozenset((pairing.key, block) for pairing, block in self.state.torn)

    def results(self, store: MatchStore) -> Iterator[MatchResult]:
        """Return the matches of whole blocks, pairing by pairing."""
        return self._whole(store.results(self.state.blocks))

    @cached_property
    def ranges(self) -> tuple[MatchRange, ...]:
        """The parts of the list of all matches, pairing by pairing; a pairing without a whole block has none."""
        parts, start = list[MatchRange](), 0
        for span in self.state.spans:
            pairing = span.pairing
            whole = [block for block in span.ranks.blocks if (pairing.key, block) not in self.torn]
            if whole:
                parts.append(MatchRange(pairing.key, pairing.names, start, len(pairing.names), whole))
                start = parts[-1].end
        return tuple(parts)

    @property
    def pages(self) -> int:
        """The number of pages of the list of all matches."""
        return -(-self.ranges[-1].end // MATCHES_ON_A_PAGE) if self.ranges else 0

    def page(self, store: MatchStore, number: int) -> Iterator[MatchResult]:
        """Yield the matches on a page (from 1) of the list of all matches; no other rows are read."""
        start = MATCHES_ON_A_PAGE * (number - 1)
        end = start + MATCHES_ON_A_PAGE
        for part in self.ranges:
            if part.start < end and start < part.end:
                first, last = max(0, start - part.start), min(end, part.end) - part.start
                blocks = part.blocks[first // part.seats : -(-last // part.seats)]
                results = self._whole(store.results({part.pairing: blocks[-1] + 1}, {part.pairing: blocks[0]}))
                yield from islice(results, first % part.seats, first % part.seats + last - first)

    @property
    def keys(self) -> Iterator[MatchKey]:
        """The keys of all matches of whole blocks."""
        for part in self.ranges:
            yield from (MatchKey(part.pairing, block, turn) for block in part.blocks for turn in range(part.seats))

    def pages_of(self, pair: tuple[str, str]) -> list[int]:
        """Return the numbers of the pages of the list that contain matches of both players."""
        parts = (part for part in self.ranges if {*pair} <= {*part.players})
        pages = (range(part.start // MATCHES_ON_A_PAGE, (part.end - 1) // MATCHES_ON_A_PAGE + 1) for part in parts)
        return sorted({number + 1 for numbers in pages for number in numbers})

    def has(self, key: MatchKey) -> bool:
        """Return True if `key` can be a stored match of a whole block of this league."""
        return 0 <= key.block < self.state.blocks.get(key.pairing, 0) and (key.pairing, key.block) not in self.torn

    @cached_property
    def _profiles(self) -> dict[str, ProfilePage]:
        """The profiles computed so far, by name."""
        return {}

    def profile(self, name: str) -> ProfilePage:
        """Return the profile of a player, computed once."""
        if name not in self._profiles:
            self._profiles[name] = player_profile(self.state, name, self.table, self.sums)
        return self._profiles[name]

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """The pairs of the best players that have met."""
        best = {*self.players[:MOST_IN_MATRIX]}
        opponents = (best.intersection(part.players) for part in self.ranges)
        return frozenset(pair for names in opponents for pair in combinations(sorted(names), 2))

    def of_pair(self, store: MatchStore, pair: tuple[str, str]) -> Iterator[MatchResult]:
        """Return the matches of whole blocks in which both players play."""
        spans = [span for span in self.state.spans if {*pair} <= {*span.pairing.names}]
        return self._whole(store.results({span.pairing.key: span.blocks for span in spans}))

    def _whole(self, results: Iterable[MatchResult]) -> Iterator[MatchResult]:
        """Leave out the matches of incomplete blocks."""
        return (result for result in results if (result.key.pairing, result.key.block) not in self.torn)

    def highlights(
        self, results: Iterable[MatchResult], pairs: Iterable[tuple[str, str]] = ()
    ) -> dict[tuple[str, str] | None, Highlights]:
        """Pick the matches worth a look in one pass: of all `results` under None, and of each pair in `pairs`."""
        skill = {row.name: row.rating.value if row.rating else row.mu for row in self.table.rows}
        pickers: dict[tuple[str, str] | None, _HighlightPicker] = {key: _HighlightPicker() for key in (None, *pairs)}
        for number, result in enumerate(results):
            played_pairs = combinations(sorted(result.players), 2) if len(pickers) > 1 else ()
            for key in (None, *played_pairs):
                if key in pickers:
                    pickers[key].offer(result, (result.key.block, -number), _surprise(result, skill))
        return {key: picker.highlights() for key, picker in pickers.items()}


class _HighlightPicker:
    """A picker of the matches worth a look: it keeps the matches with the largest keys of each kind."""

    def __init__(self) -> None:
        self._kept: dict[str, list[tuple[Any, MatchKey, MatchResult]]] = {kind: [] for kind in _MOST}
        self._faults = 0

    def offer(self, match: MatchResult, order: tuple[int, int], surprise: float) -> None:
        """Take in a match, with its place in time and the surprise of its result."""
        self._keep_largest("latest", order, match)
        if match.scores is not None:
            best, second, *_ = sorted(match.scores, reverse=True)
            self._keep_largest("closest", (second - best, order), match)
        if surprise > 0:
            self._keep_largest("upsets", (surprise, order), match)
        if match.at_fault is not None or match.pardoned:
            self._faults += 1
            self._keep_largest("faulty", (match.at_fault is not None, order), match)

    def _keep_largest(self, kind: str, key: object, match: MatchResult) -> None:
        """Keep a match of a kind; of too many, drop the one with the smallest key."""
        kept = self._kept[kind]
        heapq.heappush(kept, (key, match.key, match))
        if len(kept) > _MOST[kind]:
            heapq.heappop(kept)

    def highlights(self) -> Highlights:
        """Return the matches kept so far, best first in each kind."""
        kinds = {kind: tuple(result for *_, result in sorted(kept, reverse=True)) for kind, kept in self._kept.items()}
        return Highlights(**kinds, faults=self._faults)


def _surprise(match: MatchResult, skill: Mapping[str, float]) -> float:
    """Return the lead in skill of the strongest loser over the winner; at most 0 if the result is no upset."""
    if match.at_fault is not None:
        return 0.0
    skills = [skill[name] for name in match.players]
    beaten = [value for value, rank in zip(skills, match.ranks, strict=True) if rank > 0]
    return max(beaten) - skills[match.ranks.index(0)] if beaten else 0.0


def league_views(store: MatchStore, names: Sequence[str]) -> Iterator[LeagueView]:
    """Yield the views of the named leagues, or of all leagues of the store; SpecError for an unknown name."""
    for name in names or store.leagues():
        yield league_view(store, name)


def require_players(views: Sequence[LeagueView], names: Sequence[str]) -> None:
    """Raise SpecError, which names `--private`, unless each name is a player of one of the leagues."""
    players = {player: None for view in views for player in view.players}
    for name in names:
        if name not in players:
            raise SpecError(f"--private: {unknown('player', name, players)}")


def league_view(store: MatchStore, name: str) -> LeagueView:
    """Return the view of the named league; SpecError if there is none."""
    state = state_of(store.league(name), store.ranks)
    sums = store.sums(state.blocks)
    return LeagueView(state, sums, *standings_and_timing(state, sums), store.runs(name))
