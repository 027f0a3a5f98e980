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
MOST_CHOSEN: Final = 20
"""Matches of a kind that are shown: the latest, the closest, the biggest upsets."""
MOST_FAULTY: Final = 200
"""Matches with faults that are shown; the page tells how many more there are."""
_MOST: Final = {"latest": MOST_CHOSEN, "closest": MOST_CHOSEN, "upsets": MOST_CHOSEN, "faulty": MOST_FAULTY}


def key_of(name: str) -> str:
    """The part of a file's name that stands for a league or a player."""
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def pair_of(one: str, other: str) -> tuple[str, str]:
    """Two players as the key of their matches, in either order."""
    return (one, other) if one < other else (other, one)


class Chosen(msgspec.Struct, frozen=True):
    """Matches worth a look, the first one first; `faults` counts all with one, of which some are listed."""

    latest: tuple[MatchResult, ...]
    closest: tuple[MatchResult, ...]
    upsets: tuple[MatchResult, ...]
    faulty: tuple[MatchResult, ...]
    faults: int


class Stretch(msgspec.Struct, frozen=True):
    """The matches of a pairing in the list of all: its whole `blocks`, at least one, from place `start` on."""

    pairing: str
    players: tuple[str, ...]
    start: int
    seats: int
    blocks: Sequence[int]

    @property
    def end(self) -> int:
        """The place after the last one."""
        return self.start + self.seats * len(self.blocks)


class LeagueView(msgspec.Struct, frozen=True, dict=True):
    """A league of a store with its standings; `sums` are those of all its stored matches."""

    state: LeagueState
    sums: PairingSums
    table: Standings
    timing: tuple[Timing, ...]

    @property
    def name(self) -> str:
        """As its players know it."""
        return self.state.tournament.name

    @property
    def key(self) -> str:
        """The name of its folder."""
        return key_of(self.name)

    @property
    def game(self) -> str:
        """The game's name."""
        return self.state.tournament.game

    @property
    def players(self) -> tuple[str, ...]:
        """Best first."""
        return tuple(row.name for row in self.table.rows)

    @property
    def progress(self) -> str:
        """Its progress in words."""
        return progress_of(self.state)

    @property
    def leaders(self) -> list[str]:
        """The best three."""
        return [row.name for row in self.table.rows if row.matches][:3]

    @cached_property
    def matrix(self) -> HeadToHead:
        """The best players against each other."""
        return matrix_of(self.state, top=MOST_IN_MATRIX, only=())

    @cached_property
    def ratings(self) -> list[tuple[int, dict[str, Rating]]]:
        """The ratings after each of some parts of the matches."""
        return [*ratings_over_time(self.state, RATING_STEPS)]

    @cached_property
    def torn(self) -> frozenset[tuple[str, int]]:
        """Blocks that are not whole: none of their matches is shown."""
        return frozenset((pairing.key, block) for pairing, block in self.state.torn)

    def results(self, store: MatchStore) -> Iterator[MatchResult]:
        """The matches of whole blocks, pairing by pairing."""
        return self._whole(store.results(self.state.blocks))

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The parts of the list of all matches, pairing by pairing; a pairing without a whole block has none."""
        found, start = list[Stretch](), 0
        for span in self.state.spans:
            own = span.pairing
            whole = [block for block in span.ranks.blocks if (own.key, block) not in self.torn]
            if whole:
                found.append(Stretch(own.key, own.names, start, len(own.names), whole))
                start = found[-1].end
        return tuple(found)

    @property
    def pages(self) -> int:
        """Pages of the list of all matches."""
        return -(-self.stretches[-1].end // MATCHES_ON_A_PAGE) if self.stretches else 0

    def page(self, store: MatchStore, number: int) -> Iterator[MatchResult]:
        """A page of the list of all matches, from 1; no other rows are read."""
        start = MATCHES_ON_A_PAGE * (number - 1)
        end = start + MATCHES_ON_A_PAGE
        for each in self.stretches:
            if each.start < end and start < each.end:
                first, last = max(0, start - each.start), min(end, each.end) - each.start
                blocks = each.blocks[first // each.seats : -(-last // each.seats)]
                found = self._whole(store.results({each.pairing: blocks[-1] + 1}, {each.pairing: blocks[0]}))
                yield from islice(found, first % each.seats, first % each.seats + last - first)

    @property
    def keys(self) -> Iterator[MatchKey]:
        """Of all matches of whole blocks."""
        for each in self.stretches:
            yield from (MatchKey(each.pairing, block, turn) for block in each.blocks for turn in range(each.seats))

    def pages_of(self, pair: tuple[str, str]) -> list[int]:
        """The pages of the list that have matches of both players."""
        found = (each for each in self.stretches if {*pair} <= {*each.players})
        pages = (range(each.start // MATCHES_ON_A_PAGE, (each.end - 1) // MATCHES_ON_A_PAGE + 1) for each in found)
        return sorted({number + 1 for own in pages for number in own})

    def has(self, key: MatchKey) -> bool:
        """Whether it is a match of a whole block of this league, if it is stored."""
        return 0 <= key.block < self.state.blocks.get(key.pairing, 0) and (key.pairing, key.block) not in self.torn

    @cached_property
    def _profiles(self) -> dict[str, ProfilePage]:
        return {}

    def profile(self, name: str) -> ProfilePage:
        """All about a player, computed once."""
        if name not in self._profiles:
            self._profiles[name] = player_profile(self.state, name, self.table, self.sums)
        return self._profiles[name]

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """The best players two by two, as far as they have met."""
        best = {*self.players[:MOST_IN_MATRIX]}
        met = (best.intersection(each.players) for each in self.stretches)
        return frozenset(pair for names in met for pair in combinations(sorted(names), 2))

    def of_pair(self, store: MatchStore, pair: tuple[str, str]) -> Iterator[MatchResult]:
        """The matches of whole blocks in which both play."""
        spans = [span for span in self.state.spans if {*pair} <= {*span.pairing.names}]
        return self._whole(store.results({span.pairing.key: span.blocks for span in spans}))

    def _whole(self, results: Iterable[MatchResult]) -> Iterator[MatchResult]:
        return (one for one in results if (one.key.pairing, one.key.block) not in self.torn)

    def chosen(
        self, results: Iterable[MatchResult], pairs: Iterable[tuple[str, str]] = ()
    ) -> dict[tuple[str, str] | None, Chosen]:
        """Pick the matches worth a look of all `results`, under None, and of each pair, in one pass."""
        skill = {row.name: row.rating.value if row.rating else row.mu for row in self.table.rows}
        pickers: dict[tuple[str, str] | None, _Picker] = {key: _Picker() for key in (None, *pairs)}
        for number, one in enumerate(results):
            own = combinations(sorted(one.players), 2) if len(pickers) > 1 else ()
            for key in (None, *own):
                if key in pickers:
                    pickers[key].offer(one, (one.key.block, -number), _surprise(one, skill))
        return {key: each.chosen() for key, each in pickers.items()}


class _Picker:
    """A picker of the matches worth a look: of each kind those with the largest keys among the offered ones."""

    def __init__(self) -> None:
        self._kept: dict[str, list[tuple[Any, MatchKey, MatchResult]]] = {kind: [] for kind in _MOST}
        self._faults = 0

    def offer(self, one: MatchResult, order: tuple[int, int], surprise: float) -> None:
        """Take in another match, with its place in time and the surprise of its result."""
        self._keep("latest", order, one)
        if one.scores is not None:
            best, second, *_ = sorted(one.scores, reverse=True)
            self._keep("closest", (second - best, order), one)
        if surprise > 0:
            self._keep("upsets", (surprise, order), one)
        if one.at_fault is not None or one.pardoned:
            self._faults += 1
            self._keep("faulty", (one.at_fault is not None, order), one)

    def _keep(self, kind: str, key: object, one: MatchResult) -> None:
        kept = self._kept[kind]
        heapq.heappush(kept, (key, one.key, one))
        if len(kept) > _MOST[kind]:
            heapq.heappop(kept)

    def chosen(self) -> Chosen:
        """Return the matches of each kind by now, the first one first."""
        kinds = {kind: tuple(one for *_, one in sorted(kept, reverse=True)) for kind, kept in self._kept.items()}
        return Chosen(**kinds, faults=self._faults)


def _surprise(one: MatchResult, skill: Mapping[str, float]) -> float:
    """By how much the strongest of those who lost is ahead of the winner in skill; below 0 where nobody is."""
    if one.at_fault is not None:
        return 0.0
    own = [skill[name] for name in one.players]
    beaten = [value for value, rank in zip(own, one.ranks, strict=True) if rank > 0]
    return max(beaten) - own[one.ranks.index(0)] if beaten else 0.0


def league_views(store: MatchStore, names: Sequence[str]) -> Iterator[LeagueView]:
    """The leagues of these names; all of the store if there are none. SpecError for an unknown one."""
    for name in names or store.leagues():
        yield league_view(store, name)


def require_players(views: Sequence[LeagueView], names: Sequence[str]) -> None:
    """SpecError, with the option, if no league has a player of one of these names."""
    known = {player: None for view in views for player in view.players}
    for name in names:
        if name not in known:
            raise SpecError(f"--private: {unknown('player', name, known)}")


def league_view(store: MatchStore, name: str) -> LeagueView:
    """The league of that name. SpecError if there is none."""
    state = state_of(store.league(name), store.ranks)
    sums = store.sums(state.blocks)
    return LeagueView(state, sums, *standings_and_timing(state, sums))
