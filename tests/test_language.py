"""The words of the code: names use the terms of the field, as docs/glossary.md has them.

Names on the wire, in records, in YAML and in the database are strings: they stay as they are.
"""

import ast
import io
import re
import tokenize
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


@pytest.mark.parametrize("folder", ["arena", "tests", "benchmarks"])
def test_a_name_uses_the_term_of_the_field(folder: str) -> None:
    """The word that stands for a banned one is in `TERMS`."""
    banned = re.compile(rf"(?<![a-z])({'|'.join(TERMS)})(?![a-z])", re.IGNORECASE)
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).rglob("*.py"))}

    found = [
        f"{path.relative_to(ROOT)}:{token.start[0]}: {token.string}"
        for path, text in texts.items()
        if banned.search(text)  # most have none, and a search takes less than reading them word by word
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.NAME and TERMS.keys() & set(re.split(r"_|(?<=[a-z])(?=[A-Z])", token.string.lower()))
    ]

    assert found == []


RIDDLES = re.compile(r"(All|By|Each|Of|One|That|The same|Those|Whether)\b")


def test_a_docstring_begins_with_a_verb_or_a_noun() -> None:
    """Ruff's D401 passes words that leave out what is meant, and does not look at classes and modules."""
    documented = [
        (path, node)
        for path in sorted((ROOT / "arena").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module)
    ]
    riddles = [(path, node) for path, node in documented if RIDDLES.match(ast.get_docstring(node, clean=False) or "")]

    assert [f"{path}:{getattr(node, 'name', 'module')}" for path, node in riddles] == []


PAGES = [path for pattern in ("*.md", "benchmarks/README.md", "docs/*.md") for path in sorted(ROOT.glob(pattern))]
PAGE_TERMS = {
    "in flight": "in play",
    "lenient": "a game with faults that do not forfeit",
    "pardons": "faults that do not forfeit",
    "process life": "job",
    "strangers' bots": "untrusted bots",
}
"""Words that no page has, and the term of the field in their place."""
LONGEST_AVERAGE = 25


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_in_plain_words(page: Path) -> None:
    """No page has a banned word, and its sentences have 25 words on average at most."""
    prose = re.sub(r"^```.*?^```$|<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^[|#].*$", "", prose, flags=re.MULTILINE)
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n|\n\s*(?=- |\d+\. )", prose)]
    sentences = [part for text in paragraphs for part in re.split(r"(?<=[.!?:;])\s+(?=[A-Z*\[`])", text) if part]

    assert re.findall(rf"\b({'|'.join(PAGE_TERMS)})\b", " ".join(paragraphs), re.IGNORECASE) == []
    assert sum(len(part.split()) for part in sentences) <= LONGEST_AVERAGE * len(sentences)
