"""The head-to-head matrix as a page for a person: a shaded table, and below it what it says in words.

Rule: colour repeats what the marks + ++ - -- say, so that nothing is lost in a pipe, on paper, or to an eye that does
not tell colours apart. Blue is better than expected, orange worse. The marks > and < say who is surely better.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from arena.report.formats import Column, Records, Style, clipped, fixed, percent, rendered, some
from arena.standings.matrix import WRONG, HeadToHead, Meeting, Ranked
from arena.text import counted

NOBODY: Final = "·"
"""In the cell of a player against itself."""
MARKED: Final = (2.0, 3.0)
"""From so many standard errors on a cell gets one mark, or two."""
CHANCE_OF_A_MARK: Final = 0.0455
"""Two standard errors of a normal distribution, either way."""
MOST_CYCLES_SHOWN: Final = 10
SHADED: Final = (1.0, 2.0, 3.0)
_BETTER: Final = (195, 117, 75)
_WORSE: Final = (230, 222, 215)
_BLACK: Final = 16
"""Of the 256 colours of terminals, whatever their theme; black on these is readable."""
_UNLIKELY: Final = 0.01
_DOUBTFUL: Final = 0.05

_Surprises = Mapping[tuple[int, int], float]
"""By row and column; anywhere else nothing is shaded."""


def matrix_page(
    found: HeadToHead,
    *,
    format: str,  # noqa: A002 - its name
    width: int | None = None,
    luck: str | None = None,
    is_coloured: bool = False,
    rows: str = "pairs",
) -> str:
    """Write the page in one of `FORMATS`; SpecError for any other format.

    CSV has the table that `rows` names: a line for each of two `pairs`' sides, or for each of the `players`.
    Cells are shaded if `is_coloured`, in the table only. A table wider than `width` columns goes without names above
    its columns, then without matches, then without decimals, and is then cut into parts.
    """

    def text(style: Style) -> list[str]:
        if style.is_markdown:
            names = style.names([one.name for one in found.players])
            tables = [style.table([*_players(found, names), *_scores(found, _long, names)])]
        else:
            tables = _tables(found, width, is_shaded=is_coloured)
        return [*tables, style.sentences(matrix_sentences(found))]

    def records() -> Records:
        kind, each = (Ranked, found.players) if rows == "players" else (Meeting, found.meetings)
        return kind.__struct_fields__, map(msgspec.structs.asdict, each)

    return rendered(
        format, text=text, records=records, document=lambda: msgspec.structs.asdict(found), width=width, luck=luck
    )


def matrix_sentences(found: HeadToHead) -> Iterator[str]:
    """The table in words."""
    yield (
        f"{found.league}: {counted(found.matches, 'match', 'matches')}. A cell is the score in % of the player of its"
        " row against that of its column (matches). The players stand in the order of MAP, their skill by all matches"
        " jointly."
    )
    if len(found.players) < found.field:
        left = found.field - len(found.players)
        yield (
            f"{counted(left, 'player')} of {found.field} not shown: --top all shows everybody, --players a,b"
            " some. All sentences below are about the whole league."
        )
    if not found.meetings:
        return
    yield (
        f"> or <: the player of the row is surely better, or worse, than that of the column, by MAP. So it is for"
        f" {found.decided} of {counted(found.pairs, 'pair')}; the chance that any of these is wrong is"
        f" {100 * WRONG:.0f} % at most (Holm's correction)."
    )
    cells = sum(one.matches > 0 for one in found.meetings) // 2
    yield (
        "+ or ++ after a score: 2 or 3 standard errors better than the skills expect; - or --: worse. By chance alone"
        f" {cells * CHANCE_OF_A_MARK:.1f} of the {counted(cells, 'pair')} shown would be marked."
    )
    yield from _groups(found)
    yield _intransitivity(found)
    yield from _cycles(found)


def surprise_mark(z: float) -> str:
    """`+`, `++`, `-`, `--`, or nothing where nothing is surprising."""
    return ("+" if z > 0 else "-") * sum(abs(z) >= limit for limit in MARKED)


def shaded(text: str, z: float) -> str:
    """`text` on the background of its surprise."""
    depth = sum(abs(z) >= limit for limit in SHADED)
    if not depth:
        return text
    tint = (_BETTER if z > 0 else _WORSE)[depth - 1]
    return f"\x1b[48;5;{tint};38;5;{_BLACK}m{text}\x1b[0m"


def _tables(found: HeadToHead, width: int | None, *, is_shaded: bool) -> list[str]:
    """One table within `width`, with as much as there is room for; else one with the least, in parts."""
    shown = clipped([one.name for one in found.players])
    numbers = _numbers(found)
    players = _players(found, shown)
    surprises = _surprises(found) if is_shaded else {}
    scores: list[Column] = []
    for write, headers in ((_long, shown), (_long, numbers), (_short, numbers), (_shortest, numbers)):
        scores = _scores(found, write, headers)
        table = grid([*players, *scores], _moved(surprises, len(players)))
        if width is None or _visible(table) <= width:
            return [table]
    return _parts(players[:2], scores, surprises, width or 0)


def _players(found: HeadToHead, shown: Sequence[str]) -> list[Column]:
    halves = [None if one.map is None or one.map_high is None else one.map_high - one.map for one in found.players]
    skills = [(fixed(one.map), fixed(half)) for one, half in zip(found.players, halves, strict=True)]
    return [
        Column("#", _numbers(found)),
        Column("player", shown, "left"),
        Column("MAP\n±95 %", _skill_cells(skills)),
    ]


def _numbers(found: HeadToHead) -> list[str]:
    """The ranks; the places in the list where these name no player of their own (ties, groups, no match)."""
    ranks = [one.rank for one in found.players]
    is_one_each = len(set(ranks)) == len(ranks) and None not in ranks
    return [str(rank if is_one_each else place) for place, rank in enumerate(ranks, start=1)]


def _skill_cells(skills: Sequence[tuple[str, str]]) -> list[str]:
    width = max(len(error) for _, error in skills)
    return [f"{skill} ±{error.rjust(width)}" if skill != "-" else "-" for skill, error in skills]


def _scores(found: HeadToHead, write: Callable[[Meeting], str], headers: Sequence[str]) -> list[Column]:
    """A column for each player; cells are padded to the right, so that scores stand below scores."""
    cells = {(one.player, one.opponent): write(one) for one in found.meetings}
    names = [one.name for one in found.players]
    columns = []
    for header, name in zip(headers, names, strict=True):
        marks = max(
            (len(cells.get((row, name), "")) - len(_bare(cells.get((row, name), ""))) for row in names), default=0
        )
        own = [_padded(cells.get((row, name), NOBODY if row == name else ""), marks) for row in names]
        columns.append(Column(header, own))
    return columns


def _bare(text: str) -> str:
    return text.rstrip(" +-<>")


def _padded(text: str, marks: int) -> str:
    bare = _bare(text)
    return bare + text[len(bare) :].ljust(marks)


def _long(one: Meeting) -> str:
    return f"{percent(one.score)} ({one.matches}) {_marks(one)}".rstrip() if one.matches else _marks(one)


def _short(one: Meeting) -> str:
    return percent(one.score) + _marks(one) if one.matches else _marks(one)


def _shortest(one: Meeting) -> str:
    return _marks(one) if one.score is None else f"{100 * one.score:.0f}{_marks(one)}"


def _marks(one: Meeting) -> str:
    """The mark of the surely better one, then that of a surprising score."""
    sure = "" if one.p_holm > WRONG else ">" if one.is_better else "<"
    return sure + surprise_mark(one.z or 0.0)


def _surprises(found: HeadToHead) -> _Surprises:
    """The surprise of each cell, by row and column."""
    place = {one.name: number for number, one in enumerate(found.players)}
    return {(place[one.player], place[one.opponent]): one.z for one in found.meetings if one.z is not None}


def _moved(surprises: _Surprises, columns: int, first: int = 0) -> _Surprises:
    """The same cells where the column `first` of scores comes after so many others."""
    return {(row, column - first + columns): z for (row, column), z in surprises.items() if column >= first}


def grid(columns: Sequence[Column], surprises: _Surprises) -> str:
    """Lay out a table like those of tabulate, which would cut the blanks at the end of a cell."""
    heads = [column.header.split("\n") for column in columns]
    widths = [max(map(len, (*head, *column.cells))) for head, column in zip(heads, columns, strict=True)]
    rows = [[head[line] if line < len(head) else "" for head in heads] for line in range(max(map(len, heads)))]
    rows.append(["-" * width for width in widths])
    body = list(zip(*(column.cells for column in columns), strict=True))
    lines = []
    for number, row in enumerate([*rows, *body], start=-len(rows)):
        cells = [
            shaded(
                text.ljust(width) if column.align == "left" else text.rjust(width), surprises.get((number, place), 0.0)
            )
            for place, (text, width, column) in enumerate(zip(row, widths, columns, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _visible(table: str) -> int:
    """The width without the shades: that of the line of dashes."""
    return max(len(line) for line in table.splitlines() if "\x1b" not in line)


def _parts(players: Sequence[Column], scores: Sequence[Column], surprises: _Surprises, width: int) -> list[str]:
    """Cut the table into parts that fit, each with at least one column of scores."""
    parts, first = [], 0
    while first < len(scores):
        last = first + 1
        while last < len(scores) and _visible(grid([*players, *scores[first : last + 1]], {})) <= width:
            last += 1
        parts.append(grid([*players, *scores[first:last]], _moved(surprises, len(players), first)))
        first = last
    return parts


def _groups(found: HeadToHead) -> Iterator[str]:
    if len(found.groups) > 1:
        listed = "; ".join(map(some, found.groups))
        yield f"No match connects these groups, so that only players of the same one can be compared: {listed}."


def _intransitivity(found: HeadToHead) -> str:
    test = found.intransitivity
    if test.p is None or test.chi_square is None or test.degrees is None:
        return f"Not tested whether one skill per player explains the results: {test.why_not}."
    if test.p < _UNLIKELY:
        verdict = "One skill per player does not explain the results: who scores what depends on who meets whom."
    elif test.p < _DOUBTFUL:
        verdict = "It is doubtful whether one skill per player explains the results."
    else:
        verdict = "One skill per player explains the results."
    p = "p < 0.001" if test.p < 0.001 else f"p = {test.p:.3f}"
    degrees = counted(test.degrees, "degree of freedom", "degrees of freedom")
    return f"{verdict} (X² = {test.chi_square:.1f} on {degrees}, {p}{_left_out(test.left_out)})"


def _left_out(names: Sequence[str]) -> str:
    """The players without a part in the test; JSON has all of them."""
    count = f"{len(names)} players: " if len(names) > 1 else ""
    return f"; among the players with close matches, without {count}{some(names)}" if names else ""


def _cycles(found: HeadToHead) -> Iterator[str]:
    if not found.cycles_found:
        yield "No cycles: no A beats B beats C beats A with every step surer than 95 % by their direct matches."
        return
    yield (
        f"{counted(found.cycles_found, 'cycle')} with every step surer than 95 % by direct matches"
        f" ({found.cycles_by_chance:.2g} expected between equals):"
    )
    for cycle in found.cycles[:MOST_CYCLES_SHOWN]:
        steps = zip(cycle.players, (*cycle.players[1:], cycle.players[0]), cycle.likelihoods, strict=True)
        yield "; ".join(f"{winner} beats {loser} ({_sure(likelihood)})" for winner, loser, likelihood in steps)
    if found.cycles_found > MOST_CYCLES_SHOWN:
        yield f"and {found.cycles_found - MOST_CYCLES_SHOWN} more"


def _sure(likelihood: float) -> str:
    return "> 99.9 %" if likelihood > 0.999 else f"{100 * likelihood:.1f} %"
