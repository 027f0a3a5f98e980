"""Plots as SVG inside a page: readable without a script, with a text alternative, in the colours of the page.

Rule: the page's policy refuses inline styles, so that a plot has plain attributes only. Ink is the colour of the text
around it, which is light or dark; other colours can be told apart on both, and never carry meaning alone.
"""

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final
from xml.etree import ElementTree as ET

import matplotlib as mpl
import msgspec
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from arena.report.formats import clip_names
from arena.statistics.interval import Interval

_INK: Final = "#010203"
"""Placeholder for the colour of the text, which the page decides."""
_COLOURS: Final = ("#1f8ac0", "#d9661f", "#2a9d6f", "#b65fa8", "#8f8200", "#7a78d6", "#c84f5c", "#6d8791")
_STYLES: Final = ("-", "--", ":", "-.")
_SVG: Final = "http://www.w3.org/2000/svg"
_LINK: Final = "{http://www.w3.org/1999/xlink}href"
_INCHES: Final = 10
_MOST_MARKS: Final = 30
"""Values of a line up to which each has a mark."""
_SETTINGS: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a player may be called $x$
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _INK),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.size": 10,
    "axes.grid": True,
    "grid.color": _INK,
    "grid.alpha": 0.15,
}


class Plot(msgspec.Struct, frozen=True):
    """A plot for a page, and the sentence below it."""

    svg: Markup
    caption: str


@mpl.rc_context(_SETTINGS)
def interval_plot(names: Sequence[str], intervals: Sequence[Interval], alternative: str) -> Markup:
    """Draw the rating of each name with its interval, the first one on top; `alternative` is the text alternative."""
    figure, axes = _make_axes(0.9 + 0.26 * len(names))
    for place, interval in enumerate(intervals):
        ends = [end for end in (interval.low, interval.high) if abs(end) < float("inf")]
        axes.plot([*ends, interval.value], [place] * (len(ends) + 1), color=_COLOURS[0], linewidth=2)
        axes.plot([interval.value], [place], "o", color=_COLOURS[0], markersize=5)
    axes.set_yticks(range(len(names)), clip_names(names))
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("rating")
    return _to_svg(figure, alternative)


@mpl.rc_context(_SETTINGS)
def line_plot(
    x: Sequence[float], lines: Mapping[str, Sequence[float]], alternative: str, labels: tuple[str, str]
) -> Markup:
    """Draw a line for each name in a style of its own, with marks unless values are many; `labels` are of x and y."""
    figure, axes = _make_axes(3.8)
    for place, (name, values) in enumerate(zip(clip_names([*lines]), lines.values(), strict=True)):
        style = _STYLES[place // len(_COLOURS) % len(_STYLES)]
        mark = "" if len(x) > _MOST_MARKS else "o"
        colour = _COLOURS[place % len(_COLOURS)]
        axes.plot(x, values, style, color=colour, marker=mark, markersize=4, linewidth=1.8, label=f"\u200b{name}")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
    return _to_svg(figure, alternative)


@mpl.rc_context(_SETTINGS)
def bar_plot(names: Sequence[str], scores: Sequence[Interval], alternative: str) -> Markup:
    """Draw the score as a bar with its interval for each tenth of the schedule, from left to right, in percent."""
    figure, axes = _make_axes(2.6)
    places, values = range(len(names)), [100.0 * score.value for score in scores]
    below = [100.0 * (score.value - score.low) for score in scores]
    above = [100.0 * (score.high - score.value) for score in scores]
    axes.set_ylim(0, 102.0)
    axes.bar(places, values, width=0.6, color=_COLOURS[0])
    axes.errorbar(places, values, yerr=[below, above], fmt="none", ecolor=_INK, elinewidth=1.2)
    axes.set_xticks(places, names)
    axes.set_xlabel("tenth of the schedule")
    axes.set_ylabel("score %")
    return _to_svg(figure, alternative)


def _make_axes(inches: float) -> tuple[Figure, Axes]:
    """Make a figure of this height and full width, with one pair of axes."""
    figure = Figure(figsize=(_INCHES, inches))
    axes = figure.subplots()
    axes.set_axisbelow(True)
    return figure, axes


def _to_svg(figure: Figure, alternative: str) -> Markup:
    """Return the figure as an SVG element whose text alternative is `alternative`."""
    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": alternative}), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names in scripts that the measuring font does not have
        figure.savefig(
            text, format="svg", transparent=True, bbox_inches="tight", metadata=dict.fromkeys(("Date", "Creator"))
        )
    root = ET.fromstring(text.getvalue())  # noqa: S314 - our own text
    used = {str(part.get(_LINK))[1:] for part in root.iter() if part.get(_LINK)}
    for part in root.iter():
        _make_plain(part, used)
        for child in [*part]:
            if child.tag.rpartition("}")[2] in {"metadata", "style"}:
                part.remove(child)
    for size in ("width", "height"):
        del root.attrib[size]
    root.attrib |= {"role": "img", "aria-label": alternative}
    ET.register_namespace("", _SVG)
    return Markup(ET.tostring(root, encoding="unicode"))  # noqa: S704 - serialised, so escaped


def _make_plain(part: ET.Element, used: set[str]) -> None:
    """Turn the style of a part into attributes, its ink into the page's, and drop ids that nobody uses."""
    if (link := part.attrib.pop(_LINK, None)) is not None:
        part.set("href", link)
    for rule in filter(None, (text.strip() for text in part.attrib.pop("style", "").split(";"))):
        name, value = (text.strip() for text in rule.split(":", 1))
        if not name.startswith("font-family"):
            part.set(name, "currentColor" if value == _INK else value)
    if part.get("id") not in used and not part.tag.endswith("clipPath"):
        part.attrib.pop("id", None)
