"""`arena league run` on a league that has begun: it goes on with the bots it began with.

Rule: a match that was played is left behind only after a person was told how many, and agreed.
"""

import contextlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import click
import msgspec

from arena.errors import DamagedStore, SpecError
from arena.league.schedule import is_open_ended, match_count
from arena.league.state import Replay, state_of
from arena.league.tournament import Keep, PlayerEntry, Tournament, portable
from arena.league.update import Loss, changes, loss, loss_sentences
from arena.process.manifest import BotSpec
from arena.store.bots import BotStore
from arena.store.folder import stored
from arena.store.matches import MatchStore
from arena.text import counted


def begun_versions(bots: BotStore, results: Path, newer: list[str]) -> Keep:
    """The choice of the versions of bots with which the leagues of a results folder began.

    `newer` gets a line for each bot that is passed over.
    """

    @cache
    def stored_league(name: str) -> Tournament | None:
        """The league as it is stored; none of one that was damaged."""
        with contextlib.suppress(SpecError, DamagedStore), stored(results) as store:
            return store.league(name)
        return None

    @cache
    def is_begun(name: str) -> bool:
        """Whether any match of the league is stored."""
        league = stored_league(name)
        with stored(results) as store:
            return league is not None and bool(state_of(league, store.ranks).stored)

    def keep(league: str, entry: PlayerEntry, bot: BotSpec) -> BotSpec:
        """The version with which the player of this entry began, if it did; `name@hash` in a file is a choice.

        SpecError if that version is not installed any more.
        """
        if "@" in entry.bot and "/" not in entry.bot:
            return bot
        name, known = entry.name or bot.name, stored_league(league)
        former = next((each.bot for each in known.players if each.name == name), None) if known else None
        if former is None or former.name != bot.name or former.digest == bot.digest or not is_begun(league):
            return bot
        try:
            found = bots.installed(former.digest)
        except SpecError as error:
            raise SpecError(
                f"{error}; league {league} began with it: `--update` takes {bot.label} in its place"
            ) from None
        newer.append(f"{name} ({former.label}; there is {bot.label} now)")
        return found

    return keep


def report_kept_versions(league: str, newer: list[str]) -> None:
    """Say that the league goes on with other versions than those of today."""
    if newer:
        click.echo(
            f"league {league} goes on with the versions it began with: {', '.join(newer)}. `arena league run FILE"
            " --update` takes the new ones (with --dry-run it only says what that drops)",
            err=True,
        )


Replays = Callable[[Tournament], Replay]


def replays_of(store: MatchStore) -> Replays:
    """The replays of a command, of tournaments with installed bots: one of each schedule, whoever asks for it."""
    known: dict[bytes, Replay] = {}

    def replay_of(tournament: Tournament) -> Replay:
        begun = msgspec.structs.replace(tournament, commitments=tournament.commitments[:1])  # others change no schedule
        key = msgspec.json.encode(portable(begun))
        replay = known[key] = known.get(key) or Replay(tournament, store.ranks)
        replay.tournament = tournament
        return replay

    return replay_of


def preview(results: Path, asked: Tournament) -> None:
    """Print what `--update` would change and drop; nothing is played and nothing stored."""
    if not is_known(results, asked.name):
        players = counted(len(asked.players), "player")
        click.echo(f"league {asked.name} has not begun: nothing is dropped")
        click.echo(f"  to be played: {matches_in_words(asked, 0)} matches of {players}, game {asked.game}")
        click.echo("  `--plan` in place of `--update --dry-run` plays a sample and tells the time that it will take")
        return
    with stored(results) as store:
        former = store.league(asked.name)
        now = state_of(begun_as(store, asked), store.ranks)
        _tell(former, asked, loss(state_of(former, store.ranks), now), is_error=False)


def is_known(results: Path, league: str) -> bool:
    """Whether the league is stored in the results folder, which need not be there."""
    with contextlib.suppress(SpecError), stored(results) as store:
        return league in store.leagues()
    return False


def matches_in_words(tournament: Tournament, done: int) -> str:
    """`600, 420 of them left`."""
    most = match_count(tournament)
    whole = f"{'at most ' if is_open_ended(tournament) else ''}{most}"
    return f"{whole}, {max(most - done, 0)} of them left" if done else whole


def confirm_update(store: MatchStore, replay_of: Replays, asked: Tournament, *, update: bool, yes: bool) -> None:
    """Go on only if no stored match is left behind, or a person wants that. SpecError otherwise."""
    if asked.name not in store.leagues():
        return
    try:
        former = store.league(asked.name)
    except DamagedStore as error:
        click.echo(f"{error}; it is stored anew from the file", err=True)
        return
    begun = begun_as(store, asked)
    if msgspec.json.encode(portable(begun)) == msgspec.json.encode(former):
        return
    found = loss(state_of(former, store.ranks), replay_of(begun).state)
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


def begun_as(store: MatchStore, asked: Tournament) -> Tournament:
    """The tournament with the commitments that the league of its name has, or with one that no league has."""
    known = tuple(each.commitment for each in store.secrets(asked.name)) or ("not drawn yet",)
    return asked if asked.seed is not None else msgspec.structs.replace(asked, commitments=known)


def _tell(former: Tournament, asked: Tournament, found: Loss, *, is_error: bool) -> None:
    what = ", ".join(changes(former, asked)) or "nothing changed"
    click.echo(f"league {asked.name}: {what}", err=is_error)
    for sentence in loss_sentences(found):
        click.echo(f"  {sentence}", err=is_error)
