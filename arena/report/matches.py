"""The matches of a league, one by one: lines for people, and CSV or JSON for programs.

Rule: any number of matches passes through, a piece of text at a time; none of them is kept in memory. Names and all
text that was stored are hostile input, as on every page (see `formats`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, islice
from operator import attrgetter
from textwrap import wrap
from typing import Any, Final, NamedTuple

from arena.match.record import MatchRecord, SeatRecord, plain_number
from arena.match.results import LUCK_UNIT, MatchResult, record_of
from arena.report.columns import select_fields
from arena.report.formats import PLAIN, UNKNOWN, Style, csv_pieces, json_text
from arena.text import counted, printable

MATCH_FORMATS: Final = ("table", "csv", "json")
_IN_A_PIECE: Final = 1000


class MatchColumn(NamedTuple):
    """A column of the list of matches: its name in CSV, its key in JSON, its meaning.

    A column that `is_by_seat` is a list in JSON; in CSV it is a column for each seat, such as `player_0`.
    """

    name: str
    key: str
    meaning: str
    is_by_seat: bool = False

    def fields(self, seats: int) -> list[str]:
        """Return the names of its columns in CSV."""
        return [f"{self.name}_{seat}" for seat in range(seats)] if self.is_by_seat else [self.name]

    def value(self, match: MatchResult) -> Any:
        """Return its value in JSON; `reasons` need the record of the match."""
        return _VALUES[self.key](match)


_ABOUT_THE_MATCH: Final = (
    MatchColumn("id", "id", "the id of the match, as `arena show` takes it: pairing, block and rotation"),
    MatchColumn("pairing", "pairing", "the key of the players who met; matches of one pairing and block share luck"),
    MatchColumn("block", "block", "the number of the block of that pairing, from 0; a block is one observation"),
    MatchColumn("rotation", "rotation", "the rotation of the seats in that block, from 0"),
    MatchColumn("termination", "termination", "`normal`, or the fault that ended the match"),
    MatchColumn("at_fault", "at_fault", "the seat whose fault it was; nothing without one"),
    MatchColumn("isolation", "isolation", "around the bots: `sandbox` or `none`"),
    MatchColumn("luck_version", "luck_version", "the version of the value that measured luck; nothing if none was"),
)
_BY_SEAT: Final = tuple(
    MatchColumn(name, key, meaning, is_by_seat=True)
    for name, key, meaning in (
        ("player", "players", "the player of the seat"),
        ("rank", "ranks", "number of others that came out better, less is better; equal ranks are a tie"),
        ("score", "scores", "points of the game, more is better; nothing after a forfeit"),
        ("luck", "luck", "luck in payoff, of which 1 is a win and 0 a loss; nothing if none was measured"),
        ("moves", "moves", "number of decisions"),
        ("time_us", "time_us", "microseconds of all decisions, of the kind (CPU or wall) that decides"),
        ("slowest_us", "slowest_us", "the same of the slowest decision"),
        ("startup_us", "startup_us", "microseconds until `ready`"),
        ("idle_us", "idle_us", "microseconds asleep while an answer was due"),
        ("timeouts_by_load", "timeouts_by_load", "timeouts for which the load of the machine was to blame"),
        ("pardoned", "pardoned", "faults after which the game went on: `illegal_action 2`; in JSON by code"),
        ("reasons", "reasons", "with `--faults`: a sentence for each fault, the last one ended the match"),
    )
)
MATCH_COLUMNS: Final = (*_ABOUT_THE_MATCH, *_BY_SEAT)
_VALUES: Final[dict[str, Callable[[MatchResult], Any]]] = {
    **{column.key: attrgetter(column.key) for column in MATCH_COLUMNS},
    "id": lambda match: str(match.key),
    "pairing": attrgetter("key.pairing"),
    "block": attrgetter("key.block"),
    "rotation": attrgetter("key.rotation"),
    "luck_version": lambda match: match.luck_version or None,
    "scores": lambda match: None if match.scores is None else [*map(plain_number, match.scores)],
    "luck": lambda match: [luck / LUCK_UNIT for luck in match.luck] or None,
    "pardoned": lambda match: match.pardoned or [{}] * len(match.players),
    "reasons": lambda match: fault_reasons(record_of(match)),
}
"""The functions that return the values in JSON, by key; most are attributes of a result."""


def match_list(
    results: Iterable[MatchResult],
    *,
    seats: int,
    form: str,
    has_reasons: bool = False,
    style: Style = PLAIN,
) -> Iterator[str]:
    """Yield the matches of a league with `seats` seats in one of `MATCH_FORMATS`, in pieces of whole lines.

    `csv` has a line for each match under a header. `json` is an array with one match a line, so that it can be read
    whole or by lines. Chosen columns are those of `csv` in each format; SpecError for an unknown one.

    With `has_reasons` each match, which then needs its record, has the reasons of its faults: below its line, broken at
    the width of the style; in `csv` and `json` as the last values, by seat.
    """
    columns = MATCH_COLUMNS if has_reasons else MATCH_COLUMNS[:-1]
    fields = [field for column in columns for field in column.fields(seats)]
    groups = {name: column.fields(seats) for column in columns for name in (column.name, column.key)}
    names = select_fields(groups, style.columns, fields)
    row = partial(_csv_values, columns, seats, [fields.index(name) for name in names or fields])
    if form == "csv":
        yield from csv_pieces(names or fields, map(row, results))
    elif form == "json" and names:
        yield from _json_array(json_text(dict(zip(names, row(match), strict=True))) for match in results)
    elif form == "json":
        yield from _json_array(json_text({column.key: column.value(match) for column in columns}) for match in results)
    elif names or style.is_wide:
        yield from _join_lines(f"{'  '.join(map(_cell_text, row(match)))}\n" for match in results)
    else:
        yield from _join_lines(f"{line}\n" for match in results for line in _lines_of_match(match, style.width))
    if style.is_wide and form == "table":
        yield f"\n{style.sentences(f'{column.name}: {column.meaning}' for column in columns)}\n"


def _csv_values(columns: Sequence[MatchColumn], seats: int, places: Sequence[int], match: MatchResult) -> list[Any]:
    """Return the values of a match in CSV, those with the indices `places` among all columns."""
    cells: list[Any] = []
    for column in columns:
        value = column.value(match)
        cells += (value or (None,) * seats) if column.is_by_seat else (value,)
    return [cells[place] for place in places]


def fault_reasons(record: MatchRecord) -> tuple[tuple[str, ...], ...]:
    """Return, by seat, a sentence for each fault that the record keeps; last the fault that ended the match."""
    reasons = []
    for seat, entry in enumerate(record.seats):
        sentences = refusal_sentences(entry)
        more = sum((entry.faults or {}).values()) - len(sentences)
        sentences += [f"and {counted(more, 'more fault')} after which the game went on"] if more > 0 else []
        fault = record.fault
        if fault is not None and fault.seat == seat:
            stderr = fault.stderr.strip().splitlines()
            details = [f"{record.termination}: {fault.message}", f"got {fault.got}" if fault.got else ""]
            details += [f"the last line of its stderr: {stderr[-1]}"] if stderr else []
            sentences.append("; ".join(filter(None, details)))
        reasons.append(tuple(map(printable, sentences)))
    return tuple(reasons)


def refusal_sentences(entry: SeatRecord) -> list[str]:
    """Return a sentence for each refused answer of a seat, as far as the record keeps them.

    `for step 12: illegal_action (no_room): the piece has no room`.
    """
    reasons = ((fault, f" ({fault.reason})" if fault.reason else "") for fault in entry.refusals or ())
    return [f"for step {fault.step}: {fault.code}{reason}: {fault.message}" for fault, reason in reasons]


def _lines_of_match(match: MatchResult, width: int | None) -> list[str]:
    """Return the line of a match, and below it the reasons of its faults, if it has its record."""
    lines = [_result_line(match)]
    for name, sentences in zip(match.players, fault_reasons(record_of(match)) if match.record else (), strict=False):
        for sentence in sentences:
            text = f"    {_printable(name)}: {sentence}"
            lines += [text] if width is None else wrap(text, width, subsequent_indent=" " * 6)
    return lines


def _result_line(match: MatchResult) -> str:
    """Format a match in a line: `82f1...-0-1 greedy v random 12:7 normal`."""
    return "  ".join([str(match.key), *match_words(match)])


def match_words(match: MatchResult) -> tuple[str, ...]:
    """Return the players of a match by seat, the scores, the end, and faults after which it went on, if any.

    For example `greedy v random`, `12:7`, `normal`.
    """
    seats = [_printable(name) for name in match.players]
    scores = "-" if match.scores is None else ":".join(map(str, match.scores))
    guilty = "" if match.at_fault is None else f" by {seats[match.at_fault]}"
    pardons = [
        f"{count} {code} by {name}"
        for name, counts in zip(seats, match.pardoned, strict=False)
        for code, count in counts.items()
    ]
    pardoned = (f"went on after {', '.join(pardons)}",) if pardons else ()
    return " v ".join(seats), scores, f"{match.termination}{guilty}", *pardoned


def _cell_text(value: object) -> str:
    """Format a value for a line of text; `UNKNOWN` for an empty one."""
    if value in (None, "", (), {}):
        return UNKNOWN
    match value:
        case dict():
            value = ", ".join(f"{name} {count}" for name, count in value.items())
        case tuple():
            value = "; ".join(value)
    return _printable(str(value))


_printable = lru_cache(maxsize=4096)(printable)


def _json_array(objects: Iterator[str]) -> Iterator[str]:
    """Yield a JSON array of these objects, one on a line, in pieces of whole lines."""
    first = next(objects, None)
    if first is None:
        return iter(["[]\n"])
    return _join_lines(chain([f"[\n{first}"], (f",\n{text}" for text in objects), ["\n]\n"]))


def _join_lines(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines in pieces of many lines."""
    while piece := "".join(islice(lines, _IN_A_PIECE)):
        yield piece
