"""The parts of pages that the code knows are those of today's code."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from support.docs_pages import ROOT

PROGRAM: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "generated.py"))


@pytest.mark.parametrize("page", PROGRAM["PAGES"], ids=lambda page: page.name)
def test_pages_say_what_the_code_says(page: Path) -> None:
    """Else `python docs/generated.py` writes them anew; each end of a part has its beginning."""
    text = page.read_text(encoding="utf-8")

    assert PROGRAM["fill_page"](text) == text
    assert text.count("<!-- end -->") == len(PROGRAM["PART"].findall(text))


NAMED = re.findall(r"`(\w+)`\s+\(`([\w/]+\.py)`\)", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "module"), NAMED)
def test_architecture_names_what_there_is(name: str, module: str) -> None:
    """Functions and classes stand in the module that the page gives."""
    source = (ROOT / "arena" / module).read_text(encoding="utf-8")

    assert re.search(rf"^(?:def|class) {name}\b", source, re.MULTILINE)
