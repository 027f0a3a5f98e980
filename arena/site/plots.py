"""Plots as SVG inside a page: readable without a script, with a text alternative, in the colours of the page.

Rule: the page's policy refuses inline styles, so that a plot has plain attributes only. Ink is the colour of the text
around it, which is light or dark, and those of players are their looks; colours never carry meaning alone.
"""

import io
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final
from xml.etree import ElementTree as ET

import matplotlib as mpl
import msgspec
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from arena.games.looks import LOOKS
from arena.report.formats import clip_names
from arena.statistics.interval import Interval

_INK: Final = "#010203"
"""Placeholder for the colour of the text, which the page decides."""
_STYLES: Final = ("-", "--", ":", "-.")
_SVG: Final = "http://www.w3.org/2000/svg"
_LINK: Final = "{http://www.w3.org/1999/xlink}href"
_INCHES: Final = {"wide": 10.0, "narrow": 3.6}
"""Widths of the drawings of a plot: one for a desk, one for a phone; the page shows one of them."""
_LEGENDS: Final[dict[str, dict[str, Any]]] = {
    "wide": {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)},
    "narrow": {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17), "ncols": 2},
}
_LOOK_OF: Final = {look.light: number for number, look in enumerate(LOOKS)}
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


Players = Sequence[tuple[str, int]]
"""Names of players with the numbers of their looks."""


def interval_plot(players: Players, intervals: Sequence[Interval], alternative: str) -> Markup:
    """Draw the rating of each player with its interval, the first one on top; `alternative` is the text alternative."""

    def draw(axes: Axes, _width: str) -> None:
        for place, ((_, look), interval) in enumerate(zip(players, intervals, strict=True)):
            ends = [end for end in (interval.low, interval.high) if abs(end) < float("inf")]
            axes.plot([*ends, interval.value], [place] * (len(ends) + 1), color=LOOKS[look].light, linewidth=2)
            axes.plot([interval.value], [place], "o", color=LOOKS[look].light, markersize=5)
        axes.set_yticks(range(len(players)), clip_names([name for name, _ in players]))
        axes.set_ylim(len(players) - 0.5, -0.5)
        axes.set_xlabel("rating")

    return _draw_widths(draw, 0.9 + 0.26 * len(players), alternative)


def line_plot(
    x: Sequence[float],
    players: Players,
    lines: Sequence[Sequence[float]],
    alternative: str,
    labels: tuple[str, str],
) -> Markup:
    """Draw the line of each player in a style of its own, with marks unless values are many; `labels` of x and y."""
    names = clip_names([name for name, _ in players])

    def draw(axes: Axes, width: str) -> None:
        for place, (name, (_, look), values) in enumerate(zip(names, players, lines, strict=True)):
            style = _STYLES[place // len(LOOKS) % len(_STYLES)]
            mark = "" if len(x) > _MOST_MARKS else "o"
            colour = LOOKS[look].light
            axes.plot(x, values, style, color=colour, marker=mark, markersize=4, linewidth=1.8, label=f"\u200b{name}")
        axes.xaxis.set_major_locator(MaxNLocator(5 if width == "narrow" else "auto", integer=True))
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        axes.legend(**_LEGENDS[width], frameon=False, fontsize=9)

    return _draw_widths(draw, 3.8, alternative)


def bar_plot(look: int, names: Sequence[str], scores: Sequence[Interval], alternative: str) -> Markup:
    """Draw a player's score as a bar with its interval by tenth of the schedule, from left to right, in percent."""
    places, values = range(len(names)), [100.0 * score.value for score in scores]
    below = [100.0 * (score.value - score.low) for score in scores]
    above = [100.0 * (score.high - score.value) for score in scores]

    def draw(axes: Axes, _width: str) -> None:
        axes.set_ylim(0, 102.0)
        axes.bar(places, values, width=0.6, color=LOOKS[look].light)
        axes.errorbar(places, values, yerr=[below, above], fmt="none", ecolor=_INK, elinewidth=1.2)
        axes.set_xticks(places, names)
        axes.set_xlabel("tenth of the schedule")
        axes.set_ylabel("score %")

    return _draw_widths(draw, 2.6, alternative)


@mpl.rc_context(_SETTINGS)
def _draw_widths(draw: Callable[[Axes, str], None], inches: float, alternative: str) -> Markup:
    """Draw a plot of this height in each width; `draw` gets empty axes and the name of the width.

    Return the SVG elements, one after the other.
    """
    drawings = []
    for width in _INCHES:
        figure = Figure(figsize=(_INCHES[width], inches))
        axes = figure.subplots()
        axes.set_axisbelow(True)
        draw(axes, width)
        drawings.append(_to_svg(figure, alternative, width))
    return Markup("").join(drawings)


def _to_svg(figure: Figure, alternative: str, width: str) -> Markup:
    """Return the figure as an SVG element of the class `width`, whose text alternative is `alternative`."""
    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": width + alternative}), warnings.catch_warnings():
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
    root.attrib |= {"role": "img", "aria-label": alternative, "class": width}
    ET.register_namespace("", _SVG)
    return Markup(ET.tostring(root, encoding="unicode"))  # noqa: S704 - serialised, so escaped


def _make_plain(part: ET.Element, used: set[str]) -> None:
    """Turn the style of a part into attributes, its colours into the page's, and drop ids that nobody uses."""
    if (link := part.attrib.pop(_LINK, None)) is not None:
        part.set("href", link)
    for rule in filter(None, (text.strip() for text in part.attrib.pop("style", "").split(";"))):
        name, value = (text.strip() for text in rule.split(":", 1))
        if value in _LOOK_OF:
            part.set("class", f"look-{_LOOK_OF[value]}")
        if not name.startswith("font-family"):
            part.set(name, "currentColor" if value == _INK or value in _LOOK_OF else value)
    if part.get("id") not in used and not part.tag.endswith("clipPath"):
        part.attrib.pop("id", None)
