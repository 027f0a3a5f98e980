"""What is played, in which order: fixtures computed from a tournament, and the chunks that workers get.

Rule: pure functions. A fixture's id and seed depend only on what its matches depend on: game, options, clock, limits,
master seed, the two players and the number of the block. So a league may be stopped, resumed, lengthened or joined by
another player, and every fixture already played keeps its place.
"""

import math
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

import msgspec

from arena.games import load_game
from arena.games.luck import derive
from arena.league.tournament import SEATS, Player, Tournament
from arena.match.terms import ClockSettings, MatchSpec, Setting
from arena.process.limits import DEFAULT_ISOLATION, Isolation, Limits

KEY_LENGTH: Final = 12


class Pairing(msgspec.Struct, frozen=True):
    """Players who meet, in the order of their names; `key` identifies all that their matches depend on."""

    key: str
    players: tuple[Player, ...]


class Fixture(msgspec.Struct, frozen=True):
    """A block to be played: the matches with the luck of `seed`, one for each rotation of the seats."""

    pairing: str
    block: int
    seed: str

    def match_id(self, rotation: int) -> str:
        """The id of the match in which seat s belongs to player (s + rotation) mod n of the pairing."""
        return f"{self.pairing}-{self.block}-{rotation}"


class Chunk(msgspec.Struct, frozen=True):
    """Fixtures of one pairing that one worker plays in a row, with bots started once. `attempt` counts from 1."""

    tournament: str
    game: str
    options: dict[str, Any]
    clock: ClockSettings
    pairing: Pairing
    fixtures: tuple[Fixture, ...]
    limits: Limits = Limits()
    isolation: Isolation = DEFAULT_ISOLATION
    attempt: int = 1

    @property
    def setting(self) -> Setting:
        """What its matches have in common."""
        return Setting(self.game, self.options, self.clock, self.limits)


def pairings(tournament: Tournament) -> tuple[Pairing, ...]:
    """Every pair of players once, in the rounds of the circle method, so that nobody waits long for a match."""
    order = circle_method(len(tournament.players))
    return tuple(_pairing(tournament, (tournament.players[i], tournament.players[j])) for i, j in order)


def circle_method(count: int) -> list[tuple[int, int]]:
    """All pairs of 0..count-1, round by round: one stays, the others rotate; in each round nobody plays twice."""
    ring: list[int | None] = list(range(count)) + ([None] if count % 2 else [])
    size = len(ring)
    pairs: list[tuple[int, int]] = []
    for _ in range(size - 1):
        for a, b in zip(ring[: size // 2], reversed(ring[size // 2 :]), strict=True):
            if a is not None and b is not None:
                pairs.append((min(a, b), max(a, b)))
        ring[1:] = [ring[-1], *ring[1:-1]]
    return pairs


def fixture(tournament: Tournament, pairing: Pairing, block: int) -> Fixture:
    """The block of that number of a pairing."""
    return Fixture(pairing=pairing.key, block=block, seed=derive("block", tournament.seed, pairing.key, block))


def chunks(
    tournament: Tournament, finished: Mapping[str, set[int]], isolation: Isolation = DEFAULT_ISOLATION
) -> Iterator[Chunk]:
    """What is left to play, in schedule order; `finished` holds the stored blocks by pairing key.

    Chunks are cut at multiples of `chunk_blocks`, whatever is finished and however many workers there are. So a bot's
    process meets the same matches in the same order in every run that nothing cuts short. It meets fewer of them, in
    the same order, after a stop, a void block or a worker's death, and where a chunk takes so long that a worker hands
    it back half played: its rest then starts with new processes. A bot that keeps nothing from match to match plays
    the same in all these cases.
    """
    size = tournament.chunk_blocks
    pairs = pairings(tournament)
    for start in range(0, tournament.cycles, size):
        for pairing in pairs:
            done = finished.get(pairing.key, set())
            blocks = [block for block in range(start, min(start + size, tournament.cycles)) if block not in done]
            if blocks:
                yield Chunk(
                    tournament=tournament.name,
                    game=tournament.game,
                    options=tournament.options,
                    clock=tournament.clock,
                    pairing=pairing,
                    fixtures=tuple(fixture(tournament, pairing, block) for block in blocks),
                    limits=tournament.limits,
                    isolation=isolation,
                )


def match_spec(setting: Tournament | Chunk, planned: Fixture, rotation: int, isolation: Isolation) -> MatchSpec:
    """What the referee is told of the match of `planned` with that rotation of the seats."""
    return MatchSpec(
        match=planned.match_id(rotation),
        game=setting.game,
        options=setting.options,
        seed=planned.seed,
        clock=setting.clock,
        isolation=isolation,
    )


def match_count(tournament: Tournament) -> int:
    """Matches of the whole tournament: every seating of every block of every pairing."""
    return math.comb(len(tournament.players), SEATS) * tournament.cycles * SEATS


def _pairing(tournament: Tournament, players: tuple[Player, ...]) -> Pairing:
    ordered = tuple(sorted(players, key=lambda player: player.name))
    identity = {
        "format": "arena-fixture/1",
        "game": tournament.game,
        "rules": load_game(tournament.game).rules_version,
        "options": tournament.options,
        "clock": tournament.clock,
        "limits": tournament.limits,
        "seed": tournament.seed,
        "players": [[player.name, player.bot.digest, list(player.arguments)] for player in ordered],
    }
    digest = sha256(msgspec.json.encode(identity, order="deterministic")).hexdigest()
    return Pairing(key=digest[:KEY_LENGTH], players=ordered)
