"""The leagues of a store as the site shows them: each computed once, with the functions that reports use.

Rule: names are the players' own, keys are digests: a key stands in the name of a file, a name never does.
"""

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import combinations, islice
from operator import attrgetter, itemgetter
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
from arena.standings.rows import Row
from arena.standings.sums import PairingSums
from arena.standings.table import Standings, Timing
from arena.statistics.interval import Interval
from arena.store.matches import MatchStore
from arena.text import unknown

MOST_IN_MATRIX: Final = 30
RATING_STEPS: Final = 60
MATCHES_ON_A_PAGE: Final = 500
_MOST: Final = {"upset": 12, "closest": 12, "latest": 12, "faulty": 200}
"""The most matches of each kind that are worth a look."""


def key_of(name: str) -> str:
    """Return the digest that names the files of a league or a player: 12 hexadecimal digits."""
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def pair_of(one: str, other: str) -> tuple[str, str]:
    """Return two players, in either order, as the sorted key of their matches."""
    return (one, other) if one < other else (other, one)


class Highlights(msgspec.Struct, frozen=True):
    """The matches worth a look by kind, best first, each with its size; `faults` counts all matches with a fault.

    `upset`: how far the winner is behind in rating; `closest`: minus the points between the first two; `latest`: the
    block; `faulty`: 1 for a forfeit, and 0 for faults after which the game went on. Of a block there is one match of
    each kind, but all that are `faulty`.
    """

    kinds: Mapping[str, Sequence[tuple[float, MatchResult]]]
    faults: int

    def matches(self, *kinds: str) -> list[MatchResult]:
        """Return the matches of these kinds, kind by kind; one of several kinds comes several times."""
        return [match for kind in kinds for _, match in self.kinds[kind]]


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
    hand_ins: Sequence[tuple[str, str, str | None, str]] = ()

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
    def names(self) -> list[str]:
        """The names of the players in the order of the tournament, which gives their looks."""
        return [player.name for player in self.state.tournament.players]

    @property
    def progress(self) -> str:
        """The progress of the league in words."""
        return progress_of(self.state)

    @property
    def leader(self) -> Row | None:
        """The row of the best player; None before the first match."""
        return next((row for row in self.table.rows if row.matches), None)

    @property
    def latest(self) -> MatchKey | None:
        """The first match of a whole block with the highest number; None without any."""
        last = max(self.ranges, key=lambda part: part.blocks[-1], default=None)
        return MatchKey(last.pairing, last.blocks[-1], 0) if last else None

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
        """Return True if the block of `key` belongs to this league and is not torn.

        It may not be stored yet; the rotation is not checked.
        """
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
        """Pick the matches worth a look in one pass: of all `results` under None, and of each pair in `pairs`.

        The two names of a pair are sorted; a pair in the other order would find no match.
        """
        ratings = {row.name: row.rating for row in self.table.rows if row.rating}
        pickers: dict[tuple[str, str] | None, _HighlightPicker] = {key: _HighlightPicker() for key in (None, *pairs)}
        for number, result in enumerate(results):
            played_pairs = combinations(sorted(result.players), 2) if len(pickers) > 1 else ()
            for key in (None, *played_pairs):
                if key in pickers:
                    pickers[key].offer(result, (result.key.block, -number), _surprise(result, ratings))
        return {key: picker.highlights() for key, picker in pickers.items()}


class _HighlightPicker:
    """A picker of the matches worth a look: it keeps the matches with the largest keys of each kind."""

    def __init__(self) -> None:
        self._kept: dict[str, list[tuple[Any, MatchResult]]] = {kind: [] for kind in _MOST}
        self._faults = 0

    def offer(self, match: MatchResult, order: tuple[int, int], surprise: float) -> None:
        """Take in a match. `order`: its place in time, larger for later ones. `surprise`: 0 if it was no upset."""
        self._keep_largest("latest", order, match)
        if match.scores is not None:
            best, second, *_ = sorted(match.scores, reverse=True)
            self._keep_largest("closest", (second - best, order), match)
        if surprise > 0:
            self._keep_largest("upset", (surprise, order), match)
        if match.at_fault is not None or match.pardoned:
            self._faults += 1
            self._keep_largest("faulty", (match.at_fault is not None, order), match)

    def _keep_largest(self, kind: str, key: Any, match: MatchResult) -> None:
        """Keep a match of a kind; drop that with the smallest key, of its block or else of too many."""
        kept = self._kept[kind]
        if len(kept) == _MOST[kind] and key < kept[0][0]:
            return
        insort(kept, (key, match), key=itemgetter(0))
        of_block = [entry for entry in kept if kind != "faulty" and entry[1].key[:2] == match.key[:2]]
        if len(of_block) > 1 or len(kept) > _MOST[kind]:
            kept.remove((of_block if len(of_block) > 1 else kept)[0])

    def highlights(self) -> Highlights:
        """Return the matches kept so far, best first in each kind."""
        kinds = {kind: [(float(key[0]), match) for key, match in kept[::-1]] for kind, kept in self._kept.items()}
        return Highlights(kinds, self._faults)


def _surprise(match: MatchResult, ratings: Mapping[str, Interval]) -> float:
    """Return the lead in rating of the strongest loser over the winner.

    0 if their intervals overlap, after a forfeit, and where a rating is missing.
    """
    winner = ratings.get(match.players[match.ranks.index(0)])
    beaten = [ratings[name] for name, rank in zip(match.players, match.ranks, strict=True) if rank and name in ratings]
    if match.at_fault is not None or winner is None or not beaten:
        return 0.0
    strongest = max(beaten, key=attrgetter("value"))
    return strongest.value - winner.value if strongest.low > winner.high else 0.0


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
    return LeagueView(state, sums, *standings_and_timing(state, sums), store.runs(name), store.hand_ins())
