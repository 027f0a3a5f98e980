"""The meanings of columns in the pages are those of the code."""

import runpy
from typing import Any

import pytest
from support.docs_pages import ROOT

from arena.report.columns import LEADERBOARD
from arena.report.matches import MATCH_COLUMNS

PROGRAM: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "columns.py"))
PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_say_of_columns_what_the_code_says(page: Any) -> None:
    """Else `python docs/columns.py` writes them anew."""
    text = page.read_text(encoding="utf-8")

    assert PROGRAM["filled"](text) == text
    assert text.count("<!-- end -->") == len(PROGRAM["PART"].findall(text))


def test_every_column_is_in_a_table() -> None:
    """That of the leaderboard, and that of the list of matches."""
    numbers, results = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("numbers.md", "results.md"))

    assert [each.name for each in LEADERBOARD if f"| `{each.name}` | {each.meaning} |" not in numbers] == []
    assert [each.name for each in MATCH_COLUMNS if f"| `{each.key}` | {each.meaning} |" not in results] == []


def test_a_change_of_a_meaning_is_found() -> None:
    """A word that is not in the code goes, a table that does not exist is no silent hole."""
    text = "<!-- meaning of rating -->\n\nsomething else\n\n<!-- end -->"

    assert "something else" not in PROGRAM["filled"](text)
    with pytest.raises(KeyError):
        PROGRAM["filled"](text.replace("rating", "raiting"))
