"""A sequential test in words: one line while it runs, a paragraph at the end, JSON for programs.

Rule: the verdict comes first, in a sentence that a person without statistics can act on; then the numbers behind it.
"""

from typing import Any, Final

import msgspec
from tabulate import tabulate

from arena.match.secret_luck import LuckOrigin
from arena.report.luck_origin import origin_told
from arena.statistics.elo import estimate
from arena.statistics.interval import Interval
from arena.statistics.pentanomial import PENTANOMIAL, TRINOMIAL, Counts
from arena.statistics.sequential import State, Verdict
from arena.statistics.student import margin_estimate

_KIND: Final = {"normalised": "normalised Elo", "logistic": "Elo", "student": "normalised Elo, by margins"}


def line(state: State) -> str:
    """Where a running test stands."""
    lower, upper = state.settings.bounds
    shown = f"{state.blocks} blocks, LLR {state.llr:+.2f} ({lower:+.2f} to {upper:+.2f})"
    if state.verdict is not Verdict.UNDECIDED:
        return f"{shown}, {state.verdict}"
    return f"{shown}, about {state.blocks_to_go} more, {state.settings.last} at most"


def as_text(state: State, names: tuple[str, str], luck: LuckOrigin) -> str:
    """The verdict, the numbers behind it, and the origin of the luck."""
    numbers = tabulate(_rows(state), tablefmt="plain", disable_numparse=True)
    return "\n\n".join(filter(None, [_sentence(state, names), numbers, origin_told(luck)]))


def as_json(state: State, names: tuple[str, str], luck: LuckOrigin) -> str:
    """All of it for programs; the same bytes for the same blocks."""
    settings, (lower, upper) = state.settings, state.settings.bounds
    document: dict[str, Any] = {
        "new": names[0],
        "old": names[1],
        "verdict": state.verdict.value,
        "blocks": state.blocks,
        "matches": state.blocks * settings.matches,
        "llr": state.llr,
        "bounds": [lower, upper],
        "elo0": settings.elo0,
        "elo1": settings.elo1,
        "model": settings.model,
        "alpha": settings.alpha,
        "beta": settings.beta,
        "expected_blocks": state.blocks_to_go,
        "luck": origin_told(luck),
        **msgspec.to_builtins(luck),
    }
    if isinstance(state.seen, Counts):
        document["counts"] = list(state.seen.numbers)
    if state.blocks:
        document["estimate"] = msgspec.to_builtins(
            estimate(state.seen)
            if isinstance(state.seen, Counts)
            else margin_estimate(state.seen, matches=settings.matches)
        )
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _sentence(state: State, names: tuple[str, str]) -> str:
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
            return f"Inconclusive: {state.blocks} blocks rule out neither {low} nor {high} {kind}."
    return f"Not decided yet between {new} and {old}: {line(state)}."


def _rows(state: State) -> list[tuple[str, str]]:
    matches = state.settings.matches
    lower, upper = state.settings.bounds
    rows = [
        ("blocks", f"{state.blocks} ({state.blocks * matches} matches; same luck, seats swapped)"),
        ("LLR", f"{state.llr:+.3f} (H0 at {lower:+.3f}, H1 at {upper:+.3f})"),
    ]
    if not state.blocks:
        return rows
    if isinstance(state.seen, Counts):
        found = estimate(state.seen)
        labels = PENTANOMIAL if len(state.seen.numbers) == len(PENTANOMIAL) else TRINOMIAL
        return [
            *rows,
            ("results", "  ".join(map("{} {}".format, labels, state.seen.numbers))),
            ("score", f"{_interval(found.score, 100.0, 1)} %"),
            ("Elo", _interval(found.elo, 1.0, 1)),
            ("normalised Elo", _interval(found.normalised, 1.0, 1)),
            ("LOS", f"{100 * found.superiority:.1f} % (likelihood that the first is the better one)"),
        ]
    margin = margin_estimate(state.seen, matches=matches)
    error = "" if margin.error is None else f" +-{margin.error:.2f}"
    more = "-" if margin.normalised is None else _interval(margin.normalised, 1.0, 1)
    return [*rows, ("margin", f"{margin.mean:+.2f}{error}"), ("normalised Elo", more)]


def _interval(found: Interval, scale: float, digits: int) -> str:
    low, high = found.low * scale, found.high * scale
    return f"{found.value * scale:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
