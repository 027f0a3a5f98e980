"""The grades of a league as a page: a line for each player."""

from collections.abc import Iterator

from arena.report.columns import GRADES, explanation, select_columns
from arena.report.formats import Style
from arena.report.page import Page, Records
from arena.standings.grades import Grades, grade_fields


def grades_page(grades: Grades) -> Page:
    """Make the page of the grades."""
    judge = grades.mistakes.by if grades.mistakes else None
    rows = [{**grade_fields(grade), "judge": judge} for grade in grades.players]

    def text(style: Style) -> Iterator[str]:
        """Yield the parts of the page in a style: table, meanings of its columns, sentences."""
        shown = select_columns(GRADES, style, len(GRADES))
        yield style.table(style.fit(lambda style: [column.column(rows, style) for column in shown]))
        if style.is_wide:
            yield style.sentences(explanation(shown))
        yield style.sentences(_sentences(grades))

    def records() -> Records:
        """Return the columns and the rows of CSV."""
        return tuple(rows[0]), rows

    document = {"league": grades.league, "yardstick": grades.yardstick, "judge": judge, "players": rows}
    return Page(text, records, lambda: document, definitions=GRADES)


def _sentences(grades: Grades) -> Iterator[str]:
    """Yield what the scores are against, and whose judgements the costs are."""
    yield f"{grades.league}: scores are against {grades.yardstick}"
    mistakes = grades.mistakes
    if mistakes is None:
        yield f"no costs: no judge has judged matches of all players; `arena coach --league {grades.league}` does"
    else:
        yield f"costs by {mistakes.by}, in {mistakes.judged} of {mistakes.stored} matches"
