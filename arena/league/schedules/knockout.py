"""Knockout: whoever loses a tie is out, until one is left.

Rule: seeds are the order of the file, and the two best can meet in the final only. The field is filled up to a power
of two with byes, which the best seeds get. A tie is decided by the points over all its blocks. While they are equal
another block is played, and after `cap_blocks` blocks the better seed goes on.
"""

from collections import Counter
from collections.abc import Generator, Sequence
from typing import Final

from arena.league.schedules import Plan, ScheduleGenerator, TableNames, half_points, points_text
from arena.match.results import PairingRanks
from arena.text import counted

_STAGES: Final = {2: "final", 4: "semi-finals", 8: "quarter-finals"}


def knockout(players: Sequence[str], blocks_per_tie: int, cap_blocks: int) -> ScheduleGenerator:
    """Plan the rounds of ties; `players` in the order of their seeds."""
    size = 1 << (len(players) - 1).bit_length()
    field: list[str | None] = [players[seed] if seed < len(players) else None for seed in _bracket_order(size)]
    byes = [first or second for first, second in _pair_neighbours(field) if first is None or second is None]
    news: tuple[str, ...] = (f"byes in the first round: {', '.join(map(str, byes))}",) if byes else ()
    seeds = {player: seed for seed, player in enumerate(players)}
    while len(field) > 1:
        stage = _STAGES.get(len(field), f"round of {len(field)}")
        pairs = _pair_neighbours(field)
        ties = [(first, second) for first, second in pairs if first is not None and second is not None]
        winners, news = yield from _plan_stage(ties, stage, (blocks_per_tie, cap_blocks), seeds, news)
        field = [winners.get((first or "", second or ""), first or second) for first, second in pairs]
    return (*news, f"{field[0]} wins the knockout")


def _plan_stage(
    ties: Sequence[TableNames], stage: str, blocks: tuple[int, int], seeds: dict[str, int], news: tuple[str, ...]
) -> Generator[Plan, Sequence[PairingRanks], tuple[dict[TableNames, str], tuple[str, ...]]]:
    """Plan the rounds of one stage, as many as its ties need; return the winner of each tie, and the news."""
    played, cap = blocks
    points: Counter[str] = Counter()
    points += half_points((yield Plan(tuple(ties), played, title=stage, news=news)))
    while level := tuple(tie for tie in ties if points[tie[0]] == points[tie[1]] and played < cap):
        played += 1
        points += half_points((yield Plan(level, 1, title=f"{stage}, {counted(len(level), 'tie')} still level")))
    winners: dict[TableNames, str] = {}
    lines = []
    for tie in ties:
        winner, loser = sorted(tie, key=lambda player: (-points[player], seeds[player]))
        winners[tie] = winner
        how = "" if points[winner] > points[loser] else ", level at the cap, as the better seed"
        lines.append(f"{stage}: {winner} beats {loser} {points_text(points[winner])}:{points_text(points[loser])}{how}")
    return winners, tuple(lines)


def _bracket_order(size: int) -> list[int]:
    """Return the seeds in the order of the bracket: neighbours meet, and the winners of neighbours meet next."""
    order = [0]
    while len(order) < size:
        order = [place for seed in order for place in (seed, 2 * len(order) - 1 - seed)]
    return order


def _pair_neighbours(field: Sequence[str | None]) -> list[tuple[str | None, str | None]]:
    """Return the pairs of neighbours in the bracket."""
    return list(zip(field[::2], field[1::2], strict=True))
