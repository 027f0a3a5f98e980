"""The report for an author: of a match with faults of both players, only the own side; no name or output breaks it."""

from html.parser import HTMLParser
from typing import Any

import pytest
from msgspec.structs import replace
from support.report_leagues import FOUR, HOSTILE, forfeit, odd_leagues, profile_of, result, tables
from support.report_made import record

from arena.league.profiles import AuthorReport, BotReport
from arena.match.record import Forfeit, RefusedAnswer, Termination
from arena.match.results import MatchResult
from arena.report.authors import author_html, author_markdown

PAGE = ("html", "head", "meta", "title", "style", "body")
TAGS = {*PAGE, "h1", "h2", "h3", "p", "pre", "table", "thead", "tbody", "tr", "th", "td"}


class Tags(HTMLParser):
    """The elements of a page, with the text of those of output."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names = set[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names.add(tag)
        assert all(name in {"lang", "charset", "http-equiv", "content", "name", "style"} for name, _ in attrs)


def report(results: list[MatchResult], names: tuple[str, ...] = FOUR, author: str = "author", **changes: Any) -> Any:
    bot = BotReport(profile_of(names[0], results, names), **{"faulty": (), "mistakes": None, **changes})
    return AuthorReport(author, tables(results, names)[0], "", (bot,))


@pytest.mark.parametrize("name", odd_leagues())
def test_odd_leagues_have_reports(name: str) -> None:
    """Without a match there is a sentence and no table."""
    made = report(odd_leagues()[name])

    assert author_markdown(made).startswith("# author in test\n\n")
    assert Tags(author_html(made)).names <= TAGS
    assert ("No match of it is stored" in author_markdown(made)) == ("| opponent" not in author_markdown(made))


def test_only_the_own_seat_of_a_match_is_shown() -> None:
    """Refused answers, the fault, what it got, and stderr of either player stand in the report of that one alone."""
    both = record()
    seats = [
        replace(
            seat,
            player=name,
            faults={"illegal_action": 2},
            refusals=(RefusedAnswer(1, "illegal_action", f"refusal of {name}"),),
        )
        for name, seat in zip(FOUR, both.seats, strict=False)
    ]
    fault = Forfeit(1, "message of bob", "hint of bob", "got of bob", "stderr of bob\n" * 30, ("> dialogue of bob",))
    both = replace(both, seats=tuple(seats), fault=fault, termination=Termination.CRASH, scores=None)
    results = [forfeit(0, FOUR[:2], 1, "crash")]

    ann, bob = (
        [write(report(results, names, faulty=(both,))) for write in (author_markdown, author_html)]
        for names in (FOUR, ("bob", "ann"))
    )

    for text in ann:
        assert "refusal of ann" in text
        assert " of bob" not in text
    for text in bob:
        assert "refusal of bob" in text
        assert "message of bob; got got of bob" in text
        assert text.count("stderr of bob") == 20
        assert "refusal of ann" not in text


@pytest.mark.parametrize("text", [*HOSTILE, "</pre><script>", "```\n# no", "</title>", "a\r\nb"])
def test_no_text_breaks_a_report(text: str) -> None:
    """As the name of an author, of a player, of an opponent or as stderr: elements and lines are those of others."""
    own = f"{text}-own"
    fault = Forfeit(0, text, "", text, f"{text}\n", ())
    seats = tuple(replace(seat, player=name) for seat, name in zip(record().seats, (own, text), strict=True))
    faulty = replace(record(), seats=seats, fault=fault, termination=Termination.CRASH, scores=None)
    made = report([result(0, (own, text), (1, 0))], (own, text), text, faulty=(faulty,))

    markdown, page = author_markdown(made), author_html(made)

    assert Tags(page).names <= TAGS
    assert (markdown + page).replace("\n", "").isprintable()
    assert [line for line in markdown.splitlines() if line.startswith("# ")] == [markdown.splitlines()[0]]
