"""The report for an author, as Markdown and as HTML: the page of each of their bots, faults with stderr, and mistakes.

Rule: of a match it shows what the author's bot did and wrote to stderr, and of other players no more than names,
scores and counts. HTML is one file, with all text escaped, and nothing in it is loaded or run.
"""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from arena.league.profiles import AuthorReport
from arena.match.record import MatchRecord
from arena.report.coaching import mistake_text
from arena.report.formats import LONGEST_NAME_AT_ALL, Style, escape, escape_html, intervals
from arena.report.history import standing_columns
from arena.report.leaderboard import summary_sentence
from arena.report.matches import fault_reasons
from arena.report.profile import profile_page
from arena.standings.mistakes import PlayerMistakes
from arena.store.times import minute
from arena.text import counted

MOST_STDERR_LINES: Final = 20
"""The number of lines shown of the end of stderr."""
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def author_markdown(report: AuthorReport) -> str:
    """Format a report as Markdown."""
    pieces = filter(None, _pieces(report, Style(is_markdown=True)))
    return "\n\n".join([f"# {escape(_title(report))}", *pieces]) + "\n"


def author_html(report: AuthorReport) -> str:
    """Format a report as a page of HTML."""
    pieces = _pieces(report, Style(is_html=True, longest_name=LONGEST_NAME_AT_ALL))
    return _PAGE.format(title=escape_html(_title(report)), body="\n".join(pieces))


def _title(report: AuthorReport) -> str:
    return f"{report.author} in {report.bots[0].page.league}"


def _pieces(report: AuthorReport, style: Style) -> Iterator[str]:
    """Yield the pieces of a report in a style, bot by bot."""
    yield style.sentences([summary_sentence(report.standings)])
    for bot in report.bots:
        if bot.late:
            yield style.sentences([f"A newer version, handed in {minute(bot.late)}, counts from the next run."])
        yield from profile_page(bot.page).text(style)
        if report.runs[1:]:
            yield style.table(standing_columns(bot.page.row.name, report.runs))
        for record in bot.faulty:
            yield from _fault_pieces(record, bot.page.row.name, style)
        if bot.mistakes is not None:
            yield style.sentences(_cost_sentences(bot.mistakes, report.judge))


def _fault_pieces(record: MatchRecord, player: str, style: Style) -> Iterator[str]:
    """Yield the faults of a player in a match, and the end of the player's stderr if its fault ended the match."""
    seat, fault, stderr = record.players.index(player), record.fault, ""
    if fault is not None and fault.seat == seat:
        stderr = "\n".join(fault.stderr.rstrip().splitlines()[-MOST_STDERR_LINES:])
        record = replace(record, fault=replace(fault, stderr=""))
    yield style.sentences(f"Fault in {record.match}: {reason}" for reason in fault_reasons(record)[seat])
    if stderr:
        yield style.sentences(["The end of its stderr:"])
        yield style.output(stderr)


def _cost_sentences(mistakes: PlayerMistakes, judge: str) -> Iterator[str]:
    """Yield the mean cost of a decision, and the costliest ones with their matches."""
    (cost,) = intervals([mistakes.cost], 2, 100.0)
    matches = counted(mistakes.matches, "match", "matches")
    yield f"Mean cost of a decision in {matches}, in percent of a win: {cost}, by {judge}. The costliest decisions:"
    for mistake in mistakes.costliest:
        yield f"  {mistake.match}, step {mistake.decision.step}: {mistake_text(mistake.decision)}"
