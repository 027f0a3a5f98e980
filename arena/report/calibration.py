"""The results of a league -> what each method would have foretold of them, and what came.

Rule: nobody is judged by what they were fitted to: each half of the blocks is foretold from the other half. So a method
has half of the matches that it has in use, and does a little worse here.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from arena.report.formats import (
    UNKNOWN,
    Column,
    aligned,
    csv_text,
    escaped,
    fixed,
    insist_on_format,
    json_text,
    percent,
    signed,
    tabulated,
    wrapped,
)
from arena.report.played import blocks_of, probit_settings
from arena.standings.ratings import Rating, RatingSettings, rate
from arena.standings.table import MatchResult
from arena.statistics.blocks import Block
from arena.statistics.calibration import Bin, Calibration, Forecaster, Method, calibrations, coin_method, probit_method
from arena.statistics.model import Chances, ProbitSettings, chances_at
from arena.strict import printable
from arena.text import counted

COIN: Final = "coin"
MAP: Final = "probit MAP"
TRUESKILL: Final = "TrueSkill"
LEAST_BLOCKS: Final = 20
"""Below, nothing is said in words: errors from a few blocks are no errors."""
SURE: Final = 2.0
"""Standard errors from which on a difference is called one."""
OFF: Final = 3.0
"""Standard errors from which on a tenth is named: of ten, one in forty leagues is so by chance."""
LEAST_OFF: Final = 0.02
"""Less of a score is not worth a word, however many matches prove it."""
_RECORD: Final = ("method", "low", "high", "comparisons", "predicted", "observed", "error")


class Judged(msgspec.Struct, frozen=True):
    """All methods, the one that foretells best first. `blocks` were foretold."""

    league: str
    matches: int
    blocks: int
    methods: tuple[Calibration, ...]


class Tilt(msgspec.Struct, frozen=True):
    """By how much more than foretold the favourites of a method scored, over all tenths, with its standard error."""

    value: float
    error: float


def judged(league: str, players: Sequence[str], results: Sequence[MatchResult], rating: RatingSettings) -> Judged:
    """Let every method foretell the matches it has not seen."""
    played = blocks_of(results)
    methods: dict[str, Method] = {
        COIN: coin_method,
        MAP: probit_method(players, probit_settings(rating)),
        TRUESKILL: trueskill_method(players, rating),
    }
    found = calibrations(played, methods) if played else ()
    return Judged(league, len(results), len(played), tuple(map(_with_sound_errors, found)))


def trueskill_method(players: Iterable[str], rating: RatingSettings) -> Method:
    """Make a method of the one-pass ratings, which foretells with the doubt about both skills taken in."""
    names = tuple(players)
    model = probit_settings(rating)

    def learn(league: Sequence[Block]) -> Forecaster:
        in_order = sorted(league, key=lambda block: block.number)
        ratings = rate(names, (result for block in in_order for result in block.results), rating)
        return _by_ratings(ratings, model)

    return learn


def _by_ratings(ratings: Mapping[str, Rating], model: ProbitSettings) -> Forecaster:
    def foretell(one: str, other: str, seats: tuple[int, int]) -> Chances:  # noqa: ARG001 - it knows no seats
        first, second = ratings[one], ratings[other]
        scale = math.sqrt(model.scale**2 + first.sigma**2 + second.sigma**2)
        return chances_at(first.mu - second.mu, scale, model.margin)

    return foretell


def _with_sound_errors(found: Calibration) -> Calibration:
    """Where nothing surprising came yet, blocks hardly vary: there an error is at least that of the foretold chance."""
    sound = []
    for one in found.bins:
        predicted, error = one.predicted, one.error
        if predicted is not None and error is not None and (one.low <= 0.0 or one.high >= 1.0):
            error = max(error, math.sqrt(predicted * (1.0 - predicted) / one.comparisons))
        sound.append(msgspec.structs.replace(one, error=error))
    return msgspec.structs.replace(found, bins=tuple(sound))


def tilt(found: Calibration) -> Tilt | None:
    """Tell whether favourites did better than foretold; None where no tenth has an error.

    Tenths are taken as independent. Those of mirrored matches are not: where luck decides both, the error is too wide.
    """
    known = [one for one in found.bins if one.error and one.predicted is not None and one.observed is not None]
    total = sum(one.comparisons for one in known)
    if not total:
        return None
    off, square = 0.0, 0.0
    for one in known:
        side = 1.0 if one.low + one.high > 1.0 else -1.0
        off += one.comparisons * side * ((one.observed or 0.0) - (one.predicted or 0.0))
        square += (one.comparisons * (one.error or 0.0)) ** 2
    return Tilt(off / total, math.sqrt(square) / total)


def render(found: Judged, *, format: str, width: int | None = None) -> str:  # noqa: A002 - its name
    """Write the page in one of `FORMATS`, without a final newline; SpecError for any other format."""
    insist_on_format(format)
    if format == "csv":
        return csv_text((*_RECORD, "log_loss", "log_loss_error", "brier"), _records(found))
    if format == "json":
        return json_text(found)
    is_markdown = format == "markdown"
    style = "pipe" if is_markdown else "simple"
    show: Callable[[str], str] = escaped if is_markdown else printable
    tables = [tabulated(_methods(found), style), tabulated(_tenths(found), style)] if found.methods else []
    lines = [wrapped(show(line), None if is_markdown else width) for line in sentences(found)]
    return "\n\n".join([*tables, *(lines if is_markdown else ["\n".join(lines)])])


def sentences(found: Judged) -> Iterator[str]:
    """What the tables say, in words; the last one is what to make of it."""
    played = f"{found.league}: {counted(found.matches, 'match', 'matches')} in {counted(found.blocks, 'block')}"
    if not found.methods:
        yield f"{played}: nothing to foretell."
        return
    yield (
        f"{played}, each foretold from the other half of the blocks. Log-loss: mean of -log(chance of what came), less"
        " is better; Brier: mean square of what was off; ± is a standard error, from blocks."
    )
    yield (
        "By tenths of what was foretold, from the earlier seat: the score in % that was foretold, the score that came"
        " ± s.e., and of how many comparisons."
    )
    yield verdict(found)


def verdict(found: Judged) -> str:
    """Say in a sentence or two which method to believe, and whether what it says comes true."""
    if found.blocks < LEAST_BLOCKS:
        return f"Too few to judge: {counted(found.blocks, 'block')}, and it takes {LEAST_BLOCKS}."
    best = found.methods[0]
    if best.method == COIN:
        return (
            "No method foretells better than a coin that knows how often draws occur: the players are too much alike,"
            " the matches too few, or the league's draw_probability is wrong."
        )
    coin = next(one for one in found.methods if one.method == COIN)
    gain, error = coin.behind or 0.0, coin.behind_error or 0.0
    if gain < SURE * error:
        return f"{best.method} is best, but not surely better than a coin."
    others = [one.method for one in found.methods[1:] if (one.behind or 0.0) < SURE * (one.behind_error or 0.0)]
    equal = f", and {', '.join(others)} cannot be told from it" if others else ""
    return f"{best.method} foretells best{equal}. {_honesty(best)}"


def _honesty(best: Calibration) -> str:
    leaning = tilt(best)
    if leaning is None:
        return "Whether its chances come true cannot be told."
    points = f"{100 * abs(leaning.value):.1f} ± {100 * leaning.error:.1f} points"
    off = [one for one in best.bins if _is_off(one)]
    listed = ", ".join(f"{percent(one.predicted)} % foretold and {percent(one.observed)} % came" for one in off)
    where = f" Off by more than {OFF:.0f} errors: {listed}." if off else ""
    if leaning.value <= -SURE * leaning.error:
        return f"It overrates favourites: they score {points} less than foretold.{where}"
    if leaning.value >= SURE * leaning.error:
        return f"It underrates favourites: they score {points} more than foretold.{where}"
    if off:
        return f"Favourites score what was foretold on the whole, but not everywhere.{where}"
    return f"Its chances come true: favourites score within errors what was foretold (off by {points})."


def _is_off(one: Bin) -> bool:
    if one.predicted is None or one.observed is None or not one.error:
        return False
    return abs(one.observed - one.predicted) > max(LEAST_OFF, OFF * one.error)


def _methods(found: Judged) -> list[Column]:
    rows = found.methods
    behind = [
        (UNKNOWN, UNKNOWN) if row is rows[0] else (signed(row.behind, 4), fixed(row.behind_error, 4)) for row in rows
    ]
    return [
        Column("method", [row.method for row in rows], "left"),
        Column("log-loss", aligned([(fixed(row.log_loss, 4), fixed(row.log_loss_error, 4)) for row in rows], " ±")),
        Column("behind the best", aligned(behind, " ±")),
        Column("Brier", [fixed(row.brier, 4) for row in rows]),
    ]


def _tenths(found: Judged) -> list[Column]:
    """The tenths of all methods side by side; a coin has only one."""
    shown = sorted((one for one in found.methods if one.method != COIN), key=lambda one: one.method != MAP)
    bins = zip(*(one.bins for one in shown), strict=True)
    rows = [own for own in bins if any(one.comparisons for one in own)]
    columns = [Column("foretold", [f"{100 * row[0].low:.0f} to {100 * row[0].high:.0f} %" for row in rows])]
    for place, method in enumerate(shown):
        own = [row[place] for row in rows]
        came = aligned([(percent(one.observed), percent(one.error or None)) for one in own], " ±")
        columns += [
            Column(f"{method.method}\nforetold", [percent(one.predicted) for one in own]),
            Column("\ncame", came),
            Column("\nof", [str(one.comparisons) if one.comparisons else "" for one in own]),
        ]
    return columns


def _records(found: Judged) -> Iterator[dict[str, Any]]:
    """A row per method and tenth, and one per method for the whole, from 0 to 1."""
    for method in found.methods:
        whole = {"method": method.method, "low": 0.0, "high": 1.0, "comparisons": method.comparisons}
        yield whole | {
            "log_loss": method.log_loss,
            "log_loss_error": method.log_loss_error,
            "brier": method.brier,
        }
        for one in method.bins:
            yield {"method": method.method} | msgspec.structs.asdict(one)
