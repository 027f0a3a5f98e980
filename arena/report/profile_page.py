"""One player's results as a page: a table for each question, and the ids of the matches worth a look.

Rule: every id on it is one that `arena show` takes.
"""

from collections.abc import Iterator, Sequence
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
    labels,
    percent,
    signed,
    tabulated,
    width_of,
    wrapped,
)
from arena.report.means import Mean
from arena.report.profile import Extreme, Line, Profile
from arena.report.times import Times
from arena.statistics.drift import LEAST_BLOCKS, LEAST_UNUSUAL, Drift
from arena.strict import printable
from arena.text import counted

MOST_IDS: Final = 4
"""Of a kind of fault, in the table; the other formats have all."""
_UNLIKELY: Final = 0.01
_COLUMNS: Final = (
    *("section", "name", "matches", "blocks", "wins", "draws", "losses", "score", "score_se"),
    *("margin", "margin_se", "score_without_luck", "score_without_luck_se", "forfeits", "value", "match"),
)


def render(found: Profile, *, format: str, width: int | None = None) -> str:  # noqa: A002 - its name
    """Write the page in one of `FORMATS`, without a final newline; SpecError for any other format.

    A table wider than `width` columns goes without its margins.
    """
    insist_on_format(format)
    if format == "csv":
        return csv_text(_COLUMNS, _records(found))
    if format == "json":
        return json_text(found)
    if format == "markdown":
        return _markdown(found)
    return _text(found, width)


def _text(found: Profile, width: int | None) -> str:
    parts = ["\n".join(wrapped(printable(line), width) for line in _head(found))]
    for section, lines in _sections(found):
        parts.append(_table(section, lines, width))
    if found.times.matches:
        parts.append(tabulated(_times(found.times), "simple"))
    parts.append("\n".join(wrapped(printable(line), width) for line in _tail(found, most_ids=MOST_IDS)))
    return "\n\n".join(part for part in parts if part)


def _markdown(found: Profile) -> str:
    title, *head = _head(found)
    parts = [f"## {escaped(title)}", *map(escaped, head)]
    for section, lines in _sections(found):
        parts.append(tabulated(_columns(section, lines, "pipe"), "pipe"))
    if found.times.matches:
        parts.append(tabulated(_times(found.times), "pipe"))
    return "\n\n".join([*parts, *(escaped(line.strip()) for line in _tail(found, most_ids=None))])


def _sections(found: Profile) -> Iterator[tuple[str, Sequence[Line]]]:
    """The tables that have rows."""
    for section, lines in (("opponent", found.opponents), ("seat", found.seats), ("tenth", found.tenths)):
        if lines:
            yield section, lines


def _table(section: str, lines: Sequence[Line], width: int | None) -> str:
    columns = _columns(section, lines, "simple")
    table = tabulated(columns, "simple")
    if width is None or width_of(table) <= width:
        return table
    return tabulated([column for column in columns if not column.header.startswith("margin")], "simple")


def _columns(section: str, lines: Sequence[Line], style: str) -> list[Column]:
    counts = [(str(line.wins), str(line.draws), str(line.losses)) for line in lines]
    margins = [(signed(line.margin.value), _margin_error(line.margin)) for line in lines]
    columns = [
        Column(section, labels([line.name for line in lines], style), "left" if section == "opponent" else "right"),
        Column("matches", [str(line.matches) for line in lines]),
        Column("score %\n±95 %", aligned([score_parts(line.score) for line in lines], "")),
        Column("W-D-L", aligned(counts, "-")),
        Column("margin\n±s.e.", aligned(margins, " ±")),
    ]
    without = [line.score_without_luck for line in lines]
    if any(mean is not None for mean in without):
        cells = [score_parts(mean or Mean(None, None, 0)) for mean in without]
        columns.append(Column("luck excluded\n±95 %", aligned(cells, "")))
    columns.append(Column("forfeits", [str(line.forfeits) if line.forfeits else UNKNOWN for line in lines]))
    return columns


def score_parts(mean: Mean) -> tuple[str, str, str]:
    """The score, a sign and how far it may be off: one-sided where all blocks won or lost everything."""
    if mean.value is None:
        return UNKNOWN, UNKNOWN, UNKNOWN
    sign = "±" if mean.has_spread or mean.error is None else {1.0: "-", 0.0: "+"}.get(mean.value, "±")
    return f"{percent(mean.value)} ", sign, percent(mean.score_bound())


def _margin_error(mean: Mean) -> str:
    """Equal margins say that the spread is small, not how small: no figure in the place of 0."""
    return fixed(mean.error) if mean.has_spread else UNKNOWN


def _head(found: Profile) -> Iterator[str]:
    """Who it is, and how it did on the whole."""
    arguments = f" with {' '.join(found.arguments)}" if found.arguments else ""
    yield f"{found.player} in {found.league}: bot {found.bot} {found.version} ({found.hash[:8]}){arguments}"
    total = found.total
    if not total.matches:
        yield "No match of it is stored."
        return
    score = score_parts(total.score) if total.score.error is not None else percent(total.score.value)
    margin = "" if total.margin.value is None else f", margin {signed(total.margin.value)}"
    error = "" if not margin or not total.margin.has_spread else f" ±{fixed(total.margin.error)}"
    yield (
        f"{counted(total.matches, 'match', 'matches')} in {counted(total.score.blocks, 'block')}:"
        f" {total.wins}-{total.draws}-{total.losses}, score {''.join(score).strip()} %{margin}{error}"
    )
    if total.score_without_luck is not None:
        yield f"luck excluded, score {''.join(score_parts(total.score_without_luck))} %; its rank is by results alone"
    if found.standing is not None:
        own = found.standing
        skill = f"skill {fixed(own.skill)} ±{fixed(own.error)} by the MAP fit"
        yield f"Rank {own.rank} of {own.players}, {skill}"


def _tail(found: Profile, *, most_ids: int | None) -> Iterator[str]:
    """What is said in sentences: drift, time, faults, extremes."""
    if not found.total.matches:
        return
    yield drift_sentence(found.drift)
    yield _time(found.times)
    yield from _forfeits(found, most_ids)
    yield from _pardons(found, most_ids)
    yield from _extremes("Biggest wins", found.wins)
    yield from _extremes("Biggest losses", found.losses)
    yield "To see a match: arena show ID"


def drift_sentence(drift: Drift | None) -> str:
    """Whether the player changed in the course of the league."""
    if drift is None:
        return (
            f"Drift: not tested; the test needs {LEAST_BLOCKS} blocks, of which {LEAST_UNUSUAL} differ from the usual"
            " result of their pairing."
        )
    change = f"{signed(100 * drift.change.value, 1)} ±{100 * drift.change.error:.1f} points"
    if drift.p_trend < _UNLIKELY:
        way = "better" if drift.change.value > 0 else "worse"
        return (
            f"Drift: the player gets {way}, by {change} from the first block to the last (p {_chance(drift.p_trend)})."
        )
    if drift.p_tenths is not None and drift.p_tenths < _UNLIKELY:
        return f"Drift: no trend, but tenths differ by more than chance (p {_chance(drift.p_tenths)})."
    return f"Drift: none found; {change} from the first block to the last."


def _chance(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def _times(times: Times) -> list[Column]:
    means, slowest = times.means_ms, times.slowest_decisions_ms
    return [
        Column("ms per decision", ["mean", "slowest"], "left"),
        Column("p50", [fixed(means.p50), fixed(slowest.p50)]),
        Column("p99", [fixed(means.p99), fixed(slowest.p99)]),
        Column("all", [fixed(times.mean_ms), fixed(times.slowest_ms)]),
    ]


def _time(times: Times) -> str:
    if not times.matches:
        return "Time: it never had to decide."
    return (
        "Time is that of its clock. p50 and p99 are over matches, as single decisions are not kept: half and 99 % of"
        f" {counted(times.matches, 'match', 'matches')} have no larger mean, or slowest decision; all is over"
        f" {counted(times.decisions, 'decision')}, the slowest in {times.slowest_match}."
    )


def _forfeits(found: Profile, most_ids: int | None) -> Iterator[str]:
    if not found.faults:
        yield f"Faults: none; {counted(found.opponents_forfeits, 'forfeit')} by others in its matches."
        return
    yield f"Faults: {found.total.forfeits}, and {found.opponents_forfeits} by others in its matches."
    for kind in found.faults:
        yield f"  {len(kind.matches)} {kind.kind}: {_ids(kind.matches, most_ids)}"


def _pardons(found: Profile, most_ids: int | None) -> Iterator[str]:
    if found.pardons:
        yield "Faults after which the game went on:"
    for pardon in found.pardons:
        yield f"  {pardon.faults} {pardon.kind}: {_ids(pardon.matches, most_ids)}"


def _ids(matches: Sequence[str], most_ids: int | None) -> str:
    shown = matches[:most_ids]
    rest = len(matches) - len(shown)
    return f"{' '.join(shown)}{f' and {rest} more' if rest else ''}"


def _extremes(title: str, found: Sequence[Extreme]) -> Iterator[str]:
    if found:
        yield f"{title}:"
    for one in found:
        seated = " : ".join(f"{name} {score}" for name, score in zip(one.players, one.scores, strict=True))
        yield f"  {one.margin:+d}  {one.match}  {seated}"


def _records(found: Profile) -> Iterator[dict[str, Any]]:
    """A row per line of a table, per time, per fault's match and per extreme match."""
    yield {"section": "all", "name": found.player, "value": found.standing and found.standing.skill} | _record(
        found.total
    )
    for section, lines in _sections(found):
        yield from ({"section": section, "name": line.name} | _record(line) for line in lines)
    times = msgspec.structs.asdict(found.times)
    for name in ("decisions", "mean_ms", "slowest_ms"):
        match = found.times.slowest_match if name == "slowest_ms" else None
        yield {"section": "time", "name": name, "matches": found.times.matches, "value": times[name], "match": match}
    for name in ("means_ms", "slowest_decisions_ms"):
        for which, value in msgspec.structs.asdict(times[name]).items():
            yield {"section": "time", "name": f"{name}_{which}", "matches": found.times.matches, "value": value}
    for kind in found.faults:
        yield from ({"section": "fault", "name": kind.kind, "match": match} for match in kind.matches)
    for pardon in found.pardons:
        yield from ({"section": "pardoned", "name": pardon.kind, "match": match} for match in pardon.matches)
    for section, extremes in (("win", found.wins), ("loss", found.losses)):
        for one in extremes:
            names = " v ".join(one.players)
            yield {"section": section, "name": names, "match": one.match, "margin": one.margin}


def _record(line: Line) -> dict[str, Any]:
    without = line.score_without_luck
    return {
        "matches": line.matches,
        "blocks": line.score.blocks,
        "wins": line.wins,
        "draws": line.draws,
        "losses": line.losses,
        "score": line.score.value,
        "score_se": line.score.error,
        "margin": line.margin.value,
        "margin_se": line.margin.error,
        "score_without_luck": None if without is None else without.value,
        "score_without_luck_se": None if without is None else without.error,
        "forfeits": line.forfeits,
    }
