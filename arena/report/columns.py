"""The columns of tables for people: one definition of each, for tables, `--columns all`, the docs and notebooks.

Rule: a meaning explains in plain words the number, its unit and which direction is better; cells are made from rows for
programs, as JSON has them, so that a notebook shows what the terminal shows.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from arena.errors import SpecError
from arena.match.record import Termination
from arena.report.formats import UNKNOWN, Column, Style, align, chance_percent, escape, intervals, percent, two_decimals
from arena.statistics.interval import Interval
from arena.store.times import minute
from arena.text import printable, unknown

TableRows = Sequence[Mapping[str, Any]]
"""The rows of a table as programs get them: values by the names of JSON."""
SHOWN: Final = 6
"""The number of default columns of a table: the first ones of each list here."""
SHOWN_STANDINGS: Final = 7
"""The number of default columns of the leaderboard."""
MOST_FAULTS: Final = 2
"""The number of kinds of fault, the most frequent ones, in a cell for a terminal."""
PLUS_MINUS: Final = (
    "the 95 % interval: if the league were played again and again, 95 of 100 such intervals would hold the true value."
    " `95.8 -8.2/+4.2` reaches 8.2 down and 4.2 up, because no score is above 100; `100.0 -13.9` is a bound where all"
    " blocks came out equal; `±?` means that the matches cannot tell"
)
_YES_NO: Final = {True: "yes", False: "no", None: UNKNOWN}
_SHORT: Final = {
    Termination.ILLEGAL_ACTION.value: "illegal",
    Termination.MALFORMED_REPLY.value: "malformed",
    Termination.PROTOCOL_VIOLATION.value: "protocol",
}


class Definition(msgspec.Struct, frozen=True):
    """The definition of a column: name for `--columns`, header of up to two lines, meaning, and cells.

    `fields` are its columns in CSV, or the beginnings of their names; none if CSV has a column of the same name. A key
    column identifies the rows: it is repeated in each part of a table that is too wide.
    """

    name: str
    header: str
    meaning: str
    cells: Callable[[TableRows, Style], Sequence[str]]
    fields: tuple[str, ...] = ()
    align: str = "right"
    is_key: bool = False

    def column(self, rows: TableRows, style: Style, links: Sequence[str] = ()) -> Column:
        """Make the column of a table with these rows."""
        return Column(self.header, self.cells(rows, style), self.align, self.meaning, links, is_key=self.is_key)


def select_columns(definitions: Sequence[Definition], style: Style, shown: int = SHOWN) -> list[Definition]:
    """Return the columns that a style asks for: those of given names (or fields), all, or the first `shown`.

    Names are compared by `normalise_name`; a column named twice comes once. SpecError for unknown names.
    """
    if not style.columns:
        return list(definitions if style.is_wide else definitions[:shown])
    known = {normalise_name(name): column for column in definitions for name in (*column.fields, column.name)}
    for name in style.columns:
        if normalise_name(name) not in known:
            raise SpecError(f"--columns: {unknown('column', name, [column.name for column in definitions])}")
    return list(dict.fromkeys(known[normalise_name(name)] for name in style.columns))


def select_fields(groups: Mapping[str, Sequence[str]], names: Iterable[str], fields: Sequence[str]) -> list[str]:
    """Return the names of the CSV columns with these names, or in groups of these names. SpecError for unknown names.

    A group has the columns that it lists; a listed name that ends in `_` stands for all columns that begin with it.
    """
    members = {name: [field for field in fields if _is_in_group(field, group)] for name, group in groups.items()}
    known = {normalise_name(name): group for name, group in members.items()}
    known |= {normalise_name(field): [field] for field in fields}
    for name in names:
        if not known.get(normalise_name(name)):
            owners = {field: group for group in reversed(members) for field in members[group]}
            listed = dict.fromkeys(owners.get(field, field) for field in fields)
            raise SpecError(f"--columns: {unknown('column', name, listed)}")
    return list(dict.fromkeys(field for name in names for field in known[normalise_name(name)]))


def _is_in_group(field: str, names: Sequence[str]) -> bool:
    """Return True if `names` lists the field, or the beginning of its name that ends in `_`."""
    return any(field == name or (name.endswith("_") and field.startswith(name)) for name in names)


def normalise_name(name: str) -> str:
    """Reduce a name to its letters and digits in lower case: `W-D-L` may be typed `wdl`."""
    return "".join(filter(str.isalnum, name.lower()))


def explanation(shown: Iterable[Definition], more: Mapping[str, str] | None = None) -> list[str]:
    """Return a sentence for each column, then one on ± if a header has it.

    `more` has additions of this table to some columns, by name.
    """
    columns = [(column, (more or {}).get(column.name, "")) for column in shown]
    sentences = [f"{column.name}: {column.meaning}{f'; {extra}' if extra else ''}" for column, extra in columns]
    has_intervals = any("±" in column.header for column, _ in columns)
    return [*sentences, f"±: {PLUS_MINUS}"] if has_intervals else sentences


def _text_cells(name: str, text: Callable[[Any], str]) -> Callable[[TableRows, Style], list[str]]:
    """Return the function that makes the cells of a column of one value by `text`."""
    return lambda rows, _style: [text(row.get(name)) for row in rows]


def _interval_cells(
    name: str, digits: int = 2, scale: float = 1.0, *, is_signed: bool = False
) -> Callable[[TableRows, Style], list[str]]:
    """Return the function that makes the cells of a column of values with intervals, in units of 1 / `scale`."""

    def cells(rows: TableRows, _style: Style) -> list[str]:
        return intervals([read_interval(row, name) for row in rows], digits, scale, is_signed=is_signed)

    return cells


def read_interval(row: Mapping[str, Any], name: str) -> Interval | None:
    """Read an interval from a row; an end that is not known is infinite. None without a value."""
    value, low, high = (row.get(key) for key in (name, f"{name}_low", f"{name}_high"))
    if value is None:
        return None
    return Interval(value, -math.inf if low is None else low, math.inf if high is None else high)


def _join(names: Sequence[str], between: str, text: Callable[[Any], str]) -> Callable[[TableRows, Style], list[str]]:
    """Return the function that makes the cells of a column of several values, with `between` between them."""

    def cells(rows: TableRows, _style: Style) -> list[str]:
        return align([tuple(text(row.get(name)) for name in names) for row in rows], between) if rows else []

    return cells


def _seat_cells(rows: TableRows, _style: Style) -> list[str]:
    """Return the scores by seat in percent, as `62.5/ 41.0`; a cell for each row."""
    return align([[percent(score) for score in row.get("score_by_seat", ())] for row in rows], "/") if rows else []


def _fault_cells(rows: TableRows, style: Style) -> list[str]:
    """Return the faults by kind, for each row; in a terminal the most frequent kinds only."""
    most = None if style.is_markdown else MOST_FAULTS
    return [fault_counts(row.get("faults", {}), most) for row in rows]


def fault_counts(faults: Mapping[str, int], most: int | None = None) -> str:
    """Format counts as `2 timeout, 1 crash, 3 more`, the `most` most frequent kinds first; `UNKNOWN` without faults."""
    ordered = sorted(faults.items(), key=lambda item: -item[1])
    parts = [f"{count} {_SHORT.get(kind, kind)}" for kind, count in ordered[:most]]
    others = sum(count for _, count in ordered[most:]) if most is not None else 0
    return ", ".join([*parts, f"{others} more"] if others else parts) or UNKNOWN


def _bot_cells(rows: TableRows, style: Style) -> list[str]:
    """Return name, version and the beginning of the hash of the bot of each row."""
    texts = (f"{row.get('bot')} {row.get('version')} ({str(row.get('hash'))[:8]})" for row in rows)
    return [escape(text) if style.is_markdown else printable(text) for text in texts]


def _name_cells(name: str) -> Callable[[TableRows, Style], list[str]]:
    """Return the function that makes the cells of a column of names, cut or escaped by the style."""
    return lambda rows, style: style.names([str(row.get(name)) for row in rows])


def _whole(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)


MATCHES: Final = Definition("matches", "matches", "number of stored matches", _text_cells("matches", _whole))
SCORE: Final = Definition(
    "score",
    "score %\n±95 %",
    "share of the points in percent, more is better: a win is 100, a draw 50, a loss 0",
    _interval_cells("score", 1, 100.0),
)
RESULTS: Final = Definition(
    "W-D-L",
    "W-D-L",
    "matches won, drawn and lost; a forfeit is a loss",
    _join(("wins", "draws", "losses"), "-", _whole),
    fields=("wins", "draws", "losses"),
)
MARGIN: Final = Definition(
    "margin",
    "margin\n±95 %",
    "points of the game won by on average, more is better: how high somebody wins, not how often; without forfeits",
    _interval_cells("margin", is_signed=True),
)
LUCK_ADJUSTED: Final = Definition(
    "luck-adjusted",
    "luck-adjusted %\n±95 %",
    "the score with the measured luck of each match subtracted: the same mean, a narrower interval; shown if it is"
    " surer, and no part of rank, mu or rating",
    _interval_cells("luck_adjusted", 1, 100.0),
)
FORFEITS: Final = Definition(
    "forfeits",
    "forfeits",
    "matches lost by the bot's own fault",
    _text_cells("forfeits", lambda count: str(count) if count else UNKNOWN),
)
DECISION_TIMES: Final = Definition(
    "ms/move",
    "ms/move\nmean/max",
    "milliseconds a decision took, the mean and the slowest, by the clock that decides; differs from run to run",
    _join(("mean_ms", "slowest_ms"), "/", two_decimals),
    fields=("mean_ms", "slowest_ms"),
)

LEADERBOARD: Final = (
    Definition(
        "rank",
        "rank",
        "place in the order of the rating, 1 is best; a rank has no error, so read it with `ahead`",
        _text_cells("rank", _whole),
        is_key=True,
    ),
    Definition(
        "player",
        "player",
        "name in this tournament; a bot may play under several names, with other arguments",
        _name_cells("player"),
        align="left",
        is_key=True,
    ),
    SCORE,
    RESULTS,
    Definition(
        "TrueSkill",
        "TrueSkill\nmu  sigma",
        "mu, the skill by TrueSkill in one pass over the matches in the order of the schedule, more is better; and"
        " sigma, its standard deviation by TrueSkill's own model, less is surer; a newcomer has 25.00 and 8.33",
        _join(("mu", "sigma"), "  ", two_decimals),
        fields=("mu", "sigma"),
    ),
    Definition(
        "rating",
        "rating\n±95 %",
        "TrueSkill's prior, beta and draw margin fitted to all matches at once, with an effect of each seat, so that"
        " their order does not matter; more is better, only differences mean anything; ± from blocks; a match of more"
        " than two counts as its pairs",
        _interval_cells("rating"),
    ),
    Definition(
        "ahead",
        "ahead\n95 %",
        "`yes` if the player is significantly better than the next: the 95 % interval of the difference in rating is"
        " above 0 (LOS 97.5 % or more); `no` does not mean equal: the matches cannot tell yet",
        _text_cells("ahead", _YES_NO.__getitem__),
    ),
    Definition(
        "LOS",
        "LOS\n%",
        "likelihood of superiority in percent: how likely the player is better than the one in the next line; 50 is a"
        " coin (`arena matrix` compares all pairs)",
        _text_cells("los", chance_percent),
    ),
    MARGIN,
    LUCK_ADJUSTED,
    Definition(
        "mu-3s",
        "mu-3s",
        "TrueSkill's mu less three sigma: a skill that the player has almost surely, more is better",
        _text_cells("mu_3s", two_decimals),
    ),
    Definition(
        "seats",
        "seats\n%",
        "score in percent in seat 0, 1 and so on; a bot that plays badly in one seat shows here",
        _seat_cells,
        fields=("score_seat_",),
    ),
    MATCHES,
    Definition(
        "faults",
        "faults",
        "matches lost by the bot's own fault, by kind; anything but `-` needs a look (`arena league matches --faults`)",
        _fault_cells,
        fields=("faults_",),
        align="left",
    ),
    DECISION_TIMES,
    Definition("bot", "bot", "the bot: its name, version and the beginning of its hash", _bot_cells, align="left"),
)
"""The columns of the leaderboard; the first SHOWN_STANDINGS are its default."""

_OF_STANDINGS: Final = {column.name: column for column in LEADERBOARD}
GRADES: Final = (
    msgspec.structs.replace(_OF_STANDINGS["rank"], meaning="place in the order of the rating, 1 is best"),
    Definition(
        "author",
        "author",
        "owner of the submitted bot; empty for a bot that was not submitted",
        _name_cells("author"),
        align="left",
        is_key=True,
    ),
    _OF_STANDINGS["player"],
    msgspec.structs.replace(
        SCORE,
        meaning="share of the points against the yardstick in percent, by the matches of the two (or at larger tables"
        " by who of the two came out better)",
    ),
    Definition(
        "better",
        "better\n95 %",
        "`yes` if the player is significantly better than the yardstick, as `>` in `arena matrix`: by the ratings from"
        " all matches, with Holm's correction for all pairs of the league; `no` does not mean worse",
        _text_cells("better", _YES_NO.__getitem__),
    ),
    Definition("faults", "faults", FORFEITS.meaning, _text_cells("faults", _whole)),
    Definition(
        "late",
        "late",
        "time of hand-in of a newer version, which counts from the next run; empty without one",
        _text_cells("late", lambda at: minute(at) if at else ""),
    ),
    Definition(
        "cost",
        "cost a decision\n% of a win ±95 %",
        "mean cost of a decision in percent of a win, less is better, by the judgements that `arena coach --league`"
        " kept: those of the latest judge who judged matches of all players",
        _interval_cells("cost", 2, 100.0),
    ),
    _OF_STANDINGS["bot"],
)
"""The columns of the grades for people; CSV also has ends of intervals, faults by kind, judge and judged matches."""


def section_columns(section: str) -> tuple[Definition, ...]:
    """Return the columns of a table of `arena stats`; `section` is opponent, seat or tenth."""
    name = Definition(
        "name",
        section,
        "a player it met, a seat (from 0), or a tenth of the schedule (from its first blocks to its last)",
        _name_cells("name"),
        align="left" if section == "opponent" else "right",
        is_key=True,
    )
    return name, MATCHES, SCORE, RESULTS, MARGIN, FORFEITS, LUCK_ADJUSTED
