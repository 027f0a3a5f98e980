"""Tables of promises on pages: each names a test that attacks it, and that test is there."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = ("docs/sandbox.md", "docs/how-it-works.md", "docs/results.md", "docs/statistics.md")
"""The pages that own a subject: isolation, fairness and the protocol, exactly-once, statistics."""
ROWS: Final = [
    (page, *row)
    for page in PAGES
    for table in (ROOT / page).read_text(encoding="utf-8").split("| promise | attacked by |")[1:]
    for row in re.findall(r"^\| (.+?) \| (.+) \|$", table.partition("\n\n")[0], flags=re.MULTILINE)
]


def test_each_page_has_its_table() -> None:
    """A heading that was changed would leave nothing to look at."""
    assert {page for page, *_ in ROWS} == set(PAGES)


@pytest.mark.parametrize(("page", "promise", "tests"), ROWS)
def test_each_promise_has_tests_that_exist(page: str, promise: str, tests: str) -> None:
    """Files below `tests`, and functions in the file that was named last."""
    names = re.findall(r"`((?:\w+/)*test_\w+(?:\.py)?)`", tests)
    functions: set[str] = set()
    for name in names:
        if name.endswith(".py"):
            (file,) = (ROOT / "tests").rglob(name)
            functions = set(re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), flags=re.MULTILINE))
        else:
            assert name in functions, f"{page}: {promise}: no {name}"

    assert names


def test_there_are_as_many_hostile_bots_as_is_said() -> None:
    """More than the page of the sandbox says, and not twice as many."""
    said = int(re.findall(r"more than (\d+) such bots", (ROOT / PAGES[0]).read_text(encoding="utf-8"))[0])
    behaviours = sum(
        len(re.findall(r"^@(?:attempt|start|instead_of)", path.read_text(encoding="utf-8"), flags=re.MULTILINE))
        for path in (ROOT / "tests" / "hostile" / "bots").glob("bot_*.py")
    )

    assert said < behaviours < 2 * said
