"""The words of the code: terms of the field, sentences that open with their subject.

Names on the wire, in records, in YAML and in the database are strings: they stay as they are.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

TERMS = {
    "contestant": "bot player",
    "conversation": "dialogue",
    "dibs": "a game's name that tells what it has",
    "doors": "capabilities",
    "foretell": "predict",
    "foretells": "predict",
    "foretold": "predicted",
    "friendly": "exhibition",
    "habits": "remarks",
    "imagine": "what_if",
    "insist": "require",
    "lenience": "fault_policy",
    "miscount": "answer_count_error",
    "nature": "simulator",
    "parrot": "a game's name that tells what it has",
    "raft": "a game's name that tells what it has",
    "shelf": "bundled bots",
    "unheard": "discarded_output",
    "zoo": "hostile bots",
}
"""Words that no name in the code has, and the term of the field in their place."""

OPENINGS = ("What", "Whatever", "Who", "Whoever", "Whose", "Where", "Wherever", "How", "That which", "See `")
"""A sentence of a docstring or a comment opens with a noun of the glossary or a verb instead."""


def sources() -> list[Path]:
    """The modules of the package, without the bots that `new-bot` copies."""
    return sorted(path for path in (ROOT / "arena").rglob("*.py") if "templates" not in path.parts)


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Docstrings and comments of a module, each with its line."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


@pytest.mark.parametrize("folder", ["arena", "tests", "benchmarks"])
def test_a_name_uses_the_term_of_the_field(folder: str) -> None:
    """The word that stands for a banned one is in `TERMS`."""
    banned = re.compile("|".join(TERMS), re.IGNORECASE)
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).rglob("*.py"))}

    found = [
        f"{path.relative_to(ROOT)}:{token.start[0]}: {token.string}"
        for path, text in texts.items()
        if banned.search(text)  # most have none, and a search takes less than reading them word by word
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.NAME and TERMS.keys() & set(re.split(r"_|(?<=[a-z])(?=[A-Z])", token.string.lower()))
    ]

    assert found == []


def test_a_sentence_opens_with_its_subject() -> None:
    """Also the second one, and also in a comment."""
    words = re.compile("|".join(map(re.escape, OPENINGS)))
    opening = re.compile(rf"(?:^|[.!?] |\n\s*\n)\s*(?:{words.pattern})\b")

    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sources()
        if words.search(path.read_text(encoding="utf-8"))
        for line, text in prose(path)
        if opening.search(text)
    ]

    assert found == []


def test_a_module_has_at_most_500_lines() -> None:
    """A longer one is two rooms."""
    sizes = {path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}

    assert {str(path): lines for path, lines in sizes.items() if lines > 500} == {}


def test_a_test_module_has_at_most_500_lines() -> None:
    """A longer one has two subjects."""
    sizes = {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n")
        for path in (ROOT / "tests").rglob("*.py")
    }

    assert {path: lines for path, lines in sizes.items() if lines > 500} == {}


def test_the_lanes_of_ci_run_tests_that_are_there() -> None:
    """A lane whose file has moved would end with an error that only CI sees."""
    named = re.findall(r"tests/[\w/.]*\w", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))

    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []
