"""The audit of a results folder: matches against their seeds, summaries against records, standings against matches.

Rule: it recomputes by another path where there is one (ratings by the factor graph), and it reports every problem it
finds instead of stopping at the first.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from arena.errors import DamagedStore
from arena.league.standings import standings_after
from arena.league.state import LeagueState, state_of
from arena.league.tournament import Tournament, public_secret
from arena.match.results import MatchResult
from arena.match.secret_luck import Secret
from arena.process.limits import DEFAULT_ISOLATION, Isolation
from arena.report.leaderboard import luck_audit
from arena.standings.ratings import rate, rate_by_factor_graph
from arena.standings.sums import sums_of
from arena.standings.table import standings_json
from arena.store.bots import BotStore
from arena.store.history import Head
from arena.store.matches import MatchStore
from arena.text import counted
from arena.verify.history import AuditLine, audit_history
from arena.verify.match import (
    CHECKED,
    Checked,
    Checker,
    DueLuck,
    Task,
    check_here,
    draws_of,
    due_luck,
    expected,
    value_version,
)
from arena.verify.replay import audit_by_replay
from arena.verify.resimulation import Resimulated

RATING_TOLERANCE: Final = 1e-6

OnProgress = Callable[[str, int, int], object]
"""Hears before the first match and after each: of which league it is, how many are checked, how many there are."""


class AuditSettings(NamedTuple):
    """Settings of an audit: the checker, the listener to progress, secrets of luck, and old roots.

    `replays`: so many batches of each league are played again, with the bots isolated like that.
    """

    checked: Checker = check_here
    watch: OnProgress = lambda *_: None
    secrets: Callable[[Iterable[str]], list[Secret]] = lambda _: []
    roots: tuple[Head, ...] = ()
    replays: int = 0
    isolation: Isolation = DEFAULT_ISOLATION


HERE: Final = AuditSettings()
"""In this process, and nobody hears."""


def audit(
    store: MatchStore, bots: BotStore, leagues: tuple[str, ...], look: AuditSettings = HERE
) -> Iterator[AuditLine]:
    """The findings about the database as a whole, about each league, and if these are all, about matches of none."""
    yield from _audit_database(store)
    yield from audit_history(store, look.roots)
    sound: list[LeagueState] = []
    for name in leagues:
        try:
            tournament = store.league(name)
            yield from _audit_bots(bots, tournament)
            sound.append(state_of(tournament, store.ranks))
        except DamagedStore as error:
            yield True, f"{name}: {error}"
            continue
        yield from _audit_league(store, bots, sound[-1], look)
    if set(leagues) == set(store.leagues()):
        try:
            yield from _audit_orphans(store, sound, look)
        except DamagedStore as error:
            yield True, f"no league: {error}"


def _audit_league(store: MatchStore, bots: BotStore, state: LeagueState, look: AuditSettings) -> Iterator[AuditLine]:
    for part in (_audit_matches(store, state, look), _audit_standings(store, state)):
        try:
            yield from part
        except DamagedStore as error:
            yield True, f"{state.tournament.name}: {error}"
    if look.replays:
        yield from audit_by_replay(
            store, bots, state, _secrets_of(state.tournament, look), look.replays, look.isolation
        )


def _audit_database(store: MatchStore) -> Iterator[AuditLine]:
    try:
        damage = store.integrity_errors()
        loose, bare = store.orphans_of("record", "match"), store.orphans_of("match", "record")
    except DamagedStore as error:
        yield True, f"database: {error}"
        return
    yield from ((True, f"database: {error}") for error in damage)
    if not damage:
        yield False, "database: SQLite finds it sound"
    if loose:
        yield True, f"database: {counted(loose, 'record has', 'records have')} no match"
    if bare:
        yield True, f"database: {counted(bare, 'match has', 'matches have')} no record"


def _audit_bots(bots: BotStore, tournament: Tournament) -> Iterator[AuditLine]:
    changed = set(bots.changed({player.bot.digest for player in tournament.players}))
    for player in tournament.players:
        if player.bot.digest in changed:
            yield True, f"{tournament.name}: bot {player.bot.label} is missing or no longer has its hash"
    if not changed:
        yield False, f"{tournament.name}: {len(tournament.players)} bots have their hashes"


def _audit_matches(store: MatchStore, state: LeagueState, look: AuditSettings) -> Iterator[AuditLine]:
    tournament = state.tournament
    by_key = {span.pairing.key: span.pairing for span in state.spans}
    secrets = _secrets_of(tournament, look)
    tasks = (
        Task(match, expected(tournament, by_key[match.result.key.pairing], match), due_luck(tournament, match, secrets))
        for match in store.matches(state.blocks)
    )
    tour = _MatchAudit(tournament.name, look, total=state.stored)
    yield from tour.problems(tasks)
    results = store.in_schedule_order(state.blocks)
    yield False, f"{tournament.name}: {tour.replayed} of {counted(state.scheduled, 'match', 'matches')} replayed"
    yield from tour.other_rules()
    yield from tour.luck()
    yield from tour.simulations()
    yield from _audit_luck(tournament, results)
    yield from _audit_blocks(tournament, results, tour.checked)


def _secrets_of(tournament: Tournament, look: AuditSettings) -> list[Secret]:
    """The secrets of the league that are at hand; anybody has that of a public seed."""
    public = public_secret(tournament)
    return [public] if public is not None else look.secrets(tournament.commitments)


class _MatchAudit:
    """A walk past the matches of a league, or of none: what is wrong with each, and what their simulations come to."""

    def __init__(self, name: str, look: AuditSettings, *, total: int) -> None:
        self._name = name
        self._look = look
        self._total = total
        self.checked = 0
        self._resimulated: dict[tuple[str, str], Resimulated] = {}
        self._matches: Counter[tuple[str, str]] = Counter()
        self._other_rules: Counter[str] = Counter()
        self._luck: Counter[str] = Counter()

    def problems(self, tasks: Iterable[Task]) -> Iterator[AuditLine]:
        """Problems of matches, one after the other."""
        if self._total:
            self._look.watch(self._name, 0, self._total)
        for found in self._look.checked(tasks):
            self.checked += 1
            self._look.watch(self._name, self.checked, max(self._total, self.checked))
            for problem in found.problems:
                yield True, f"{self._name}: match {found.match}: {problem}"
            self._add(found)
            self._other_rules[found.other_rules] += 1
            self._luck[found.luck] += 1

    @property
    def replayed(self) -> int:
        """The matches whose rules this arena has."""
        return self._other_rules[""]

    def other_rules(self) -> Iterator[AuditLine]:
        """The matches that cannot be replayed here; no fault of theirs, and their records were read and summed up."""
        for why, count in sorted(self._other_rules.items()):
            if why:
                yield False, f"{self._name}: not comparable: {counted(count, 'match', 'matches')} {why}"

    def _add(self, found: Checked) -> None:
        one = found.resimulated
        if one is None:
            return
        if one.farthest is not None:
            named = msgspec.structs.replace(one.farthest, text=f"match {found.match}, {one.farthest.text}")
            one = msgspec.structs.replace(one, farthest=named)
        kind = (one.terms, one.why_not)
        self._resimulated[kind] = self._resimulated[kind] + one if kind in self._resimulated else one
        self._matches[kind] += 1

    def luck(self) -> Iterator[AuditLine]:
        """The number of matches with the luck of their secret; and of those without a secret at hand, by commitment."""
        for found, count in sorted(self._luck.items(), key=lambda item: item[0] != CHECKED):
            matches = counted(count, "match", "matches")
            if found == CHECKED:
                yield False, f"{self._name}: the luck of {matches} compared with the secret or the public seed"
            elif found:
                told = f"the luck of {matches} not compared with the secret of commitment {found}, which is not here"
                yield False, f"{self._name}: {told}; only the dice and cards, with the luck in each record"

    def simulations(self) -> Iterator[AuditLine]:
        """The results of simulations here, in a sentence for all matches that were simulated on the same terms."""
        for kind, found in sorted(self._resimulated.items(), key=lambda item: item[0]):
            same, made = found.equal, counted(found.made, "simulation", "simulations")
            if found.why_not:
                matches = counted(self._matches[kind], "match", "matches")
                yield False, f"{self._name}: {matches} not simulated again: {found.why_not}"
            elif found.terms:
                told = f"{self._name}: not comparable: simulated by {found.terms}; {same} of {made} come out the same"
                yield False, f"{told}; the farthest: {found.farthest.text}" if found.farthest else told
            else:
                yield False, f"{self._name}: {made} made again, {'all' if same == found.made else same} as recorded"


def _audit_blocks(tournament: Tournament, results: list[MatchResult], checked: int) -> Iterator[AuditLine]:
    """Every match needs its record, and every block all its matches."""
    if len(results) != checked:
        yield (
            True,
            f"{tournament.name}: {counted(len(results), 'match has', 'matches have')} {counted(checked, 'record')}",
        )
    seen = Counter(result.key[:2] for result in results)
    incomplete = sum(count != tournament.seats for count in seen.values())
    if incomplete:
        yield True, f"{tournament.name}: {counted(incomplete, 'block lacks', 'blocks lack')} a match"


def _audit_orphans(store: MatchStore, leagues: list[LeagueState], look: AuditSettings) -> Iterator[AuditLine]:
    """Matches of no current league, as a changed tournament leaves them: each against its own record."""
    tour = _MatchAudit("no league", look, total=0)
    secrets = [secret for league in leagues for secret in _secrets_of(league.tournament, look)]
    blocks: Counter[str] = Counter()
    for league in leagues:
        blocks |= Counter(league.blocks)
    yield from tour.problems(
        Task(match, None, DueLuck(draws_of(match, secrets, len(match.result.ranks)))) for match in store.orphans(blocks)
    )
    if tour.checked:
        yield False, f"no league: {counted(tour.replayed, 'match', 'matches')} of no current league replayed"
        yield from tour.other_rules()
        yield from tour.luck()
        yield from tour.simulations()


def _audit_luck(tournament: Tournament, results: list[MatchResult]) -> Iterator[AuditLine]:
    """The number of matches whose luck was measured again; that of another version of the value cannot be."""
    current = value_version(tournament.game)
    known = Counter(one.luck_version == current for one in results if one.luck_version)
    if known[True]:
        yield False, f"{tournament.name}: the luck of {counted(known[True], 'match', 'matches')} measured again"
    if known[False]:
        what = counted(known[False], "match", "matches")
        yield False, f"{tournament.name}: the luck of {what} is of another version of the value, and not checked"


def _audit_standings(store: MatchStore, state: LeagueState) -> Iterator[AuditLine]:
    tournament = state.tournament
    sums = store.sums(state.blocks)
    results = store.in_schedule_order(state.blocks)
    if sums_of(results).facts() != sums.facts():
        yield True, f"{tournament.name}: SQLite adds up other sums than those of its matches"
    yield from _audit_ratings(tournament, results)
    table = standings_after(state, sums)
    yield from ((False, f"{tournament.name}: {sentence}") for sentence in luck_audit(table))
    published, computed = store.published(tournament.name), standings_json(table)
    if published is None:
        yield False, f"{tournament.name}: no standings have been published yet"
    elif computed == published:
        yield False, f"{tournament.name}: the published standings are those of the matches"
    elif 0 <= _matches_in(published) < len(results):
        yield False, f"{tournament.name}: matches were added since the standings were published; run the league again"
    elif _matches_in(published) > len(results):
        missing = _matches_in(published) - len(results)
        what = counted(missing, "match is", "matches are")
        yield True, f"{tournament.name}: {what} missing that the published standings rest on"
    else:
        yield True, f"{tournament.name}: the published standings are not those of the matches"


def _audit_ratings(tournament: Tournament, results: list[MatchResult]) -> Iterator[AuditLine]:
    names = [player.name for player in tournament.players]
    games = [(result.players, result.ranks) for result in results]
    fast = rate(names, games, tournament.rating)
    slow = rate_by_factor_graph(names, games, tournament.rating)
    apart = max(abs(fast[name].mu - slow[name].mu) + abs(fast[name].sigma - slow[name].sigma) for name in names)
    if apart > RATING_TOLERANCE:
        yield True, f"{tournament.name}: two ways to compute the ratings differ by {apart:.2g}"
    else:
        yield False, f"{tournament.name}: ratings agree with the factor graph of the trueskill package"


def _matches_in(published: bytes) -> int:
    """Matches that published standings say they rest on; -1 if they cannot be read."""
    try:
        count = json.loads(published)["matches"]
    except (ValueError, KeyError, TypeError):
        return -1
    return count if isinstance(count, int) else -1
