"""What is played, in which order: rounds of fixtures computed from a tournament, and the chunks that workers get.

Rule: pure functions. A fixture's id depends only on what its matches depend on: game, options, clock, limits, the
commitment under which the league was begun, its players and the number of the block. So a league may be stopped,
resumed, lengthened or joined by another player, and every fixture already played keeps its place.

Every schedule is a sequence of rounds. Those of a swiss, a knockout and of `until: decided` depend on results, so a
round is known when all rounds before it are complete. A pairing's blocks are numbered from 0 in the order of its
rounds; so what a league has of a pairing is always its first blocks.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice, permutations
from typing import Any, Final

import msgspec

from arena.games import load_game
from arena.league.schedules.choice import course_of, most_blocks, tables_of
from arena.league.schedules.plan import Plan, Table
from arena.league.schedules.settings import Knockout, Swiss, decided
from arena.league.tournament import OLD_FORMAT, Player, Tournament, luck_origin, public_secret
from arena.match.results import PairingRanks
from arena.match.secret_luck import BlockDraw, Secret, draw_block
from arena.match.terms import ClockSettings, MatchSpec, Setting, spec_of
from arena.process.limits import DEFAULT_ISOLATION, Isolation, Limits
from arena.standings.table import MatchResult

KEY_LENGTH: Final = 12
_OLD_CLOCK: Final = ("decides", "move_ms", "bank_ms", "wall_ms", "startup_ms", "strict", "ponder")
_OLD_LIMITS: Final = ("memory_mib", "tasks", "processes", "scratch_mib", "line_bytes", "stderr_bytes")


class Pairing(msgspec.Struct, frozen=True):
    """Players who meet at a table: two in the order of their names, more in an order that the key draws.

    `key` identifies all that their matches depend on.
    """

    key: str
    players: tuple[Player, ...]


class Fixture(msgspec.Struct, frozen=True):
    """A block to be played: the matches with the luck of `draw`, one for each rotation of the seats."""

    pairing: str
    block: int
    draw: BlockDraw

    def match_id(self, rotation: int) -> str:
        """The id of the match in which seat s belongs to player (s + rotation) mod n of the pairing."""
        return f"{self.pairing}-{self.block}-{rotation}"


class Chunk(msgspec.Struct, frozen=True):
    """Fixtures of one pairing that one worker plays in a row, with bots started once.

    `attempt` counts from 1. `luck`: whether that of each match is measured.
    """

    tournament: str
    game: str
    options: dict[str, Any]
    clock: ClockSettings
    pairing: Pairing
    fixtures: tuple[Fixture, ...]
    limits: Limits = Limits()
    isolation: Isolation = DEFAULT_ISOLATION
    attempt: int = 1
    luck: bool = True

    @property
    def setting(self) -> Setting:
        """What its matches have in common."""
        return Setting(self.game, self.options, self.clock, self.limits)


class Round(msgspec.Struct, frozen=True):
    """What is played before the schedule looks at results again: `blocks` blocks of each of `pairings`.

    `first` has, by pairing, the number of its first block here. `known` are all pairings up to this round, in the
    order in which they first met. `number` counts rounds from 1; `title` and `news` are the words of the schedule.
    """

    number: int
    title: str
    news: tuple[str, ...]
    pairings: tuple[Pairing, ...]
    first: tuple[int, ...]
    blocks: int
    known: tuple[Pairing, ...]
    is_awaited: bool

    @property
    def matches(self) -> int:
        """Matches of the round: every seating of every block."""
        return sum(len(pairing.players) for pairing in self.pairings) * self.blocks


class Span(msgspec.Struct, frozen=True):
    """What a league has of a pairing: its blocks 0 to `blocks` - 1."""

    pairing: Pairing
    blocks: int


Stored = Callable[[Mapping[str, int]], Mapping[str, PairingRanks]]
"""The ranks of all stored matches of these pairings, by key: of each its blocks below that number."""


def rounds(
    tournament: Tournament, stored: Stored, *, tell: Callable[[Sequence[str]], object] = lambda _: None
) -> Iterator[Round]:
    """The rounds known by now: all complete ones, and the one after them. `tell` hears the news at the end of all.

    `stored` is only asked for rounds on which something depends.
    """
    course = course_of(tournament)
    planner = _Planner(tournament)
    plan = next(course)
    while True:
        planned = planner.plan(plan)
        yield planned
        if not plan.is_awaited:
            return
        played = ranks_of(planned, stored)
        if sum(one.matches for one in played) < planned.matches:
            return
        try:
            plan = course.send(played)
        except StopIteration as end:
            tell(end.value)
            return


def ranks_of(planned: Round, stored: Stored) -> list[PairingRanks]:
    """The ranks of a round as far as it is stored, in the order of its pairings."""
    ends = [first + planned.blocks for first in planned.first]
    found = stored(dict(zip((pairing.key for pairing in planned.pairings), ends, strict=True)))
    parts = zip(planned.pairings, planned.first, ends, strict=True)
    return [_named(pairing, found.get(pairing.key)).between(first, end) for pairing, first, end in parts]


def _named(pairing: Pairing, found: PairingRanks | None) -> PairingRanks:
    """The ranks with the names of the pairing; a store knows none of a pairing of which nothing is stored."""
    names = tuple([player.name for player in pairing.players])
    return PairingRanks(names, found.blocks, found.ranks) if found else PairingRanks(names, (), "")


class _Planner:
    """Turns the names of a schedule into pairings, and counts the blocks that each has had."""

    def __init__(self, tournament: Tournament) -> None:
        self._tournament = tournament
        self._players = {player.name: player for player in tournament.players}
        self._known: dict[Table, Pairing] = {}
        self._blocks: Counter[Table] = Counter()
        self._rounds = 0

    def plan(self, plan: Plan) -> Round:
        """The round of a plan, which comes after those planned before."""
        met = [tuple(sorted(table)) for table in plan.tables]
        for table in met:
            if table not in self._known:
                self._known[table] = _pairing(self._tournament, tuple(self._players[name] for name in table))
        first = tuple(self._blocks[table] for table in met)
        self._blocks.update(dict.fromkeys(met, plan.blocks))
        self._rounds += 1
        return Round(
            number=self._rounds,
            title=plan.title,
            news=plan.news,
            pairings=tuple(self._known[table] for table in met),
            first=first,
            blocks=plan.blocks,
            known=tuple(self._known.values()),
            is_awaited=plan.is_awaited,
        )


def spans(reached: Iterable[Round]) -> tuple[Span, ...]:
    """What is of the league after these rounds, from the first one on: by pairing, in the order of first meetings."""
    blocks: dict[str, int] = {}
    known: tuple[Pairing, ...] = ()
    for each in reached:
        known = each.known
        blocks.update((met.key, start + each.blocks) for met, start in zip(each.pairings, each.first, strict=True))
    return tuple(Span(pairing, blocks[pairing.key]) for pairing in known)


def rounds_after(tournament: Tournament, results: Iterable[MatchResult]) -> tuple[Round, ...]:
    """The rounds known after `results`, which are in schedule order and hold nothing beyond the first open round."""
    by_players: dict[frozenset[str], list[MatchResult]] = {}
    for result in results:
        by_players.setdefault(frozenset(result.players), []).append(result)
    tables = {pairing.key: pairing for pairing in pairings(tournament)}

    def stored(blocks: Mapping[str, int]) -> dict[str, PairingRanks]:
        return {key: found(tuple(player.name for player in tables[key].players), end) for key, end in blocks.items()}

    def found(places: tuple[str, ...], end: int) -> PairingRanks:
        own = by_players.get(frozenset(places), [])[: end * len(places)]
        courses: defaultdict[int, dict[int, str]] = defaultdict(dict)
        numbers = {block: number for number, block in enumerate(dict.fromkeys(one.block for one in own))}
        for one in own:
            courses[numbers[one.block]][places.index(one.players[0])] = "".join(map(str, one.ranks))
        nothing = "-" * len(places)
        ranks = "".join(course.get(rotation, nothing) for course in courses.values() for rotation in range(len(places)))
        return PairingRanks(places, range(len(courses)), ranks)

    return tuple(rounds(tournament, stored))


def pairings(tournament: Tournament) -> tuple[Pairing, ...]:
    """All that can meet, in an order in which nobody waits long: of one cycle, where the schedule has cycles."""
    players = {player.name: player for player in tournament.players}
    return tuple(_pairing(tournament, tuple(players[name] for name in table)) for table in tables_of(tournament))


def fixture(secret: Secret, pairing: Pairing, block: int) -> Fixture:
    """The block of that number of a pairing, drawn under the secret."""
    drawn = draw_block(secret, f"{pairing.key}-{block}", len(pairing.players))
    return Fixture(pairing=pairing.key, block=block, draw=drawn)


def chunks(
    tournament: Tournament,
    finished: Mapping[str, set[int]],
    isolation: Isolation = DEFAULT_ISOLATION,
    *,
    of: Round | None = None,
    secret: Secret | None = None,
) -> Iterator[Chunk]:
    """What is left to play of a round, by default the first; `finished` holds the stored blocks by pairing key.

    Blocks are drawn under `secret`, which may be left out where the tournament has a public seed.

    Chunks are cut at multiples of `chunk_blocks`, whatever is finished and however many workers there are. So a bot's
    process meets the same matches in the same order in every run that nothing cuts short. It meets fewer of them, in
    the same order, after a stop, a void block or a worker's death, and where a chunk takes so long that a worker hands
    it back half played: its rest then starts with new processes. A bot that keeps nothing from match to match plays
    the same in all these cases.
    """
    secret = secret or public_secret(tournament)
    planned = next(rounds(tournament, lambda _: {})) if of is None else of
    size = tournament.chunk_blocks
    last = max((first + planned.blocks for first in planned.first), default=0)
    for start in range(0, last, size):
        for pairing, first in zip(planned.pairings, planned.first, strict=True):
            span = range(max(start, first), min(start + size, first + planned.blocks))
            done = finished.get(pairing.key, set())
            blocks = [block for block in span if block not in done]
            if blocks:
                assert secret is not None, "a league without a public seed draws under a secret"
                yield Chunk(
                    tournament=tournament.name,
                    game=tournament.game,
                    options=tournament.options,
                    clock=tournament.clock,
                    pairing=pairing,
                    fixtures=tuple(fixture(secret, pairing, block) for block in blocks),
                    limits=tournament.limits,
                    isolation=isolation,
                    luck=tournament.luck,
                )


def match_spec(setting: Tournament | Chunk, planned: Fixture, rotation: int, isolation: Isolation) -> MatchSpec:
    """What the referee is told of the match of `planned` with that rotation of the seats."""
    return spec_of(setting.setting, planned.match_id(rotation), planned.draw, rotation, isolation)


def is_open_ended(tournament: Tournament) -> bool:
    """Whether the number of matches depends on their results."""
    schedule = tournament.schedule
    return isinstance(schedule, Knockout) or (not isinstance(schedule, Swiss) and decided(schedule) is not None)


def match_count(tournament: Tournament, results: Iterable[MatchResult] | None = None) -> int:
    """Matches of the whole tournament; where results decide how many: at most, or with `results`, of the known rounds.

    After the last result of a league its known rounds are all its rounds. `results` are as in `rounds_after`.
    """
    if results is not None and is_open_ended(tournament):
        return sum(each.matches for each in rounds_after(tournament, results))
    return most_blocks(tournament) * tournament.seats


def _pairing(tournament: Tournament, players: tuple[Player, ...]) -> Pairing:
    ordered = tuple(sorted(players, key=lambda player: player.name))
    identity = {
        "format": tournament.format,
        "game": tournament.game,
        "rules": tournament.rules or load_game(tournament.game).rules_version,
        "options": tournament.options,
        **_terms_and_luck(tournament),
        "players": [[player.name, player.bot.digest, list(player.arguments)] for player in ordered],
    }
    digest = sha256(msgspec.json.encode(identity, order="deterministic")).hexdigest()
    return Pairing(key=digest[:KEY_LENGTH], players=_around_the_table(ordered, digest))


def _terms_and_luck(tournament: Tournament) -> dict[str, Any]:
    """Clock, limits, and the commitment under which the league was begun, which stays whatever is revealed.

    The pairings of arena 0.1.0 have the seed instead, and nothing of what came later to clock and limits.
    """
    if tournament.format == OLD_FORMAT:
        return {
            "clock": _only(_OLD_CLOCK, tournament.clock),
            "limits": _only(_OLD_LIMITS, tournament.limits),
            "seed": tournament.seed,
        }
    commitment = luck_origin(tournament).commitments[0]
    return {"clock": tournament.clock, "limits": tournament.limits, "commitment": commitment}


def _only(names: Sequence[str], settings: ClockSettings | Limits) -> msgspec.Raw:
    """These settings in this order, which sorting the keys of the identity must not change."""
    return msgspec.Raw(msgspec.json.encode({name: getattr(settings, name) for name in names}))


def _around_the_table(players: tuple[Player, ...], digest: str) -> tuple[Player, ...]:
    """Who sits after whom: drawn, so that it is not always the same names; for two there is one way only."""
    ways = math.factorial(len(players) - 1)
    way = next(islice(permutations(players[1:]), int(digest[KEY_LENGTH:], 16) % ways, None))
    return (players[0], *way)
