"""The calibration of a league's ratings as a page: a table by method, one by tenth, and what they say in words."""

from collections.abc import Iterator
from typing import Any, Final

from arena.report.formats import Column, Style, fixed, half_width, intervals, percent
from arena.report.page import Page
from arena.standings.calibration import COIN, RATING, TRUESKILL, Bin, Calibration, Judged, favourite_bias
from arena.standings.rows import ends
from arena.text import counted

LEAST_BLOCKS_TO_JUDGE: Final = 20
"""Below, nothing is said in words: errors from a few blocks are no errors."""
SURE: Final = 2.0
"""Standard errors from which on a difference is called one."""
OFF: Final = 3.0
"""Standard errors from which on a tenth is named: of ten, one in forty leagues is so by chance."""
LEAST_OFF: Final = 0.02
"""Less of a score is not worth a word, however many matches prove it."""
_COLUMNS: Final = (
    *("method", "low", "high", "comparisons", "predicted", "observed", "observed_low", "observed_high"),
    *("log_loss", "log_loss_low", "log_loss_high", "behind", "behind_low", "behind_high", "brier"),
)
"""Columns of CSV."""


def calibration_page(found: Judged, luck: str | None = None) -> Page:
    """The page of a league's calibration."""

    def text(style: Style) -> list[str]:
        tables = [style.table(_methods(found)), style.table(_tenths(found))] if found.methods else []
        return [*tables, style.sentences(calibration_sentences(found))]

    return Page(text, lambda: (_COLUMNS, _records(found)), lambda: _document(found), luck)


def _document(found: Judged) -> dict[str, Any]:
    methods = [_method(one) | {"bins": [*map(_tenth, one.bins)]} for one in found.methods]
    return {"league": found.league, "matches": found.matches, "blocks": found.blocks, "methods": methods}


def calibration_sentences(found: Judged) -> Iterator[str]:
    """The tables in words; the last sentence is the conclusion."""
    played = f"{found.league}: {counted(found.matches, 'match', 'matches')} in {counted(found.blocks, 'block')}"
    if not found.methods:
        yield f"{played}: nothing to predict."
        return
    yield (
        f"{played}, each predicted from the other half of the blocks. Log-loss: mean of -log(chance of what came), less"
        " is better; Brier: mean square of what was off; ± is 95 %, from blocks."
    )
    yield (
        "By tenths of what was predicted, from the earlier seat: the mean score in % that was predicted, the score that"
        " came ±95 %, and of how many comparisons."
    )
    yield calibration_verdict(found)


def calibration_verdict(found: Judged) -> str:
    """Say in a sentence or two which method to believe, and whether what it says comes true."""
    if found.blocks < LEAST_BLOCKS_TO_JUDGE:
        return f"Too few to judge: {counted(found.blocks, 'block')}, and it takes {LEAST_BLOCKS_TO_JUDGE}."
    best = found.methods[0]
    if best.method == COIN:
        return (
            "No method predicts better than a coin that knows how often draws occur: the players are too much alike,"
            " the matches too few, or the league's draw_probability is wrong."
        )
    coin = next(one for one in found.methods if one.method == COIN)
    gain, error = coin.behind or 0.0, coin.behind_error or 0.0
    if gain < SURE * error:
        return f"{best.method} is best, but not surely better than a coin."
    others = [one.method for one in found.methods[1:] if (one.behind or 0.0) < SURE * (one.behind_error or 0.0)]
    equal = f", and {', '.join(others)} cannot be told from it" if others else ""
    return f"{best.method} predicts best{equal}. {_honesty(best)}"


def _honesty(best: Calibration) -> str:
    leaning = favourite_bias(best)
    if leaning is None:
        return "Whether its chances come true cannot be told."
    points = f"{100 * abs(leaning.value):.1f} {half_width(leaning.interval, 1, 100.0)} points"
    off = [one for one in best.bins if _is_off(one)]
    listed = ", ".join(f"{percent(one.predicted)} % predicted and {percent(one.observed)} % came" for one in off)
    where = f" Off by more than {OFF:.0f} standard errors: {listed}." if off else ""
    if leaning.value <= -SURE * leaning.error:
        return f"It overrates favourites: they score {points} less than predicted.{where}"
    if leaning.value >= SURE * leaning.error:
        return f"It underrates favourites: they score {points} more than predicted.{where}"
    if off:
        return f"Favourites score what was predicted on the whole, but not everywhere.{where}"
    return f"Its chances come true: favourites score what was predicted, within the error (off by {points})."


def _is_off(one: Bin) -> bool:
    if one.predicted is None or one.observed is None or not one.error:
        return False
    return abs(one.observed - one.predicted) > max(LEAST_OFF, OFF * one.error)


def _methods(found: Judged) -> list[Column]:
    rows = found.methods
    behind = intervals([None if row is rows[0] else row.distance for row in rows], 4, is_signed=True)
    return [
        Column("method", [row.method for row in rows], "left"),
        Column("log-loss", intervals([row.cost for row in rows], 4)),
        Column("behind the best", behind),
        Column("Brier", [fixed(row.brier, 4) for row in rows]),
    ]


def _tenths(found: Judged) -> list[Column]:
    """Put the tenths of the rating and of TrueSkill side by side."""
    shown = sorted(
        (one for one in found.methods if one.method in {RATING, TRUESKILL}), key=lambda one: one.method != RATING
    )
    bins = zip(*(one.bins for one in shown), strict=True)
    rows = [own for own in bins if any(one.comparisons for one in own)]
    columns = [Column("predicted", [f"{100 * row[0].low:.0f} to {100 * row[0].high:.0f} %" for row in rows])]
    for place, method in enumerate(shown):
        own = [row[place] for row in rows]
        columns += [
            Column(f"{method.method.split(' (')[0]}\nmean", [percent(one.predicted) for one in own]),
            Column("\ncame", intervals([one.came for one in own], 1, 100.0)),
            Column("\nof", [str(one.comparisons) if one.comparisons else "" for one in own]),
        ]
    return columns


def _records(found: Judged) -> Iterator[dict[str, Any]]:
    """A row per method and tenth, and one per method for the whole, from 0 to 1."""
    for method in found.methods:
        yield {"low": 0.0, "high": 1.0} | _method(method)
        for one in method.bins:
            yield {"method": method.method} | _tenth(one)


def _method(one: Calibration) -> dict[str, Any]:
    """Return a method for programs, without its tenths."""
    return {
        "method": one.method,
        "comparisons": one.comparisons,
        **ends("log_loss", one.cost),
        "brier": one.brier,
        **ends("behind", one.distance),
    }


def _tenth(one: Bin) -> dict[str, Any]:
    """Return a tenth for programs."""
    counts = {name: getattr(one, name) for name in ("low", "high", "comparisons", "predicted")}
    return counts | ends("observed", one.came)
