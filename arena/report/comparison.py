"""A sequential test in words: one line while it runs, a paragraph at the end, JSON for programs.

Rule: the verdict comes first, in a sentence that a person without statistics can act on; then the numbers behind it,
and last the lines that tools of chess engines read.
"""

import math
from typing import Any, Final

import msgspec

from arena.league.sprt import ComparisonSummary
from arena.match.secret_luck import LuckOrigin
from arena.report.formats import UNKNOWN, chance_percent, grid, half_width, percent, two_decimals
from arena.report.luck_origin import luck_description
from arena.statistics.elo import Estimate, MarginEstimate
from arena.statistics.interval import Interval
from arena.statistics.pentanomial import PENTANOMIAL, TRINOMIAL
from arena.statistics.sequential import State, Verdict

_KIND: Final = {
    "normalised": "normalised Elo",
    "logistic": "Elo",
    "luck-adjusted": "Elo, by luck-adjusted scores",
    "student": "normalised Elo, by margins",
}


def state_line(state: State) -> str:
    """Describe the state of a running test in one line."""
    lower, upper = state.settings.bounds
    progress = f"{state.blocks} blocks, LLR {state.llr:+.2f} ({lower:+.2f} to {upper:+.2f})"
    if state.verdict is not Verdict.UNDECIDED:
        return f"{progress}, {state.verdict}"
    return f"{progress}, about {state.blocks_to_go} more, {state.settings.last} at most"


def as_text(result: ComparisonSummary, names: tuple[str, str], luck: LuckOrigin) -> str:
    """Return the verdict, the numbers behind it, fishtest's lines, and the origin of the luck, without a final newline.

    `names` are those of the new and of the old version.
    """
    numbers = grid(_number_rows(result), tablefmt="plain", disable_numparse=True)
    parts = [_verdict_text(result.state, names), numbers, "\n".join(_fishtest_lines(result)), luck_description(luck)]
    return "\n\n".join(filter(None, parts))


def as_markdown(result: ComparisonSummary, names: tuple[str, str], luck: LuckOrigin) -> str:
    """Return the verdict in bold, the numbers as a Markdown table, and the origin of the luck."""
    header = ("", " against ".join(names))
    table = grid(_number_rows(result), headers=header, tablefmt="github", disable_numparse=True)
    return "\n\n".join(filter(None, [f"**{_verdict_text(result.state, names)}**", table, luck_description(luck)]))


def as_json(result: ComparisonSummary, names: tuple[str, str], luck: LuckOrigin) -> str:
    """Return the result of a test as indented JSON, without a final newline; the same bytes for the same blocks."""
    state, counts = result.state, result.counts
    settings, pairs = state.settings, result.counts.won_by_lost
    document: dict[str, Any] = {
        "new": names[0],
        "old": names[1],
        "verdict": state.verdict.value,
        "blocks": state.blocks,
        "matches": state.blocks * settings.matches,
        "llr": state.llr,
        "bounds": list(settings.bounds),
        **{name: getattr(settings, name) for name in ("elo0", "elo1", "model", "alpha", "beta")},
        "expected_blocks": state.blocks_to_go,
        "luck": luck_description(luck),
        **msgspec.to_builtins(luck),
        **{name: getattr(result, name) for name in ("wins", "draws", "losses")},
        "counts": list(counts.numbers),
        "draw_ratio": counts.even,
        "pairs_ratio": None if pairs is None or math.isinf(pairs) else pairs,
        "score": result.score and msgspec.to_builtins(result.score),
        "fishtest": _fishtest_lines(result),
    }
    if result.estimate:
        estimate = msgspec.to_builtins(result.estimate)
        document["estimate"] = {"los": estimate.pop("superiority")} | estimate
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _verdict_text(state: State, names: tuple[str, str]) -> str:
    """Return the verdict in a sentence, about `names`, the new and the old version."""
    new, old = names
    kind = _KIND[state.settings.model]
    low, high = f"{state.settings.elo0:+g}", f"{state.settings.elo1:+g}"
    match state.verdict:
        case Verdict.H1:
            return f"{new} is better than {old}: H1 accepted ({high} {kind} rather than {low})."
        case Verdict.H0:
            return f"{new} is not shown to be better than {old}: H0 accepted ({low} {kind} rather than {high})."
        case Verdict.IDENTICAL:
            return f"{new} and {old} play identically: move for move the same in {state.blocks} blocks."
        case Verdict.INCONCLUSIVE:
            return f"Inconclusive: {state.blocks} blocks do not decide between {low} and {high} {kind}."
    return f"Not decided yet between {new} and {old}: {state_line(state)}."


def _number_rows(result: ComparisonSummary) -> list[tuple[str, str]]:
    """Return the numbers behind the verdict as (label, text), as far as the blocks give them."""
    state, counts = result.state, result.counts
    matches = state.settings.matches
    rows = [("blocks", f"{state.blocks} ({state.blocks * matches} matches; same luck, seats swapped)")]
    estimate = result.estimate
    if result.score is None or estimate is None:
        return rows
    labels = PENTANOMIAL if matches > 1 else TRINOMIAL
    rows += [
        ("W-D-L", f"{result.wins}-{result.draws}-{result.losses}"),
        ("results", "  ".join(map("{} {}".format, labels, counts.numbers))),
        ("DrawRatio", f"{percent(counts.even)} % of blocks"),
        ("PairsRatio", f"{two_decimals(counts.won_by_lost)} (blocks won by blocks lost)"),
        ("score", f"{_interval_text(result.score, 100.0)} %"),
    ]
    if isinstance(estimate, MarginEstimate):
        margin = f"{estimate.margin.value:+.2f} {half_width(estimate.margin)}"
        return [*rows, ("margin", margin), ("normalised Elo", _normalised_elo_cell(estimate))]
    if state.settings.model == "luck-adjusted":
        tested = f"{_interval_text(estimate.score, 100.0)} % (less luck, by what earlier blocks say of it)"
        rows.append(("tested score", tested))
    return [
        *rows,
        ("Elo", _interval_text(estimate.elo)),
        ("normalised Elo", _normalised_elo_cell(estimate)),
        ("LOS", f"{chance_percent(estimate.superiority)} % (likelihood that the first is the better one)"),
    ]


def _normalised_elo_cell(estimate: Estimate | MarginEstimate) -> str:
    """Format the normalised Elo with its interval; `UNKNOWN` where blocks have no spread."""
    return UNKNOWN if estimate.normalised is None else _interval_text(estimate.normalised)


def _fishtest_lines(result: ComparisonSummary) -> list[str]:
    """Return the result in the lines that fishtest and fastchess print."""
    settings = result.state.settings
    lower, upper = settings.bounds
    wins, draws, losses = result.wins, result.draws, result.losses
    return [
        f"LLR: {result.state.llr:.2f} ({lower:.2f}, {upper:.2f}) [{settings.elo0:.2f}, {settings.elo1:.2f}]",
        f"Total: {wins + draws + losses} W: {wins} L: {losses} D: {draws}",
        f"Ptnml(0-2): {', '.join(map(str, result.counts.numbers))}",
    ]


def _interval_text(interval: Interval, scale: float = 1.0) -> str:
    """Format an interval times `scale`: `5.2 (1.0 to 9.4)`."""
    value, low, high = (f"{number * scale:.1f}" for number in (interval.value, interval.low, interval.high))
    return f"{value} ({low} to {high})"
