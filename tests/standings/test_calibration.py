"""Benchmark of calibration: scores by hand, forecasts of matches that a method has not seen, honest chances."""

import math
import random
from collections.abc import Mapping, Sequence
from itertools import combinations

import pytest
from calibration import LEAST_CHANCE, Forecaster, Method, mean, methods, predict_halves, tenths
from support.made_matches import pairing_ranks

from arena.match.results import PairingRanks
from arena.standings.ratings import RatingSettings
from arena.statistics.model import Chances

SKILLS = {f"p{place}": 25.0 + 2.0 * place for place in range(6)}
SETTINGS = RatingSettings()


def course(*scores: int) -> str:
    """A mirrored block; the scores of the first place: 1 won, 0 lost."""
    first, second = scores
    return f"{1 - first}{first}{second}{1 - second}"


def league(skills: Mapping[str, float], rng: random.Random, *, blocks: int, first_seat: float) -> list[PairingRanks]:
    """A complete round robin of two, without draws."""
    noise = math.sqrt(2.0) * SETTINGS.beta

    def won(one: str, other: str) -> int:
        return int(rng.gauss(skills[one] - skills[other] + first_seat, noise) > 0.0)

    return [
        pairing_ranks((one, other), [course(won(one, other), 1 - won(other, one)) for _ in range(blocks)])
        for one, other in combinations(sorted(skills), 2)
    ]


def saying(win: float, draw: float = 0.0) -> Method:
    """A method that learns nothing and says this of every match, from the earlier seat."""
    return lambda _league: lambda _one, _other, _seats: Chances(win, draw, 1.0 - win - draw)


@pytest.mark.parametrize(
    ("courses", "method", "log_loss", "brier"),
    [
        ([course(1, 0), course(1, 1)], saying(0.8), -(3 * math.log(0.8) + math.log(0.2)) / 4, (3 * 0.04 + 0.64) / 4),
        ([course(1, 1)], saying(0.5), math.log(2.0), 0.25),
        (["00--"], saying(0.4, 0.2), -math.log(0.2), (0.16 + 0.64 + 0.16) / 2),
        ([course(1, 1)], saying(1.0), -math.log(LEAST_CHANCE) / 2, 0.5),
    ],
    ids=["by-hand", "coin", "draw", "impossible"],
)
def test_the_scores_of_a_forecast_by_hand(courses: list[str], method: Method, log_loss: float, brier: float) -> None:
    found = predict_halves([pairing_ranks(("ann", "bob"), courses)], method)

    assert mean([[each.log_loss for each in block] for block in found])[0] == pytest.approx(log_loss)
    assert mean([[each.brier for each in block] for block in found])[0] == pytest.approx(brier)


def test_nobody_sees_the_matches_that_they_predict() -> None:
    """A method predicts each half of each pairing after seeing the other half only."""
    played = league(SKILLS, random.Random(1), blocks=5, first_seat=0.0)
    seen: list[dict[tuple[str, ...], set[int]]] = []

    def method(learnt: Sequence[PairingRanks]) -> Forecaster:
        seen.append({one.players: set(one.blocks) for one in learnt})
        return lambda _one, _other, _seats: Chances(0.5, 0.0, 0.5)

    assert sum(map(len, predict_halves(played, method))) == 150
    for one in played:
        first, second = (own[one.players] for own in seen)
        assert first | second == set(one.blocks)
        assert not first & second


def test_the_model_that_made_the_matches_is_calibrated() -> None:
    """Its tenths come true; without seats it is as good as TrueSkill and behind; a coin is last."""
    played = league(SKILLS, random.Random(5), blocks=60, first_seat=4.0)
    found = {name: predict_halves(played, method) for name, method in methods([*SKILLS], SETTINGS).items()}

    losses = {name: mean([[each.log_loss for each in block] for block in own])[0] for name, own in found.items()}

    assert min(losses, key=losses.__getitem__) == "rating"
    assert max(losses, key=losses.__getitem__) == "coin"
    assert losses["rating"] < losses["TrueSkill (no seats)"] - 0.02
    assert losses["rating without seats"] == pytest.approx(losses["TrueSkill (no seats)"], abs=0.01)
    for _, said, came, error, count in tenths(found["rating"]):
        assert count < 50 or abs(came - said) < 3 * error
