"""Golden texts: the wording of errors and pages, kept in tests/golden and nowhere else in the tests.

A test compares a text with what was kept under its own name::

    def test_a_name_is_needed(golden: Golden) -> None:
        with golden.raises(SpecError):
            convert({})
        golden(page)

`ARENA_REGOLD=1 pytest -n 0 tests/...` keeps the texts of the tests that run anew; read the difference before a commit.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

_Error = TypeVar("_Error", bound=BaseException)

TESTS = Path(__file__).parents[1]
FOLDER = TESTS / "golden"
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_HASH = re.compile(r"(?<![.\w])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,64}\b")


class Golden:
    """Texts of one test, in the order in which it compares them."""

    def __init__(self, path: Path, test: str, tmp_path: Path, *, is_new: bool) -> None:
        self.path, self.test, self.tmp_path, self.is_new = path, test, tmp_path, is_new
        self.texts: list[str] = []
        self.kept = [] if is_new else read_golden(path).get(test, [])

    def __call__(self, text: object, *, without: str = "") -> None:
        """Compare a text, or a list of lines, with what was kept.

        Temporary folders, hashes and what matches the pattern `without` do not count.
        """
        found = "\n".join(map(str, text)) if isinstance(text, list | tuple) else str(text)
        for path, name in (self.tmp_path, "TMP"), (sys.executable, "PYTHON"), (TESTS.parent, "ARENA"):
            found = found.replace(str(path), name)
        found = _HASH.sub("HASH", re.sub(without, "...", found) if without else found)
        found = re.sub(r"\b0x[0-9a-f]+\b", "HASH", found)
        found = _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", found)
        found = "\n".join(line.rstrip() for line in found.strip("\n").split("\n"))
        self.texts.append(found)
        kept = next(iter(self.kept[len(self.texts) - 1 :]), None)
        if not self.is_new and kept != found:
            self.is_new = True  # one difference is enough
            assert found == kept, f"{self.test} in {self.path}"

    @contextmanager
    def raises(
        self, expected: type[_Error] | tuple[type[_Error], ...], *, without: str = ""
    ) -> Iterator[pytest.ExceptionInfo[_Error]]:
        """Expect an error of this type with the kept message."""
        with pytest.raises(expected) as error:
            yield error
        self(f"{type(error.value).__name__}: {error.value}", without=without)


@pytest.fixture
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Golden]:
    """Golden texts of the test that asks for them."""
    path = (FOLDER / request.node.path.relative_to(TESTS)).with_suffix(".txt")
    texts = Golden(path, request.node.name, tmp_path, is_new="ARENA_REGOLD" in os.environ)
    yield texts
    if "ARENA_REGOLD" in os.environ:
        write_golden(path, {**read_golden(path), texts.test: texts.texts})
    elif not texts.is_new:
        assert len(texts.texts) == len(texts.kept), "texts that were kept and not compared"


def read_golden(path: Path) -> dict[str, list[str]]:
    """Return name of a test -> its texts, of one golden file; empty if there is none."""
    tests: dict[str, list[str]] = {}
    for section in path.read_text(encoding="utf-8").split("\n=== ")[1:] if path.exists() else []:
        name, _, texts = section.partition("\n")
        tests[name] = [re.sub(r"(?m)^    ", "", text).strip("\n") for text in re.split(r"(?m)^---\n", texts)[1:]]
    return tests


def write_golden(path: Path, tests: dict[str, list[str]], folder: Path = FOLDER) -> None:
    """Write the texts of these tests, sorted by name."""
    lines = [f"Texts of {path.relative_to(folder).with_suffix('.py')}"]
    for name, texts in sorted(tests.items()):
        lines += ["", f"=== {name}"]
        for text in texts:
            lines += ["---", *(f"    {line}" if line else "" for line in text.split("\n"))]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
