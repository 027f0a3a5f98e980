"""The report for an author, as Markdown and as HTML.

Rule: of a match it shows what the author's bot did and wrote to stderr, and of other players no more than names,
scores and counts. HTML is one file, with all text escaped, and nothing in it is loaded or run.
"""

from collections.abc import Callable, Iterator, Sequence
from html import escape as escape_html
from typing import Final

import msgspec

from arena.league.author_reports import AuthorReport, BotReport
from arena.match.record import MatchRecord
from arena.report.coaching import mistake_text
from arena.report.formats import (
    LONGEST_NAME_AT_ALL,
    Column,
    Style,
    escape,
    format_table,
    half_width,
    two_decimals,
)
from arena.report.leaderboard import summary_sentence
from arena.report.matches import fault_reasons
from arena.report.profile import (
    drift_sentence,
    extreme_lines,
    fault_sentences,
    head_sentences,
    look_sentences,
    section_table,
    time_columns,
    time_sentences,
)
from arena.text import printable

MOST_STDERR_LINES: Final = 20
"""The number of lines shown of the end of stderr."""
_MARKDOWN: Final = Style(is_markdown=True)
_HTML: Final = Style(longest_name=LONGEST_NAME_AT_ALL)
_SECTIONS: Final = {"opponent": "By opponent", "seat": "By seat", "tenth": "By tenth of the schedule"}
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>td, th {{ padding: 0 0.5em }} pre {{ border: 1px solid; padding: 0.5em; overflow: auto }}</style>
</head>
<body>
{body}
</body>
</html>
"""


class _Part(msgspec.Struct, frozen=True):
    """A part of a report: heading, sentences, the columns of a table, and `output` of a bot."""

    heading: str = ""
    sentences: Sequence[str] = ()
    columns: Sequence[Column] = ()
    output: str = ""
    level: int = 3


def author_markdown(report: AuthorReport) -> str:
    """Format a report as Markdown."""
    return "\n\n".join(filter(None, _pieces(report, _MARKDOWN, _markdown_pieces))) + "\n"


def author_html(report: AuthorReport) -> str:
    """Format a report as a page of HTML."""
    body = "\n".join(filter(None, _pieces(report, _HTML, _html_pieces)))
    return _PAGE.format(title=_html_text(_title(report)), body=body)


def _pieces(report: AuthorReport, style: Style, format_part: Callable[[_Part], Iterator[str]]) -> Iterator[str]:
    """Yield the pieces of all parts of a report in a format."""
    yield from format_part(_Part(_title(report), [summary_sentence(report.standings)], level=1))
    for bot in report.bots:
        for part in _parts(bot, report.judge, style):
            yield from format_part(part)


def _markdown_pieces(part: _Part) -> Iterator[str]:
    """Yield the pieces of a part as Markdown; output is an indented block, which no line of it can end."""
    yield f"{'#' * part.level} {escape(part.heading)}" if part.heading else ""
    yield _MARKDOWN.sentences(part.sentences)
    yield format_table(part.columns, "pipe") if part.columns else ""
    yield "\n".join(f"    {printable(line)}" for line in part.output.splitlines())


def _html_pieces(part: _Part) -> Iterator[str]:
    """Yield the pieces of a part as HTML."""
    yield f"<h{part.level}>{_html_text(part.heading)}</h{part.level}>" if part.heading else ""
    yield from (f"<p>{_html_text(sentence.strip())}</p>" for sentence in part.sentences)
    yield format_table(part.columns, "html") if part.columns else ""
    yield f"<pre>{_html_text(part.output)}</pre>" if part.output else ""


def _html_text(text: str) -> str:
    """Escape text for HTML, without characters that do not print."""
    return escape_html(printable(text, keep="\n"))


def _title(report: AuthorReport) -> str:
    return f"{report.author} in {report.bots[0].page.league}"


def _parts(bot: BotReport, judge: str, style: Style) -> Iterator[_Part]:
    """Yield the parts on one bot: results, faults, notable matches and costly decisions."""
    page, profile = bot.page, bot.page.profile
    title, *head = head_sentences(page)
    yield _Part(title, head, level=2)
    if not page.row.matches:
        return
    for section, lines in page.sections:
        rows, shown = section_table(page, section, lines, style)
        yield _Part(_SECTIONS[section], columns=[definition.column(rows, style) for definition in shown])
    times = time_columns(page) if page.timing.moves else ()
    yield _Part("Time and drift", [drift_sentence(profile.drift), *time_sentences(page)], times)
    yield _Part("Faults", [*fault_sentences(page)])
    yield from (_fault_part(record, page.row.name) for record in bot.faulty)
    kinds = {"Closest matches": profile.closest, "Biggest wins": profile.wins, "Biggest losses": profile.losses}
    extremes = [line for kind, matches in kinds.items() for line in extreme_lines(kind, matches)]
    yield _Part("Matches to look at", [*extremes, *look_sentences(page)])
    if bot.mistakes is not None:
        yield _Part("Costliest decisions", [*_cost_sentences(bot, judge)])


def _fault_part(record: MatchRecord, player: str) -> _Part:
    """Return the faults of a player in a match, and the end of the player's stderr if it ended the match."""
    seat, fault, stderr = record.players.index(player), record.fault, ""
    if fault is not None and fault.seat == seat:
        stderr = "\n".join(fault.stderr.rstrip().splitlines()[-MOST_STDERR_LINES:])
        record = msgspec.structs.replace(record, fault=msgspec.structs.replace(fault, stderr=""))
    reasons = [f"{record.match}: {reason}" for reason in fault_reasons(record)[seat]]
    return _Part(sentences=[*reasons, *(["The end of its stderr:"] if stderr else ())], output=stderr)


def _cost_sentences(bot: BotReport, judge: str) -> Iterator[str]:
    """Yield the mean cost of a decision, and the costliest ones with their matches."""
    mistakes = bot.mistakes
    if mistakes is None or mistakes.cost is None:
        yield "No decision is judged."
        return
    cost = f"{two_decimals(100 * mistakes.cost.value)} {half_width(mistakes.cost, 2, 100.0)}"
    yield f"A decision cost {cost} % of a win, by {judge}."
    for mistake in mistakes.costliest:
        yield f"  {mistake.match}, step {mistake.decision.step}: {mistake_text(mistake.decision)}"
