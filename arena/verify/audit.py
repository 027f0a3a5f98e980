"""The audit of a results folder: matches against their seeds, summaries against records, standings against matches.

Rule: it recomputes by another path where there is one (ratings by the factor graph), and it reports every problem it
finds instead of stopping at the first.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

from arena.errors import DamagedStore
from arena.league.driver import Backend, LocalBackend
from arena.league.standings import standings_after
from arena.league.state import LeagueState, state_of
from arena.league.tournament import Tournament, public_secret
from arena.match.results import MatchResult
from arena.match.secret_luck import Secret
from arena.process.limits import DEFAULT_ISOLATION, Isolation
from arena.report.leaderboard import luck_audit
from arena.standings.ratings import rate, rate_by_factor_graph
from arena.standings.table import standings_json
from arena.store.bots import BotStore
from arena.store.history import Head
from arena.store.matches import MatchStore
from arena.text import counted
from arena.verify.history import AuditLine, audit_history, state_of_run
from arena.verify.match import Checker, CheckTask, check_here, draws_of, task_of
from arena.verify.replay import audit_by_replay
from arena.verify.resimulation import ResimulationResult

RATING_TOLERANCE: Final = 1e-6
LATE_DIGITS: Final = 1e-7
"""The relative difference, or absolute one near 0, up to which two numbers of standings are equal."""

OnProgress = Callable[[str, int, int], object]
"""A listener: gets the league, the number of checked matches and of all, before the first match and after each.

While jobs are played again it is called twice a second.
"""


class AuditOptions(NamedTuple):
    """Settings of an audit: the checker, the progress listener, the source of secrets, and old roots.

    `removed`: hashes of bots whose authors were removed, which `audit` finds. `replays`: the number of jobs of each
    league to play again, with bots under `isolation`, on the backend that `open_backend` returns for its tournament.
    """

    checker: Checker = check_here
    on_progress: OnProgress = lambda *_: None
    secrets: Callable[[Iterable[str]], list[Secret]] = lambda _: []
    roots: tuple[Head, ...] = ()
    replays: int = 0
    isolation: Isolation = DEFAULT_ISOLATION
    open_backend: Callable[[Tournament], Backend] = lambda _: LocalBackend(1)
    removed: frozenset[str] = frozenset()


DEFAULT: Final = AuditOptions()
"""The default settings: check in this process, report no progress."""


def audit(
    store: MatchStore, bots: BotStore, leagues: tuple[str, ...], options: AuditOptions = DEFAULT
) -> Iterator[AuditLine]:
    """Yield findings about the database, the history, each league, and, if these are all, matches of no league.

    Jobs are played again if `options.replays`. Damage of the store ends a part, and is a finding. SpecError for an
    unknown league.
    """
    options = options._replace(removed=bots.removed())
    yield from _audit_part("database", _audit_database(store))
    yield from _audit_part("history", audit_history(store, options.roots))
    states: dict[str, LeagueState] = {}
    for name in leagues:
        yield from _audit_part(name, _audit_bots(store, bots, name, states, options.removed))
        if name in states:
            yield from _audit_part(name, _audit_matches(store, states[name], options))
            yield from _audit_part(name, _audit_standings(store, states[name]))
            yield from _audit_part(name, _audit_runs(store, name))
        if name in states and options.replays:
            yield from _audit_part(name, _audit_by_replay(store, bots, states[name], options))
    if set(leagues) == set(store.leagues()):
        yield from _audit_part("no league", _audit_orphans(store, states.values(), options))


def _audit_part(name: str, part: Iterator[AuditLine]) -> Iterator[AuditLine]:
    """Yield the findings of a part, each after `name: `; a DamagedStore that ends the part is one more."""
    try:
        for is_problem, text in part:
            yield is_problem, f"{name}: {text}"
    except DamagedStore as error:
        yield True, f"{name}: {error}"


def _audit_database(store: MatchStore) -> Iterator[AuditLine]:
    """Check the file with SQLite, and that matches and records belong together."""
    damage = store.integrity_errors()
    loose, bare = store.orphans_of("record", "block"), store.orphans_of("block", "record")
    yield from ((True, error) for error in damage)
    if not damage:
        yield False, "SQLite finds it sound"
    if loose:
        yield True, f"{counted(loose, 'record has', 'records have')} no match"
    if bare:
        yield True, f"{counted(bare, 'match has', 'matches have')} no record"


def _audit_bots(
    store: MatchStore, bots: BotStore, name: str, states: dict[str, LeagueState], removed: frozenset[str]
) -> Iterator[AuditLine]:
    """Check the bots of a league, and name matches that cannot be played again; add its state to `states`."""
    known = {(player.name, player.bot.digest): player.bot for one in store.tournaments(name) for player in one.players}
    changed = set(bots.find_changed({bot.digest for bot in known.values()}))
    for bot in known.values():
        if bot.digest in changed - removed:
            yield True, f"bot {bot.label} is missing or no longer has its hash"
    if not changed:
        yield False, f"{len(known)} bots have their hashes"
    if gone := changed & removed:
        all_spans = (span for one in store.tournaments(name) for span in state_of(one, store.ranks).spans)
        spans = {span.pairing.key: span for span in all_spans}.values()
        for bot in (bot for bot in known.values() if bot.digest in gone):
            theirs = (span for span in spans if bot.digest in {player.bot.digest for player in span.pairing.players})
            count = counted(sum(span.ranks.matches for span in theirs), "match", "matches")
            yield False, f"{count} of {bot.label} cannot be played again: its author was removed"
    states[name] = state_of(store.with_book(store.league(name)), store.ranks)


def _audit_matches(store: MatchStore, state: LeagueState, options: AuditOptions) -> Iterator[AuditLine]:
    """Check each match of a league against its record and rules, and count matches, records and blocks."""
    tournament = state.tournament
    by_key = {span.pairing.key: span.pairing for span in state.spans}
    secrets = _secrets_of(tournament, options)
    tasks = (task_of(tournament, by_key[match.key.pairing], match, secrets) for match in store.matches(state.blocks))
    text = f"{{}} of {counted(state.scheduled, 'match', 'matches')} replayed"
    checked = yield from _audit_tasks(tournament.name, tasks, options, state.stored, text.format)
    seen = Counter(result.key[:2] for result in store.results(state.blocks))
    if seen.total() != checked:
        yield True, f"{counted(seen.total(), 'match has', 'matches have')} {counted(checked, 'record')}"
    incomplete = sum(count != tournament.seats for count in seen.values())
    if incomplete:
        yield True, f"{counted(incomplete, 'block lacks', 'blocks lack')} a match"


def _audit_by_replay(
    store: MatchStore, bots: BotStore, state: LeagueState, options: AuditOptions
) -> Iterator[AuditLine]:
    """Play some jobs of a league again, and compare their actions with the stored ones."""
    secrets, backend = _secrets_of(state.tournament, options), options.open_backend(state.tournament)
    on_progress = partial(options.on_progress, f"{state.tournament.name}, played again")
    yield from audit_by_replay(store, bots, state, secrets, options.replays, options.isolation, backend, on_progress)


def _secrets_of(tournament: Tournament, options: AuditOptions) -> list[Secret]:
    """Return the known secrets of the league; a public seed is always known."""
    public = public_secret(tournament)
    return [public] if public is not None else options.secrets(tournament.commitments)


def _audit_orphans(store: MatchStore, leagues: Iterable[LeagueState], options: AuditOptions) -> Iterator[AuditLine]:
    """Check matches of no current league (a changed tournament leaves them), each against its own record."""
    secrets, blocks = list[Secret](), Counter[str]()
    for league in leagues:
        secrets += _secrets_of(league.tournament, options)
        blocks |= Counter(league.blocks)
    tasks = (CheckTask(match, draws_of(match, secrets)) for match in store.orphans(blocks))
    text = "{} of no current league replayed"
    yield from _audit_tasks(
        "no league", tasks, options, 0, lambda count: text.format(counted(count, "match", "matches"))
    )


def _audit_tasks(
    name: str, tasks: Iterable[CheckTask], options: AuditOptions, total: int, summary: Callable[[int], str]
) -> Generator[AuditLine, None, int]:
    """Check matches; yield the problems of each, then remarks about all of them; return the number checked.

    Progress goes to `options.on_progress`, under `name` and out of `total`.
    """
    checked = replayed = 0
    remarks, simulated = Counter[str](), dict[str, ResimulationResult]()
    if total:
        options.on_progress(name, 0, total)
    for checked_match in options.checker(tasks):
        checked += 1
        options.on_progress(name, checked, max(total, checked))
        yield from ((True, f"match {checked_match.match}: {problem}") for problem in checked_match.problems)
        for digest in checked_match.without_stderr:
            if digest in options.removed:
                remarks["the text on stderr of a removed author is gone from {}"] += 1
            else:
                yield True, f"match {checked_match.match}: the text on stderr of the bot {digest[:8]} is gone"
        replayed += checked_match.is_replayed
        remarks.update(checked_match.remarks)
        if (again := checked_match.resimulated) is not None:
            simulated[again.terms] = simulated[again.terms] + again if again.terms in simulated else again
    if checked or total:
        yield False, summary(replayed)
    for text, count in remarks.items():
        yield False, text.replace("{}", counted(count, "match", "matches"), 1)
    yield from ((False, _describe_simulations(again)) for _, again in sorted(simulated.items()))
    return checked


def _describe_simulations(total: ResimulationResult) -> str:
    """Describe how many simulations came out as recorded; with `terms`, by whom, and the farthest result."""
    same, made = total.equal, counted(total.made, "simulation", "simulations")
    if not total.terms:
        return f"{made} made again, {'all' if same == total.made else same} as recorded"
    difference = f"not comparable: simulated by {total.terms}; {same} of {made} come out the same"
    return f"{difference}; the farthest: {total.farthest.text}" if total.farthest else difference


def _audit_standings(store: MatchStore, state: LeagueState) -> Iterator[AuditLine]:
    """Compare ratings with another way to compute them, and published standings with the matches; audit luck."""
    sums = store.sums(state.blocks)
    results = store.in_schedule_order(state.blocks)
    yield _audit_ratings(state.tournament, results)
    table = standings_after(state, sums)
    yield from ((False, sentence) for sentence in luck_audit(table))
    published = store.published_standings(state.tournament.name)
    if published is None:
        yield False, "no standings have been published yet"
        return
    missing = _published_matches(published) - len(results)
    computed = standings_json(table)
    if computed == published:
        yield False, "the published standings are those of the matches"
    elif missing == 0 and _are_nearly_equal(json.loads(computed), json.loads(published)):
        yield False, "the published standings are those of the matches, but for late digits or columns of before"
    elif -len(results) <= missing < 0:
        yield False, "matches were added since the standings were published; run the league again"
    elif missing > 0:
        yield True, f"{counted(missing, 'match is', 'matches are')} missing that the published standings rest on"
    else:
        yield True, "the published standings are not those of the matches"


def _audit_runs(store: MatchStore, name: str) -> Iterator[AuditLine]:
    """Compare the standings at the end of each run of a league with its matches.

    Meanwhile the store hides what came later; in the end it hides nothing.
    """
    snapshots = store.snapshots(name)
    wrong = 0
    try:
        for snapshot in snapshots:
            state = state_of_run(store, snapshot)
            computed = standings_json(standings_after(state, store.sums(state.blocks)))
            if computed != snapshot.standings and not _are_nearly_equal(
                json.loads(computed), json.loads(snapshot.standings)
            ):
                wrong += 1
                yield True, f"run {snapshot.number}: its standings are not those of its matches"
    finally:
        store.hide_later({}, 0)
    if snapshots and not wrong:
        yield False, f"the standings of {counted(len(snapshots), 'run')} are those of the matches"


def _audit_ratings(tournament: Tournament, results: list[MatchResult]) -> AuditLine:
    """Compute the ratings in two ways; return the finding about their difference."""
    names = [player.name for player in tournament.players]
    games = [(result.players, result.ranks) for result in results]
    fast = rate(names, games, tournament.rating)
    slow = rate_by_factor_graph(names, games, tournament.rating)
    apart = max(abs(fast[name].mu - slow[name].mu) + abs(fast[name].sigma - slow[name].sigma) for name in names)
    if apart > RATING_TOLERANCE:
        return True, f"two ways to compute the ratings differ by {apart:.2g}"
    return False, "ratings agree with the factor graph of the trueskill package"


def _are_nearly_equal(first: Any, second: Any) -> bool:
    """Return True if two JSON values are equal but for late digits, and columns that only one version has."""
    match first, second:
        case (float(), float() | int()) | (int(), float()):
            return math.isclose(first, second, rel_tol=LATE_DIGITS, abs_tol=LATE_DIGITS)
        case dict(), dict():
            return all(_are_nearly_equal(first[key], second[key]) for key in first.keys() & second.keys())
        case list(), list():
            return len(first) == len(second) and all(map(_are_nearly_equal, first, second))
    return bool(first == second)


def _published_matches(published: bytes) -> int:
    """Return the number of matches that published standings state; -1 if they cannot be read."""
    try:
        count = json.loads(published)["matches"]
    except (ValueError, KeyError, TypeError):
        return -1
    return count if isinstance(count, int) else -1
