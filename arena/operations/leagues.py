"""Leagues of a results folder, as several operations need them: their state, their bots, their luck."""

import contextlib
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from arena.errors import DamagedStore, SpecError
from arena.league.state import LeagueState, ScheduleRunner, state_of
from arena.league.tournament import Finalists, PlayerEntry, Tournament, without_machine_settings
from arena.match.secret_luck import Secret
from arena.operations.events import Event
from arena.operations.playing import naming_option
from arena.process.manifest import BotSpec
from arena.store.bots import BotStore
from arena.store.folder import open_store
from arena.store.matches import MatchStore, Snapshot
from arena.store.secrets import SecretKeeper
from arena.store.times import utc
from arena.verify.history import state_of_run

if TYPE_CHECKING:
    from arena.standings.table import Standings, Timing


_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


class KeptVersion(Event, frozen=True):
    """A player who goes on with the version with which the league began; `newer` is the current one."""

    player: str
    version: str
    newer: str


def load_league(store: MatchStore, name: str | None) -> LeagueState:
    """Return the state of the league of that name, or of the only one. SpecError lists the known ones.

    `NAME@3` is the league at the end of its third run, `NAME@2026-11-27` at the end of the last run that had ended by
    the end of that day (UTC).
    """
    names = [name] if name else store.leagues()
    if len(names) != 1:
        raise SpecError(f"which league? known: {', '.join(names) or 'none'}")
    league, _, moment = names[0].partition("@")
    if moment:
        return state_of_run(store, snapshot_at(store, league, moment))
    return state_of(store.league(league), store.ranks)


def snapshot_at(store: MatchStore, league: str, moment: str) -> Snapshot:
    """Return the snapshot of that number, or the last one until the end of that day. SpecError lists the known ones."""
    store.league(league)  # an unknown league is reported first
    known = store.snapshots(league)
    for snapshot in reversed(known):
        if moment == str(snapshot.number) or (_DATE.fullmatch(moment) and snapshot.ended_at[: len(moment)] <= moment):
            return snapshot
    runs = ", ".join(f"{snapshot.number} ({snapshot.ended_at[:10]})" for snapshot in known) or "none"
    raise SpecError(f'league {league} has no run "{moment}"; known: {runs}')


def best_players(results: Path, finalists: Finalists) -> list[PlayerEntry]:
    """Return the entries of the best players of a league, the best one first, with the versions that played there.

    SpecError if the league is unknown, or has too few players.
    """
    with naming_option("players: of"), open_store(results) as store:
        state = load_league(store, finalists.of)
        rows = league_table(store, state)[0].rows[: finalists.top]
    if len(rows) < finalists.top:
        raise SpecError(f"players: league {finalists.of} has {len(rows)} players, {finalists.top} are asked for")
    players = {player.name: player for player in state.tournament.players}
    chosen = (players[row.name] for row in rows)
    return [
        PlayerEntry(bot=f"{one.bot.name}@{one.bot.digest}", name=one.name, arguments=one.arguments) for one in chosen
    ]


def is_known(results: Path, league: str) -> bool:
    """Return True if the league is stored in the results folder, which need not exist."""
    with contextlib.suppress(SpecError), open_store(results) as store:
        return league in store.leagues()
    return False


def league_table(store: MatchStore, state: LeagueState) -> "tuple[Standings, tuple[Timing, ...]]":
    """Compute standings and use of time from all stored matches of the league."""
    from arena.league.standings import standings_and_timing  # noqa: PLC0415 - numpy is for tables only

    return standings_and_timing(state, store.sums(state.blocks))


def publish(
    store: MatchStore, state: LeagueState, *, is_closed: bool = False
) -> "tuple[Standings, tuple[Timing, ...]]":
    """Compute the table of a league, and store the standings for `verify`; if the run has ended, also as a snapshot.

    It ends when all its matches are stored, or when it `is_closed`.
    """
    from arena.standings.table import standings_json  # noqa: PLC0415 - see above

    standings, use = league_table(store, state)
    text = standings_json(standings)
    store.save_standings(state.tournament.name, text)
    if (state.is_complete or is_closed) and not state.torn:
        store.add_snapshot(state.tournament, text, datetime.now(UTC).isoformat(timespec="milliseconds"))
    return standings, use


def authors_of(results: Path, tournament: Tournament) -> dict[str, str]:
    """Return the author of each player whose bot was submitted: the owner of its name. Other players are left out."""
    owners = {(bot.name, bot.digest): bot.owner for bot in BotStore(results, results).submissions()}
    bots = {player.name: (player.bot.name, player.bot.digest) for player in tournament.players}
    return {player: owners[bot] for player, bot in bots.items() if bot in owners}


def newer_versions(results: Path, tournament: Tournament) -> dict[str, str]:
    """Return the time of hand-in (UTC, ISO 8601) of the newest version, by name, where a player plays with another one.

    Only players named as their bot count; empty unless the tournament takes new versions.
    """
    newest = {name: (digest, at) for at, name, digest in BotStore(results, results).hand_ins()}
    players = [player.bot for player in tournament.players if tournament.takes_new and player.name == player.bot.name]
    return {
        bot.name: utc(newest[bot.name][1]) for bot in players if newest.get(bot.name, (bot.digest,))[0] != bot.digest
    }


def with_installed_bots(tournament: Tournament, bots: BotStore) -> Tournament:
    """Install the bots of a tournament, building them if necessary; return it with the copies, which do not change."""
    players = tuple(replace(player, bot=bots.install(player.bot)) for player in tournament.players)
    return replace(tournament, players=players)


def with_stored_commitments(store: MatchStore, tournament: Tournament) -> Tournament:
    """Return the tournament with the commitments of the stored league of its name, or with one that no league has.

    A tournament with a public seed is returned as it is.
    """
    commitments = tuple(secret.commitment for secret in store.secrets(tournament.name)) or ("not drawn yet",)
    return tournament if tournament.seed is not None else replace(tournament, commitments=commitments)


def begin_league(
    store: MatchStore,
    results: Path,
    tournament: Tournament,
    secret: Secret | None,
    is_open: Callable[[Tournament], bool],
) -> tuple[Tournament, Secret | None]:
    """Store the tournament with the commitments of its luck; return it, and the secret of new blocks or None.

    `is_open` returns True if the league of a tournament has blocks left to draw.
    """
    tournament, secret = SecretKeeper(store, results).choose(tournament, secret, is_open)
    store.save_league(tournament)
    return tournament, secret


class VersionKeeper:
    """The choice, for each player, of the version of the bot with which its league began.

    `kept` lists the players of whose bots there are newer versions.
    """

    def __init__(self, bots: BotStore, results: Path) -> None:
        self.kept: list[KeptVersion] = []
        self._bots = bots
        self._stored_league = cache(partial(_stored_league, results))
        self._is_begun = cache(partial(_is_begun, results))

    def __call__(self, league: str, entry: PlayerEntry, bot: BotSpec) -> BotSpec:
        """Return the version with which the player of this entry began, if there is one; `name@hash` in a file is kept.

        A player with a newer version is added to `kept`. SpecError if the former version is not installed any more.
        """
        if "@" in entry.bot and "/" not in entry.bot:
            return bot
        name, tournament = entry.name or bot.name, self._stored_league(league)
        former = next((player.bot for player in tournament.players if player.name == name), bot) if tournament else bot
        if former.name != bot.name or former.digest == bot.digest or not self._is_begun(league):
            return bot
        try:
            version = self._bots.read_installed(former.digest)
        except SpecError as error:
            raise SpecError(
                f"{error}; league {league} began with it: `--update` takes {bot.label} in its place"
            ) from None
        self.kept.append(KeptVersion(name, former.label, bot.label))
        return version


def _stored_league(results: Path, name: str) -> Tournament | None:
    """Return the stored league of that name; None if there is none, or if it is damaged."""
    with contextlib.suppress(SpecError, DamagedStore), open_store(results) as store:
        return store.league(name)
    return None


def _is_begun(results: Path, name: str) -> bool:
    """Return True if any match of the stored league is stored."""
    with open_store(results) as store:
        return bool(state_of(store.league(name), store.ranks).stored)


class Schedules:
    """The schedules of tournaments with installed bots, each run once in an operation, whoever asks for it."""

    def __init__(self, store: MatchStore) -> None:
        self._store = store
        self._known: dict[bytes, ScheduleRunner] = {}

    def runner_of(self, tournament: Tournament) -> ScheduleRunner:
        """Return the schedule of a tournament, run against what is stored.

        Tournaments that differ in settings of the machine or in later commitments share one, which gets the latest.
        """
        begun = replace(tournament, commitments=tournament.commitments[:1])  # others change no schedule
        key = msgspec.json.encode(without_machine_settings(begun))
        runner = self._known[key] = self._known.get(key) or ScheduleRunner(tournament, self._store.ranks)
        runner.tournament = tournament
        return runner
