"""Stored matches -> a player's scores with the luck of dice and cards excluded.

Rule: what is taken from a score has mean 0, whatever the bots do, so that the mean stays and only its error shrinks.
That holds for any value of the game and any factor b on it that were fixed before:

    score without luck = score - b * luck

The value is frozen with its version. The factor is fitted, but never by the blocks it is used on: each half of the
blocks gets that of the other half. It makes up for a value that says too much, or too little.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from arena.errors import SpecError
from arena.games import load_game
from arena.games.doors import value_of
from arena.league.tournament import Tournament
from arena.match.luck_sum import luck_of
from arena.match.record import PackedRecord, unpack
from arena.match.results import LUCK_UNIT, MatchResult
from arena.report.means import Value, by_pairing
from arena.standings.luck_adjustment import SEATS

LEAST_BLOCKS: Final = 20
_NO_LUCK: Final = 1e-12


def insist_on_value(tournament: Tournament, results: Iterable[MatchResult]) -> None:
    """SpecError if nobody knows what luck is in this game, or in matches of so many."""
    if any(len(one.players) > SEATS for one in results):
        raise SpecError(f"--luck: expected matches of {SEATS} seats, found more")
    if value_of(load_game(tournament.game)) is None:
        raise SpecError(f"--luck: {tournament.game} has no value function, so that luck cannot be told from skill")


def stored_luck(player: str, results: Sequence[MatchResult], ids: Sequence[str]) -> dict[str, float]:
    """The luck of `player` in each of its matches, by id, as it was measured when these were played.

    Empty unless all of them are of two and have their luck, under one version of the value.
    """
    own = [(one, match) for one, match in zip(results, ids, strict=True) if player in one.players]
    versions = {one.luck_version for one, _ in own}
    if len(versions) != 1 or "" in versions or any(len(one.players) > SEATS for one, _ in own):
        return {}
    return {match: one.luck[one.players.index(player)] / LUCK_UNIT for one, match in own}


def measured(player: str, records: Iterable[PackedRecord]) -> dict[str, float]:
    """The luck of `player` in each of its matches of two, by id. CheckFailed for a record that cannot be replayed."""
    found = {}
    for record in map(unpack, records):
        names = [seat.player for seat in record.seats]
        if player in names and len(names) == SEATS:
            found[record.match] = luck_of(record).by_seat[names.index(player)]
    return found


def scores_without_luck(
    player: str, results: Sequence[MatchResult], ids: Sequence[str], luck: Mapping[str, float]
) -> dict[str, float]:
    """The score of `player` without luck, by the id of the match; only of matches whose luck is known."""
    scores, lucks, names = [], [], []
    for one, match in zip(results, ids, strict=True):
        if match in luck:
            own, other = one.ranks if one.players[0] == player else reversed(one.ranks)
            scores.append(Value(one.key[:2], one.key.pairing, ((own < other) - (own > other) + 1) / 2))
            lucks.append(Value(one.key[:2], one.key.pairing, luck[match]))
            names.append(match)
    half = _halves(scores)
    factors = {
        side: _factors([pair for pair in zip(scores, lucks, strict=True) if half[pair[0].block] != side])
        for side in (0, 1)
    }
    return {
        match: score.value - factors[half[score.block]](score.pairing) * lucky.value
        for match, score, lucky in zip(names, scores, lucks, strict=True)
    }


def _halves(values: Iterable[Value]) -> dict[Any, int]:
    """Deal the blocks of each pairing onto two halves; of complete ones these are the halves of the leaderboard."""
    return {block: place % 2 for own in by_pairing(values).values() for place, block in enumerate(own)}


def _factors(other_half: Sequence[tuple[Value, Value]]) -> Callable[[Any], float]:
    """How much of a score goes with luck, by pairing: between equals luck decides, a far better player wins anyway.

    It is the slope over blocks about their mean. Pairings of few blocks have that of all together.
    """
    sums: defaultdict[tuple[Any, Any], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for score, lucky in other_half:
        block = sums[score.pairing, score.block]
        block[0] += score.value
        block[1] += lucky.value
    blocks: defaultdict[Any, list[list[float]]] = defaultdict(list)
    for (pairing, _), block in sums.items():
        blocks[pairing].append(block)
    parts = {pairing: _products(own) for pairing, own in blocks.items()}
    common = _slope([*parts.values()], 1.0)
    own = {pairing: _slope([part], common) for pairing, part in parts.items()}
    return lambda pairing: own.get(pairing, common)


def _products(own: Sequence[Sequence[float]]) -> tuple[int, float, float]:
    """The blocks of a pairing: their number, the sum of score times luck about the means, and that of luck squared."""
    mean, mean_luck = (math.fsum(column) / len(own) for column in zip(*own, strict=True))
    product = math.fsum((block[0] - mean) * (block[1] - mean_luck) for block in own)
    return len(own), product, math.fsum((block[1] - mean_luck) ** 2 for block in own)


def _slope(parts: Iterable[tuple[int, float, float]], otherwise: float) -> float:
    """That of these pairings together; `otherwise` if they have too few blocks, or no luck that varies."""
    blocks, product, square = (math.fsum(column) for column in zip((0, 0.0, 0.0), *parts, strict=True))
    return product / square if blocks >= LEAST_BLOCKS and square > _NO_LUCK else otherwise
