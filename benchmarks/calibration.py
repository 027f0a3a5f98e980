"""Do chances of 70 % come true in seven of ten matches? The ratings of a stored league against its results.

    python benchmarks/calibration.py first --results results

Rule: two-fold cross-validation. The blocks of each pairing are dealt in turn onto two folds, and a fit to each fold
predicts the other. The rating knows seats and TrueSkill does not, so the rating is judged without seats, too. Errors
come from blocks.
"""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace
from tabulate import tabulate

from arena.league.state import state_of
from arena.match.results import PairingRanks
from arena.standings.ranks import in_schedule_order
from arena.standings.ratings import RatingSettings, rate
from arena.standings.skills import model_of
from arena.statistics.comparisons import table_of
from arena.statistics.interval import interval
from arena.statistics.model import Chances, chances_at
from arena.statistics.pairs import comparisons, signs
from arena.statistics.probit import fit
from arena.store.folder import open_store

LEAST_CHANCE: Final = 1e-9
"""The least chance that counts: log loss of a chance of 0 would be infinite."""
Forecaster = Callable[[str, str, tuple[int, int]], Chances]
"""Predicts the first player against the second, in these seats."""
Method = Callable[[Sequence[PairingRanks]], Forecaster]


class Comparison(NamedTuple):
    """Two players of a match: the chances given to the earlier seat, and 0, 1 or 2 for its win, draw or loss."""

    chances: Chances
    came: int

    @property
    def log_loss(self) -> float:
        """-log of the chance of the actual result."""
        return -math.log(max(LEAST_CHANCE, self._of_each()[self.came]))

    @property
    def brier(self) -> float:
        """Half the squared error over win, draw and loss."""
        return sum((chance - (index == self.came)) ** 2 for index, chance in enumerate(self._of_each())) / 2.0

    def _of_each(self) -> tuple[float, float, float]:
        return self.chances.win, self.chances.draw, self.chances.loss


Blocks = list[list[Comparison]]
"""The comparisons of each block."""


def coin(ranks: Sequence[PairingRanks]) -> Forecaster:
    """Learn nothing but the share of draws."""
    counts = Counter(sign for pair in ranks for block in pair.block_ranks for sign in signs(block, len(pair.players)))
    del counts[None]
    draw = (counts[0] + 1.0) / (counts.total() + 3.0)
    return lambda *_: Chances((1.0 - draw) / 2.0, draw, (1.0 - draw) / 2.0)


def rating(names: Sequence[str], settings: RatingSettings, *, knows_seats: bool = True) -> Method:
    """Fit all matches at once, and predict with the doubt about the skills taken in."""
    model = model_of(settings) if knows_seats else replace(model_of(settings), seat_sigma=0.0)

    def learn(ranks: Sequence[PairingRanks]) -> Forecaster:
        skills = fit(table_of(names, ranks), model)
        effects = skills.seat_effects or (0.0,) * len(ranks[0].players)

        def predict(one: str, other: str, seats: tuple[int, int]) -> Chances:
            difference, error = skills.difference(one, other)
            seated = difference + effects[seats[0]] - effects[seats[1]]
            return chances_at(seated, math.hypot(model.scale, error), model.margin)

        return predict

    return learn


def trueskill(names: Sequence[str], settings: RatingSettings) -> Method:
    """Rate match after match, in the order of the schedule."""
    model = model_of(settings)

    def learn(ranks: Sequence[PairingRanks]) -> Forecaster:
        ratings = rate(names, in_schedule_order(ranks), settings)

        def predict(one: str, other: str, _: tuple[int, int]) -> Chances:
            first, second = ratings[one], ratings[other]
            scale = math.sqrt(model.scale**2 + first.sigma**2 + second.sigma**2)
            return chances_at(first.mu - second.mu, scale, model.margin)

        return predict

    return learn


def methods(names: Sequence[str], settings: RatingSettings) -> dict[str, Method]:
    """Return all methods by name."""
    return {
        "rating": rating(names, settings),
        "rating without seats": rating(names, settings, knows_seats=False),
        "TrueSkill (no seats)": trueskill(names, settings),
        "coin": coin,
    }


def predict_halves(ranks: Sequence[PairingRanks], method: Method) -> Blocks:
    """Predict each half of the blocks from a fit to the other half."""
    folds: tuple[list[PairingRanks], list[PairingRanks]] = [], []
    count = 0
    for pairing in ranks:
        for fold in (0, 1):
            start = (fold - count) % 2
            dealt = PairingRanks(pairing.players, [*pairing.blocks][start::2], "".join(pairing.block_ranks[start::2]))
            folds[fold].extend([dealt] if dealt.blocks else [])
        count += len(pairing.block_ranks)
    return [block for fold in (0, 1) for block in _forecasts(folds[fold], method(folds[1 - fold]))]


def _forecasts(ranks: Iterable[PairingRanks], forecast: Forecaster) -> Iterable[list[Comparison]]:
    for pairing in ranks:
        rows = comparisons(len(pairing.players))
        pairs = [sorted([(row.first_seat, row.first), (row.second_seat, row.second)]) for row in rows]
        chances = [forecast(pairing.players[a], pairing.players[b], (seat, other)) for (seat, a), (other, b) in pairs]
        turns = [1 if row.first_seat < row.second_seat else -1 for row in rows]
        for block_ranks in pairing.block_ranks:
            block = zip(chances, turns, signs(block_ranks, len(pairing.players)), strict=True)
            yield [Comparison(chance, 1 - sign * turn) for chance, turn, sign in block if sign is not None]


def mean(blocks: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the mean of all values and its standard error, from blocks; NaN without enough of them."""
    sizes = [len(block) for block in blocks if block]
    if not sizes:
        return math.nan, math.nan
    value = sum(map(math.fsum, blocks)) / sum(sizes)
    squares = math.fsum((math.fsum(block) - value * len(block)) ** 2 for block in blocks)
    return value, math.sqrt(squares * len(sizes) / (len(sizes) - 1)) / sum(sizes) if len(sizes) > 1 else math.nan


def tenths(blocks: Blocks) -> list[tuple[str, float, float, float, int]]:
    """Sort by predicted score into tenths; return for each: mean, actual score, error of their difference, count."""
    rows = []
    for tenth in range(10):
        selected = [[match for match in block if min(9, int(10 * match.chances.score)) == tenth] for block in blocks]
        predicted_score, _ = mean([[match.chances.score for match in block] for block in selected])
        came, _ = mean([[1.0 - match.came / 2.0 for match in block] for block in selected])
        _, error = mean([[1.0 - match.came / 2.0 - match.chances.score for match in block] for block in selected])
        rows.append((f"{10 * tenth} to {10 * tenth + 10} %", predicted_score, came, error, sum(map(len, selected))))
    return rows


def main() -> None:
    """Print the methods, the best first, and the tenths of the rating and of TrueSkill."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("league")
    parser.add_argument("--results", type=Path, default=Path("results"))
    options = parser.parse_args()
    with open_store(options.results) as store:
        state = state_of(store.league(options.league), store.ranks)
    ranks, names = [span.ranks for span in state.spans], [player.name for player in state.tournament.players]
    all_methods = methods(names, state.tournament.rating)
    forecasts = {name: predict_halves(ranks, method) for name, method in all_methods.items()}
    losses = {name: [[match.log_loss for match in block] for block in blocks] for name, blocks in forecasts.items()}
    order = sorted(forecasts, key=lambda name: mean(losses[name])[0])
    rows = []
    for name in order:
        pairs = zip(losses[name], losses[order[0]], strict=True)
        value, error = mean([[loss - best_loss for loss, best_loss in zip(*block, strict=True)] for block in pairs])
        behind = interval(value, error, degrees=len(losses[name]) - 1.0) if error > 0 else None
        brier, _ = mean([[match.brier for match in block] for block in forecasts[name]])
        rows.append((name, *mean(losses[name]), value, behind and behind.low, behind and behind.high, brier))
    print(tabulate(rows, ("method", "log-loss", "+-", "behind", "low", "high", "Brier"), floatfmt=".4f"))
    for name in ("rating", "TrueSkill (no seats)"):
        print(f"\n{name}, by tenths of the predicted score of the earlier seat")
        print(tabulate(tenths(forecasts[name]), ("predicted", "mean", "came", "+-", "of"), floatfmt=".3f"))


if __name__ == "__main__":
    main()
