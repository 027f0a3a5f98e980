"""The audit of a results folder: matches against their seeds, summaries against records, standings against matches.

Rule: it recomputes by another path where there is one (ratings by the factor graph), and it reports every problem it
finds instead of stopping at the first.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from arena.errors import DamagedStore
from arena.games import load_game
from arena.games.doors import value_of
from arena.league.ratings import rate, rate_by_factor_graph
from arena.league.results import MatchSummary, rotate, summarise
from arena.league.schedule import Pairing, fixture, match_count
from arena.league.standings import MatchResult, standings_json
from arena.league.tournament import Player, Tournament
from arena.league.wording import counted
from arena.match.luck_sum import luck_of
from arena.match.record import MatchRecord, unpack
from arena.match.replay import problems
from arena.report.table import scheduled, standings_after
from arena.store.bots import BotStore
from arena.store.matches import MatchStore, StoredMatch

RATING_TOLERANCE: Final = 1e-6
LUCK_TOLERANCE: Final = 2e-6

Finding = tuple[bool, str]
"""Whether it is a problem, and the sentence."""


def audit(store: MatchStore, bots: BotStore, leagues: tuple[str, ...]) -> Iterator[Finding]:
    """The findings about the database as a whole, about each league, and if these are all, about matches of none."""
    yield from _audit_database(store)
    for name in leagues:
        if store.is_edited(name):
            yield True, f"{name}: the stored tournament was edited: it does not have its digest"
        tournament = store.league(name)
        yield from _audit_bots(bots, tournament)
        for part in (_audit_matches, _audit_standings):
            try:
                yield from part(store, tournament)
            except DamagedStore as error:
                yield True, f"{name}: {error}"
    if set(leagues) == set(store.leagues()):
        try:
            yield from _audit_orphans(store, [store.league(name) for name in leagues])
        except DamagedStore as error:
            yield True, f"no league: {error}"


def _audit_database(store: MatchStore) -> Iterator[Finding]:
    try:
        damage = store.integrity_errors()
        loose, bare = store.loose_records(), store.bare_matches()
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


def _audit_bots(bots: BotStore, tournament: Tournament) -> Iterator[Finding]:
    changed = set(bots.changed({player.bot.digest for player in tournament.players}))
    for player in tournament.players:
        if player.bot.digest in changed:
            yield True, f"{tournament.name}: bot {player.bot.label} is missing or no longer has its hash"
    if not changed:
        yield False, f"{tournament.name}: {len(tournament.players)} bots have their hashes"


def _audit_matches(store: MatchStore, tournament: Tournament) -> Iterator[Finding]:
    by_key = {span.pairing.key: span.pairing for span in store.spans(tournament)}
    checked = 0
    for match in store.matches(tournament):
        checked += 1
        for problem in _match_problems(match, tournament, by_key[match.pairing]):
            yield True, f"{tournament.name}: match {match.match_id}: {problem}"
    results = store.results(tournament)
    total = match_count(tournament, results)
    yield False, f"{tournament.name}: {checked} of {counted(total, 'match', 'matches')} replayed"
    yield from _audit_luck(tournament, results)
    yield from _audit_blocks(tournament, results, checked)


def _audit_blocks(tournament: Tournament, results: list[MatchResult], checked: int) -> Iterator[Finding]:
    """Every match needs its record, and every block all its matches."""
    if len(results) != checked:
        yield (
            True,
            f"{tournament.name}: {counted(len(results), 'match has', 'matches have')} {counted(checked, 'record')}",
        )
    seen: dict[int, int] = {}
    for result in results:
        seen[result.block] = seen.get(result.block, 0) + 1
    incomplete = sum(count != tournament.seats for count in seen.values())
    if incomplete:
        yield True, f"{tournament.name}: {counted(incomplete, 'block lacks', 'blocks lack')} a match"


def _audit_orphans(store: MatchStore, leagues: list[Tournament]) -> Iterator[Finding]:
    """Matches of no current league, as a changed tournament leaves them: each against its own record."""
    checked = 0
    for match in store.orphans(leagues):
        checked += 1
        for problem in _match_problems(match):
            yield True, f"no league: match {match.match_id}: {problem}"
    if checked:
        yield False, f"no league: {counted(checked, 'match', 'matches')} of no current league replayed"


def _match_problems(
    match: StoredMatch, tournament: Tournament | None = None, pairing: Pairing | None = None
) -> Iterator[str]:
    """What is wrong with a match by itself, and with its place in a tournament if it has one."""
    try:
        record = unpack(match.record)
    except (ValueError, msgspec.MsgspecError) as error:
        yield str(error)
        return
    if record.match != match.match_id:
        yield f"its record is that of {record.match}"
    if tournament is not None and pairing is not None:
        yield from _misfits(tournament, pairing, match, record)
    if summarise(record) != msgspec.structs.replace(match.summary, luck=(), luck_version=""):
        yield "its summary is not that of its record"
    found = list(problems(record))
    yield from found
    if not found and match.summary.luck_version == _luck_version(record.game) != "":
        yield from _luck_problems(match.summary, summarise(record, luck_of(record)))


def _luck_problems(stored: MatchSummary, measured: MatchSummary) -> Iterator[str]:
    """Luck is measured with floats, so that another machine may round the last digit otherwise."""
    apart = max(abs(one - other) for one, other in zip(stored.luck, measured.luck, strict=True))
    if apart > LUCK_TOLERANCE:
        yield f"its luck is {_numbers(stored.luck)}, measured again {_numbers(measured.luck)}"


def _luck_version(game: str) -> str:
    """The version of the value under which luck can be measured now; empty without one."""
    value = value_of(load_game(game))
    return "" if value is None else value.version


def _numbers(values: Iterable[float]) -> str:
    return " and ".join(f"{value:+.6f}" for value in values)


def _audit_luck(tournament: Tournament, results: list[MatchResult]) -> Iterator[Finding]:
    """How many matches had their luck measured again; that of another version of the value cannot be."""
    current = _luck_version(tournament.game)
    known = Counter(one.luck_version == current for one in results if one.luck_version)
    if known[True]:
        yield False, f"{tournament.name}: the luck of {counted(known[True], 'match', 'matches')} measured again"
    if known[False]:
        what = counted(known[False], "match", "matches")
        yield False, f"{tournament.name}: the luck of {what} is of another version of the value, and not checked"


def _misfits(tournament: Tournament, pairing: Pairing, match: StoredMatch, record: MatchRecord) -> Iterator[str]:
    """What the record says of its setting, against the tournament."""
    seats: list[Player] = rotate(pairing.players, match.rotation)
    expected = {
        "game": tournament.game,
        "options": tournament.options,
        "seed": fixture(tournament, pairing, match.block).seed,
        "clock": tournament.clock.terms(),
        "seats": [(player.name, player.bot.digest) for player in seats],
    }
    found = {
        "game": record.game,
        "options": record.options,
        "seed": record.seed,
        "clock": record.clock,
        "seats": [(seat.player, seat.bot) for seat in record.seats],
    }
    for name, value in expected.items():
        if found[name] != value:
            yield f"its {name} is {found[name]}, the tournament gives {value}"


def _audit_standings(store: MatchStore, tournament: Tournament) -> Iterator[Finding]:
    again = store.recounted(tournament)
    if again != store.tallied(tournament):
        yield True, f"{tournament.name}: what was added up of its matches is not what they add up to"
    results = store.results(tournament)
    yield from _audit_ratings(tournament, results)
    published = store.published(tournament.name)
    if published is None:
        yield False, f"{tournament.name}: no standings have been published yet"
        return
    computed = standings_json(standings_after(tournament, again, scheduled(store, tournament))[0])
    if computed == published:
        yield False, f"{tournament.name}: the published standings are those of the matches"
    elif 0 <= _matches_in(published) < len(results):
        yield False, f"{tournament.name}: matches were added since the standings were published; run the league again"
    elif _matches_in(published) > len(results):
        missing = _matches_in(published) - len(results)
        what = counted(missing, "match is", "matches are")
        yield True, f"{tournament.name}: {what} missing that the published standings rest on"
    else:
        yield True, f"{tournament.name}: the published standings are not those of the matches"


def _audit_ratings(tournament: Tournament, results: list[MatchResult]) -> Iterator[Finding]:
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
