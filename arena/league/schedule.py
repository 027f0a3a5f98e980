"""The matches of a league in their order: rounds of fixtures of a tournament, and the jobs that workers get.

Rule: pure functions. A fixture's id depends only on what its matches depend on: game, options, clock, limits, the
commitment under which the league was begun, its players and the number of the block. So a league may be stopped,
resumed, lengthened or joined by another player, and every fixture already played keeps its place.

Every schedule is a sequence of rounds. Those of a swiss, a knockout and of `until: decided` depend on results, so a
round is known when all rounds before it are complete. A pairing's blocks are numbered from 0 in the order of its
rounds; so what a league has of a pairing is always its first blocks.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice, permutations
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from arena.games import load_game
from arena.league.openings import Openings, draw_with_opening
from arena.league.schedules import Plan, ScheduleGenerator, TableNames, tables
from arena.league.schedules.knockout import knockout
from arena.league.schedules.settings import Gauntlet, Knockout, Swiss, stopping_rule
from arena.league.schedules.swiss import swiss
from arena.league.tournament import DEFAULT_SEATS, Player, Tournament, luck_origin, public_secret
from arena.match.secret_luck import BlockDraw, Secret
from arena.match.settings import MatchSettings
from arena.plugins import Package
from arena.process.limits import DEFAULT_ISOLATION, Isolation
from arena.process.manifest import BotSpec

KEY_LENGTH: Final = 12


class Pairing(msgspec.Struct, frozen=True, gc=False):
    """Players who meet at a table: two in the order of their names, more in an order that the key draws.

    `key` identifies all that their matches depend on.
    """

    key: str
    players: tuple[Player, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the players, in the order of the pairing."""
        return tuple([player.name for player in self.players])


class Fixture(msgspec.Struct, frozen=True):
    """A block to be played: the matches with the luck of `draw`, one for each rotation of the seats."""

    pairing: str
    block: int
    draw: BlockDraw

    def match_id(self, rotation: int) -> str:
        """Return the id of the match in which seat s belongs to player (s + rotation) mod n of the pairing."""
        return f"{self.pairing}-{self.block}-{rotation}"


class Job(msgspec.Struct, frozen=True, tag=True):
    """Fixtures of one pairing that one worker plays in a row, with bots started once.

    `attempt` counts from 1. `luck`: whether that of each match is measured. `package`: that of a game which does not
    come with arena; no other version of it plays.
    """

    tournament: str
    settings: MatchSettings
    pairing: Pairing
    fixtures: tuple[Fixture, ...]
    isolation: Isolation = DEFAULT_ISOLATION
    attempt: int = 1
    luck: bool = True
    package: Package | UnsetType = UNSET

    @property
    def key(self) -> tuple[str, int]:
        """The key of the pairing, and the first block: the same whenever the job is played again."""
        return self.pairing.key, self.fixtures[0].block

    @property
    def matches(self) -> int:
        """The number of matches in the job."""
        return len(self.fixtures) * len(self.pairing.players)

    @property
    def digests(self) -> frozenset[str]:
        """The hashes of the bots that play."""
        return frozenset(player.bot.digest for player in self.pairing.players)

    def with_bots(self, copy_of: Callable[[BotSpec], BotSpec]) -> "Job":
        """Return the job with other copies of its bots."""
        players = tuple([replace(player, bot=copy_of(player.bot)) for player in self.pairing.players])
        return replace(self, pairing=replace(self.pairing, players=players))


class Round(msgspec.Struct, frozen=True):
    """A round, played before the schedule looks at results again: `blocks` blocks of each of `pairings`.

    `first` has, by pairing, the number of its first block here. `number` counts rounds from 1; `title` and `news` are
    the words of the schedule.
    """

    number: int
    title: str
    news: tuple[str, ...]
    pairings: tuple[Pairing, ...]
    first: tuple[int, ...]
    blocks: int
    is_awaited: bool

    @property
    def parts(self) -> Iterator[tuple[Pairing, int]]:
        """The pairings, with the number of the first block of each in this round."""
        return zip(self.pairings, self.first, strict=True)

    @property
    def matches(self) -> int:
        """The number of matches of the round: every seating of every block."""
        return sum([len(pairing.players) for pairing in self.pairings]) * self.blocks


def pairings(tournament: Tournament) -> tuple[Pairing, ...]:
    """Return all pairings of a cycle, spread evenly over the players; without cycles, all that can meet."""
    return tuple(map(Planner(tournament).pairing, tables_of(tournament)))


def pairing_of(tournament: Tournament, names: Sequence[str]) -> Pairing:
    """Return the pairing of these players of the tournament."""
    return Planner(tournament).pairing(tuple(names))


def fixture(secret: Secret, pairing: Pairing, block: int, book: Openings | UnsetType = UNSET) -> Fixture:
    """Draw the block of that number of a pairing, under the secret, with an opening of the book."""
    drawn = draw_with_opening(secret, f"{pairing.key}-{block}", len(pairing.players), book)
    return Fixture(pairing=pairing.key, block=block, draw=drawn)


def jobs(
    tournament: Tournament,
    finished: Mapping[str, Collection[int]],
    isolation: Isolation = DEFAULT_ISOLATION,
    *,
    round_: Round | None = None,
    secret: Secret | None = None,
) -> Iterator[Job]:
    """Yield the blocks of a round that are left to play, as jobs; by default those of the first round.

    `finished` has the stored blocks by pairing key.

    Blocks are drawn under `secret`, which may be left out where the tournament has a public seed.

    Jobs are cut at multiples of `chunk_blocks` and at the ends of rounds, whatever is finished, however many workers
    there are and however long they take: which jobs there are follows from the league alone, and each is stored as a
    whole. So a bot's process meets the same matches in the same order in every run, also after a stop. After a void
    match, and after two deaths of a worker, new processes play what is left of a job, in the same order. A bot that
    keeps nothing from match to match plays the same in all these cases.
    """
    secret = secret or public_secret(tournament)
    planned = Planner(tournament).add_round(next(generator_of(tournament))) if round_ is None else round_
    size = tournament.chunk_blocks
    last = max((first + planned.blocks for first in planned.first), default=0)
    for start in range(0, last, size):
        for pairing, first in planned.parts:
            span = range(max(start, first), min(start + size, first + planned.blocks))
            done = finished.get(pairing.key, ())
            blocks = [block for block in span if block not in done]
            if blocks:
                assert secret is not None, "a league without a public seed draws under a secret"
                yield Job(
                    tournament=tournament.name,
                    settings=tournament.settings,
                    pairing=pairing,
                    fixtures=tuple(fixture(secret, pairing, block, tournament.book) for block in blocks),
                    isolation=isolation,
                    luck=tournament.luck,
                    package=tournament.package,
                )


def is_open_ended(tournament: Tournament) -> bool:
    """Return True if the number of matches depends on their results."""
    schedule = tournament.schedule
    return isinstance(schedule, Knockout) or (not isinstance(schedule, Swiss) and stopping_rule(schedule) is not None)


def match_count(tournament: Tournament) -> int:
    """Return the number of matches of the whole tournament; the most where results decide."""
    return most_blocks(tournament) * tournament.seats


class Planner:
    """A planner that turns tables of names into pairings, and counts the blocks of each.

    The identities of all pairings of a tournament are equal but for the players.
    """

    def __init__(self, tournament: Tournament) -> None:
        self._blocks: dict[str, int] = {}
        self._rounds = 0
        self._players = {player.name: player for player in tournament.players}
        self._pairings: dict[TableNames, Pairing] = {}
        identity = {
            "format": tournament.format,
            "game": tournament.game,
            "rules": tournament.rules or load_game(tournament.game).rules_version,
            "options": tournament.options,
            **({"package": tournament.package} if tournament.package else {}),
            "clock": tournament.clock,
            "limits": tournament.limits,
            "commitment": luck_origin(tournament).commitments[0],  # that of the first secret, which stays
            "players": [],
        }
        before = {name: value for name, value in identity.items() if name <= "players"}
        after = {name: value for name, value in identity.items() if name > "players"}
        # Keys are in the order of their names, as in the whole identity: `{..., "players":[` and `],"rules":...}`.
        self._hash_before = sha256(_encode(before)[: -len("]}")])
        self._identity_after = b"]," + _encode(after)[len("{") :]
        self._player_identities = {
            player.name: _encode([player.name, player.bot.digest, list(player.arguments)])
            for player in tournament.players
        }

    def pairing(self, table: TableNames) -> Pairing:
        """Return the pairing of the players of a table, the same for every order of their names."""
        names = tuple(sorted(table))
        if names not in self._pairings:
            identity = self._hash_before.copy()
            identity.update(b",".join([self._player_identities[name] for name in names]) + self._identity_after)
            digest = identity.hexdigest()
            players = tuple([self._players[name] for name in names])
            self._pairings[names] = Pairing(key=digest[:KEY_LENGTH], players=_draw_seating(players, digest))
        return self._pairings[names]

    def add_round(self, plan: Plan) -> Round:
        """Return the plan as the next round, and count its blocks: a pairing goes on where its last round ended."""
        planned = tuple(map(self.pairing, plan.tables))
        first = tuple([self._blocks.get(pairing.key, 0) for pairing in planned])
        self._blocks.update({pairing.key: start + plan.blocks for pairing, start in zip(planned, first, strict=True)})
        self._rounds += 1
        return Round(
            number=self._rounds,
            title=plan.title,
            news=plan.news,
            pairings=planned,
            first=first,
            blocks=plan.blocks,
            is_awaited=plan.is_awaited,
        )


def _encode(value: Any) -> bytes:
    """Encode as JSON, in the same bytes for equal values."""
    return msgspec.json.encode(value, order="deterministic")


def _draw_seating(players: tuple[Player, ...], digest: str) -> tuple[Player, ...]:
    """Return the players in a cyclic order drawn from `digest`; the first stays, for a block plays all rotations."""
    if len(players) == DEFAULT_SEATS:
        return players
    ways = math.factorial(len(players) - 1)
    way = next(islice(permutations(players[1:]), int(digest[KEY_LENGTH:], 16) % ways, None))
    return (players[0], *way)


def generator_of(tournament: Tournament) -> ScheduleGenerator:
    """Return the generator of the tournament's rounds, by the schedule of its file."""
    schedule = tournament.schedule
    names = [player.name for player in tournament.players]
    if isinstance(schedule, Swiss):
        return swiss(names, schedule.rounds)
    if isinstance(schedule, Knockout):
        return knockout(names, schedule.blocks_per_tie, schedule.cap_blocks or schedule.blocks_per_tie)
    rule = stopping_rule(schedule)
    if rule is None:
        return tables.cycles(tables_of(tournament), tournament.cycles)
    from arena.league.schedules.decided import until_decided  # noqa: PLC0415 - numpy is for this schedule only

    return until_decided(names, tables_of(tournament), tournament.cycles, rule, tournament.rating)


def tables_of(tournament: Tournament) -> tuple[TableNames, ...]:
    """Return all tables that can meet: those of one cycle; for schedules without cycles, all pairs."""
    names = [player.name for player in tournament.players]
    if not isinstance(tournament.schedule, Gauntlet):
        return tables.cycle(names, tournament.seats)
    challengers = tournament.schedule.challengers
    return tables.gauntlet(challengers, [name for name in names if name not in challengers], tournament.seats)


def most_blocks(tournament: Tournament) -> int:
    """Return the number of blocks of the whole tournament; the most where results decide."""
    schedule, players = tournament.schedule, len(tournament.players)
    if isinstance(schedule, Swiss):
        return schedule.rounds * (players // 2)
    if isinstance(schedule, Knockout):
        return (players - 1) * (schedule.cap_blocks or schedule.blocks_per_tie)
    rule, blocks = stopping_rule(schedule), tournament.cycles
    if rule is not None:
        blocks += (rule.cap_blocks - blocks) // rule.step_blocks * rule.step_blocks
    return len(tables_of(tournament)) * blocks
