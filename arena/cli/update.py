"""`arena league run` on a league that has begun: it goes on with the bots it began with.

Rule: a match that was played is left behind only after a person was told how many, and agreed.
"""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from arena.errors import DamagedStore, SpecError
from arena.league.state import Replay, state_of
from arena.league.tournament import PlayerEntry, Tournament, portable
from arena.league.update import Loss, changes, loss, loss_sentences
from arena.process.manifest import BotSpec
from arena.store import database
from arena.store.bots import BotStore
from arena.store.matches import MatchStore
from arena.text import counted


class BegunLeagues:
    """The versions of bots with which the leagues of a results folder began; `newer` tells of those passed over."""

    def __init__(self, bots: BotStore, results: Path) -> None:
        self._bots = bots
        self._results = results
        self.newer: list[str] = []
        self._leagues: dict[str, Tournament | None] = {}
        self._begun: dict[str, bool] = {}

    def keep(self, league: str, entry: PlayerEntry, bot: BotSpec) -> BotSpec:
        """The version of `bot` with which the player of this entry began, if it did; `name@hash` in a file is a choice.

        SpecError if that version is not installed any more.
        """
        if "@" in entry.bot and "/" not in entry.bot:
            return bot
        name = entry.name or bot.name
        former = self._former(league, name)
        if former is None or former.name != bot.name or former.digest == bot.digest or not self._is_begun(league):
            return bot
        try:
            found = self._bots.installed(former.digest)
        except SpecError as error:
            raise SpecError(
                f"{error}; league {league} began with it: `--update` takes {bot.label} in its place"
            ) from None
        self.newer.append(f"{name} ({former.label}; there is {bot.label} now)")
        return found

    def _former(self, league: str, player: str) -> BotSpec | None:
        """The bot of that player in the league as it is stored; none of one that was damaged."""
        if league not in self._leagues:
            self._leagues[league] = None
            with self._reading() as store, contextlib.suppress(DamagedStore):
                if store is not None and league in store.leagues():
                    self._leagues[league] = store.league(league)
        former = self._leagues[league]
        return None if former is None else next((each.bot for each in former.players if each.name == player), None)

    def _is_begun(self, league: str) -> bool:
        """Whether any match of the league is stored."""
        former = self._leagues[league]
        if league not in self._begun:
            with self._reading() as store:
                self._begun[league] = bool(store and former and state_of(former, store.ranks).stored)
        return self._begun[league]

    @contextlib.contextmanager
    def _reading(self) -> Iterator[MatchStore | None]:
        connection = database.open_for_reading(self._results)
        if connection is None:
            yield None
            return
        with contextlib.closing(connection):
            yield MatchStore(connection, self._results)


def report_kept_versions(league: str, newer: list[str]) -> None:
    """Say that the league goes on with other versions than those of today."""
    if newer:
        click.echo(
            f"league {league} goes on with the versions it began with: {', '.join(newer)}. `arena league run FILE"
            " --update` takes the new ones (with --dry-run it only says what that drops)",
            err=True,
        )


class Replays:
    """The replays of a command: one of each schedule, whoever asks for it. Later commitments change no schedule."""

    def __init__(self, store: MatchStore) -> None:
        self._store = store
        self._known: dict[bytes, Replay] = {}

    def of(self, tournament: Tournament) -> Replay:
        """The replay of a tournament with installed bots."""
        begun = msgspec.structs.replace(tournament, commitments=tournament.commitments[:1])
        key = msgspec.json.encode(portable(begun))
        if key not in self._known:
            self._known[key] = Replay(tournament, self._store.ranks)
        self._known[key].tournament = tournament
        return self._known[key]


def preview(store: MatchStore, asked: Tournament) -> None:
    """Print what `--update` would change and drop; nothing is played and nothing stored."""
    if asked.name not in store.leagues():
        click.echo(f"league {asked.name} has not begun: nothing is dropped")
        return
    former = store.league(asked.name)
    now = state_of(_begun_as(store, asked), store.ranks)
    _tell(former, asked, loss(state_of(former, store.ranks), now), is_error=False)


def confirm_update(store: MatchStore, replays: Replays, asked: Tournament, *, update: bool, yes: bool) -> None:
    """Go on only if no stored match is left behind, or a person wants that. SpecError otherwise."""
    if asked.name not in store.leagues():
        return
    try:
        former = store.league(asked.name)
    except DamagedStore as error:
        click.echo(f"{error}; it is stored anew from the file", err=True)
        return
    begun = _begun_as(store, asked)
    if msgspec.json.encode(portable(begun)) == msgspec.json.encode(former):
        return
    found = loss(state_of(former, store.ranks), replays.of(begun).state)
    if not found.dropped:
        return
    if not update:
        what = counted(found.dropped, "match does", "matches do")
        raise SpecError(
            f"league {asked.name}: {', '.join(changes(former, begun))}: {what} not belong to it any"
            f" more, of {found.stored} that are stored. `--update` takes the change, `--update --dry-run` only says"
            " what it drops; or undo the change, or give the league another name"
        )
    _tell(former, asked, found, is_error=True)
    if yes:
        return
    if not (sys.stdin is not None and sys.stdin.isatty()):
        raise SpecError("--update drops matches, and there is no terminal to ask at: give --yes to agree")
    if not click.confirm("go on?", err=True):
        raise SpecError(f"nothing was changed: league {asked.name} goes on as it was without --update")


def _begun_as(store: MatchStore, asked: Tournament) -> Tournament:
    """The tournament with the commitments that the league of its name has, or with one that no league has."""
    known = tuple(each.commitment for each in store.secrets(asked.name)) or ("not drawn yet",)
    return asked if asked.seed is not None else msgspec.structs.replace(asked, commitments=known)


def _tell(former: Tournament, asked: Tournament, found: Loss, *, is_error: bool) -> None:
    what = ", ".join(changes(former, asked)) or "nothing changed"
    click.echo(f"league {asked.name}: {what}", err=is_error)
    for sentence in loss_sentences(found):
        click.echo(f"  {sentence}", err=is_error)
