"""The head-to-head matrix as a page for a person: a shaded table, and sentences below it.

Rule: colour repeats the marks + ++ - --, so that nothing is lost in a pipe, on paper, or to an eye that does
not tell colours apart. Blue is better than expected, orange worse. The marks > and < show who is significantly better.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

import msgspec

from arena.errors import SpecError
from arena.report.formats import Column, Style, clip_names, list_some, split_columns, two_decimals
from arena.report.page import Page, Records
from arena.standings.matrix import WRONG, HeadToHead, Meeting
from arena.standings.skills import MOST_PLAYERS
from arena.text import counted

SELF_CELL: Final = "·"
"""The cell of a player against itself."""
MARK_LIMITS: Final = (2.0, 3.0)
"""The surprise, in standard errors, from which on a cell has one mark, or two."""
CHANCE_OF_A_MARK: Final = 0.0455
"""The chance that a normal variable is two standard errors or more off, either way."""
MOST_CYCLES_SHOWN: Final = 10
SHADE_LIMITS: Final = (1.0, 2.0, 3.0)
_BETTER: Final = (195, 117, 75)
_WORSE: Final = (230, 222, 215)
_BLACK: Final = 16
"""Numbers among the 256 colours of terminals, which no theme changes; black on these is readable."""
_UNLIKELY: Final = 0.01
_DOUBTFUL: Final = 0.05

_LONG: Final = "{:z.1f} ({}) "
_SHORT: Final = "{:z.1f}"
_SHORTEST: Final = "{:.0f}"


def matrix_page(matrix: HeadToHead, luck: str | None = None, *, is_coloured: bool = False) -> Page:
    """Make the page of a league's matrix.

    CSV has a line for each pair from both sides, JSON the players, too. Cells are shaded if `is_coloured`, in the table
    only. A table wider than the terminal goes without names above its columns, then without matches, then without
    decimals, and is then cut into parts. Its text refuses chosen columns by a SpecError.
    """

    def text(style: Style) -> list[str]:
        """Return the parts of the page in a style: the table, in pieces if it is too wide, and sentences."""
        if style.columns:
            raise SpecError("--columns: those of the matrix are its players, --players chooses some of them")
        if style.is_markdown:
            names = style.names([player.name for player in matrix.players])
            tables = [style.table([*_player_columns(matrix, names), *_scores(matrix, _LONG, names)])]
        else:
            tables = _tables(matrix, style.width, is_shaded=is_coloured)
        return [*tables, style.sentences(matrix_sentences(matrix))]

    def records() -> Records:
        """Return the columns and the rows of CSV."""
        return Meeting.__struct_fields__, map(msgspec.structs.asdict, matrix.meetings)

    return Page(text, records, lambda: msgspec.structs.asdict(matrix), luck)


def matrix_sentences(matrix: HeadToHead) -> Iterator[str]:
    """Yield the sentences below the table: what its signs mean, significant pairs, groups, and intransitive results.

    Without a pair whom matches connect they end after the players that are not shown.
    """
    order = "The players stand in the order of their rating, which is by all matches jointly."
    if matrix.field > MOST_PLAYERS:
        order = (
            f"Of more than {MOST_PLAYERS} players nobody is rated or ranked and no pair is compared: the players stand"
            " in the order of their names."
        )
    yield (
        f"{matrix.league}: {counted(matrix.matches, 'match', 'matches')}. A cell is the score in % of the player of its"
        f" row against that of its column (matches). {order}"
    )
    if len(matrix.players) < matrix.field:
        left = matrix.field - len(matrix.players)
        yield (
            f"{counted(left, 'player')} of {matrix.field} not shown: --players all shows everybody, --players a,b"
            " some. All sentences below are about the whole league."
        )
    if not matrix.meetings:
        return
    yield (
        f"> or <: the player of the row is surely better, or worse, than that of the column, by their rating."
        f" Significant for {matrix.decided} of {counted(matrix.pairs, 'pair')} (Holm, {100 * WRONG:.0f} %)."
    )
    cells = sum(meeting.matches > 0 for meeting in matrix.meetings) // 2
    yield (
        "+ or ++ after a score: 2 or 3 standard errors better than the skills expect; - or --: worse. By chance alone"
        f" {cells * CHANCE_OF_A_MARK:.1f} of the {counted(cells, 'pair')} shown would be marked."
    )
    yield from _group_sentences(matrix)
    yield _intransitivity_sentence(matrix)
    yield from _cycle_sentences(matrix)


def surprise_mark(z: float) -> str:
    """Return the mark of a surprise in standard errors: `+`, `++`, `-`, `--`, or nothing."""
    return ("+" if z > 0 else "-") * sum(abs(z) >= limit for limit in MARK_LIMITS)


def shade(text: str, z: float) -> str:
    """Colour the background of `text` in a terminal by its surprise, in standard errors; as it is for one below 1."""
    depth = sum(abs(z) >= limit for limit in SHADE_LIMITS)
    if not depth:
        return text
    tint = (_BETTER if z > 0 else _WORSE)[depth - 1]
    return f"\x1b[48;5;{tint};38;5;{_BLACK}m{text}\x1b[0m"


def _tables(matrix: HeadToHead, width: int | None, *, is_shaded: bool) -> list[str]:
    """Format a table that fits into `width` with as much detail as possible; else the shortest one in parts."""
    shown = clip_names([player.name for player in matrix.players])
    numbers = _numbers(matrix)
    players = _player_columns(matrix, shown)
    scores: list[Column] = []
    for template, headers in ((_LONG, shown), (_LONG, numbers), (_SHORT, numbers), (_SHORTEST, numbers)):
        scores = _scores(matrix, template, headers, is_shaded=is_shaded)
        table = _grid([*players, *scores])
        if width is None or _visible_width(table) <= width:
            return [table]
    parts = split_columns([*players[:2], *scores], lambda part: _visible_width(_grid(part)) <= (width or 0))
    return [_grid(columns) for columns in parts]


def _player_columns(matrix: HeadToHead, shown: Sequence[str]) -> list[Column]:
    """Return the columns before the scores: number, name (as in `shown`) and rating of each player."""
    halves = [
        None if row.rating is None or row.rating_high is None else row.rating_high - row.rating
        for row in matrix.players
    ]
    skills = [(two_decimals(row.rating), two_decimals(half)) for row, half in zip(matrix.players, halves, strict=True)]
    return [
        Column("#", _numbers(matrix), is_key=True),
        Column("player", shown, "left", is_key=True),
        Column("rating\n±95 %", _skill_cells(skills)),
    ]


def _numbers(matrix: HeadToHead) -> list[str]:
    """Return the ranks, or places in the list if ranks do not identify players (ties, groups, no match)."""
    ranks = [player.rank for player in matrix.players]
    is_one_each = len(set(ranks)) == len(ranks) and None not in ranks
    return [str(rank if is_one_each else place) for place, rank in enumerate(ranks, start=1)]


def _skill_cells(skills: Sequence[tuple[str, str]]) -> list[str]:
    """Format ratings with their errors, errors below errors."""
    width = max(len(error) for _, error in skills)
    return [f"{skill} ±{error.rjust(width)}" if skill != "-" else "-" for skill, error in skills]


def _scores(matrix: HeadToHead, template: str, headers: Sequence[str], *, is_shaded: bool = False) -> list[Column]:
    """Make a column for each player; cells are padded to the right, so that scores stand below scores."""
    meetings = {(meeting.player, meeting.opponent): meeting for meeting in matrix.meetings}
    names = [player.name for player in matrix.players]
    columns = []
    for header, name in zip(headers, names, strict=True):
        column = [meetings.get((row, name)) for row in names]
        texts = [
            _score_text(meeting, template) if meeting else SELF_CELL * (row == name)
            for meeting, row in zip(column, names, strict=True)
        ]
        bare = [text.rstrip(" +-<>") for text in texts]
        marks = max(len(text) - len(score) for text, score in zip(texts, bare, strict=True))
        cells = [score + text[len(score) :].ljust(marks) for text, score in zip(texts, bare, strict=True)]
        surprises = [meeting.z or 0.0 if meeting and is_shaded else 0.0 for meeting in column]
        columns.append(Column(header, cells, surprises=surprises))
    return columns


def _score_text(meeting: Meeting, template: str) -> str:
    """Format the score of two players by `template`, with its marks."""
    score = "" if meeting.score is None else template.format(100 * meeting.score, meeting.matches)
    return f"{score}{meeting_marks(meeting)}".rstrip()


def meeting_marks(meeting: Meeting) -> str:
    """Return the mark of the significantly better player (`>` or `<`), then that of a surprising score; maybe none."""
    sure = "" if meeting.p_holm > WRONG else ">" if meeting.is_better else "<"
    return sure + surprise_mark(meeting.z or 0.0)


def _grid(columns: Sequence[Column]) -> str:
    """Format a table like those of tabulate, which would cut the blanks at the end of a cell."""
    heads = list(zip(*zip_longest(*(column.header.split("\n") for column in columns), fillvalue=""), strict=True))
    laid = []
    for column, head in zip(columns, heads, strict=True):
        width = max(map(len, (*head, *column.cells)))
        pad = str.ljust if column.align == "left" else str.rjust
        cells = zip_longest(column.cells, column.surprises, fillvalue=0.0)
        laid.append(
            [
                *(pad(line, width) for line in head),
                "-" * width,
                *(shade(pad(str(text), width), z) for text, z in cells),
            ]
        )
    return "\n".join("  ".join(row).rstrip() for row in zip(*laid, strict=True))


def _visible_width(table: str) -> int:
    """Return the width without the shades: that of the line of dashes."""
    return max(len(line) for line in table.splitlines() if "\x1b" not in line)


def _group_sentences(matrix: HeadToHead) -> Iterator[str]:
    """Yield a sentence on groups that no match connects, if there are several."""
    if len(matrix.groups) > 1:
        listed = "; ".join(map(list_some, matrix.groups))
        yield f"No match connects these groups, so that only players of the same one can be compared: {listed}."


def _intransitivity_sentence(matrix: HeadToHead) -> str:
    """Return the result of the test whether one skill per player explains the results, or why there is none."""
    test = matrix.intransitivity
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
    return f"{verdict} (X² = {test.chi_square:.1f} on {degrees}, {p}{_left_out_words(test.left_out)})"


def _left_out_words(names: Sequence[str]) -> str:
    """Name some of the players without a part in the test; JSON has all of them."""
    count = f"{len(names)} players: " if len(names) > 1 else ""
    return f"; among the players with close matches, without {count}{list_some(names)}" if names else ""


def _cycle_sentences(matrix: HeadToHead) -> Iterator[str]:
    """Yield the number of cycles, and the first of them with their likelihoods."""
    if not matrix.cycles_found:
        yield "No cycles: no A beats B beats C beats A with every step surer than 95 % by their direct matches."
        return
    yield (
        f"{counted(matrix.cycles_found, 'cycle')} with every step surer than 95 % by direct matches"
        f" ({matrix.cycles_by_chance:.2g} expected between equals):"
    )
    for cycle in matrix.cycles[:MOST_CYCLES_SHOWN]:
        steps = zip(cycle.players, (*cycle.players[1:], cycle.players[0]), cycle.likelihoods, strict=True)
        yield "; ".join(f"{winner} beats {loser} ({_percent_text(likelihood)})" for winner, loser, likelihood in steps)
    if matrix.cycles_found > MOST_CYCLES_SHOWN:
        yield f"and {matrix.cycles_found - MOST_CYCLES_SHOWN} more"


def _percent_text(likelihood: float) -> str:
    return "> 99.9 %" if likelihood > 0.999 else f"{100 * likelihood:.1f} %"
