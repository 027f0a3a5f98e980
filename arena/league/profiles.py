"""The profile of a player, by the stored matches of a league."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from arena.errors import CheckFailed, SpecError
from arena.games import load_game
from arena.games.api import value_of
from arena.league.history import EndedRun
from arena.league.standings import entrants
from arena.league.state import LeagueState
from arena.league.tournament import Tournament
from arena.match.line_recorder import split_ignored
from arena.match.record import MatchRecord
from arena.match.results import MatchResult, record_of
from arena.standings.luck_adjustment import ADJUSTABLE_SEATS, common_luck_version
from arena.standings.match_table import match_table
from arena.standings.mistakes import PlayerMistakes
from arena.standings.profile import Profile, ProfileLine, adjust_for_luck, profile
from arena.standings.rows import Row
from arena.standings.sums import PairingSums, sums_of
from arena.standings.table import Standings, Timing, timing

_LOOKED_AT: Final = 10
"""Pairings in whose first blocks fields that were ignored are looked for."""


class ProfilePage(msgspec.Struct, frozen=True):
    """A player's profile with their row and their use of time as the leaderboard has them.

    `ranking_size` is how many players share the ranking of the row: those whom matches connect. `no_luck_reason`
    says why there is no luck-adjusted score, if there is none; if it `is_luck_asked` for, tables have its column.
    `ignored`: a sentence for each field of the bot's messages that arena/1 does not have.
    """

    league: str
    arguments: tuple[str, ...]
    row: Row
    ranking_size: int
    timing: Timing
    profile: Profile
    no_luck_reason: str = ""
    is_luck_asked: bool = False
    ignored: tuple[str, ...] = ()

    @property
    def sections(self) -> list[tuple[str, Sequence[ProfileLine]]]:
        """The tables that have rows, by their names."""
        tables = self.profile
        sections = (("opponent", tables.opponents), ("seat", tables.seats), ("tenth", tables.tenths))
        return [(section, lines) for section, lines in sections if lines]


class BotReport(msgspec.Struct, frozen=True):
    """The results of a bot for its author: profile, `faulty` matches with a fault of it, and the cost of its decisions.

    `late`: as of a grade. Records are of all seats: whoever lays them out shows the seat of the bot alone.
    """

    page: ProfilePage
    faulty: tuple[MatchRecord, ...]
    mistakes: PlayerMistakes | None
    late: str | None = None


class AuthorReport(msgspec.Struct, frozen=True):
    """The report for an author on their bots. `judge`: whose opinion the costs of decisions are; empty without one.

    `runs`: the runs of the league that have ended.
    """

    author: str
    standings: Standings
    judge: str
    bots: tuple[BotReport, ...]
    runs: tuple[EndedRun, ...] = ()


def player_profile(
    state: LeagueState,
    name: str,
    table: Standings,
    sums: PairingSums,
    measure: Callable[[Mapping[str, int], int], Iterator[MatchResult]] | None = None,
) -> ProfilePage:
    """Compute the profile of a player of the league, whose `table` and `sums` are of all its stored matches.

    `measure` replays matches whose luck is not stored, by the blocks of each pairing and their number in all, and
    gives their results with luck.
    """
    (row,) = (row for row in table.rows if row.name == name)
    (player,) = (player for player in state.tournament.players if player.name == name)
    (use,) = timing([entrant for entrant in entrants(state.tournament) if entrant.name == name], sums)
    blocks = {span.pairing.key: span.blocks for span in state.spans if name in span.pairing.names}
    numbers = profile(row, sums.table.of_player(name))
    if measure is not None and not common_luck_version(sums, name):
        sums = sums_of(match_table(measure(blocks, row.matches)))
    numbers = adjust_for_luck(numbers, name, sums)
    reason = luck_obstacle(state.tournament) or (
        "other blocks of these matches do not show that it tells more than the plain one"
        if common_luck_version(sums, name)
        else "the luck of all its matches by one value function is not stored; --luck measures it"
    )
    size = sum(other.group == row.group for other in table.rows)
    return ProfilePage(
        state.tournament.name, player.arguments, row, size, use, numbers, reason, is_luck_asked=measure is not None
    )


def ignored_fields(
    state: LeagueState, name: str, read: Callable[[Mapping[str, int]], Iterator[MatchResult]]
) -> tuple[str, ...]:
    """Return a sentence for each field of a player's bot that was ignored in its first matches against ten others.

    `read` gets a number of blocks for each pairing, and returns their matches with records.
    """
    keys = [span.pairing.key for span in state.spans if name in span.pairing.names]
    counts = Counter[str]()
    for match in read(dict.fromkeys(keys[:_LOOKED_AT], 1)):
        with contextlib.suppress(CheckFailed):  # `verify` names a record that cannot be read
            counts.update(record_of(match).seats[match.players.index(name)].ignored)
    return tuple(split_ignored(counts)[1])


def luck_obstacle(tournament: Tournament) -> str:
    """Return the reason why no match of the league has a luck-adjusted score; empty if there may be one."""
    if tournament.seats > ADJUSTABLE_SEATS:
        return f"that takes matches of {ADJUSTABLE_SEATS} seats, and these have {tournament.seats}"
    try:
        value = value_of(load_game(tournament.game))
    except SpecError:
        return f"this arena does not have {tournament.game}, nor a value of it"
    return "" if value else f"{tournament.game} has no value function, so that luck cannot be told from skill"
