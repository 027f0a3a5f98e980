"""The authors of a class: a strict file, and whose a hand-in of a name is."""

from pathlib import Path

import pytest
from support.golden import Golden

from arena.errors import SpecError
from arena.store.authors import Author, match_author, read_authors

HEADER = "author,hand_in,address,active\n"


def authors_file(folder: Path, content: str | bytes) -> Path:
    file = folder / "authors.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def test_a_file_of_authors_is_read(tmp_path: Path) -> None:
    """Also as a spreadsheet writes it: a byte order mark, quotes, line ends of Windows, an empty line at the end."""
    file = authors_file(tmp_path, f'\ufeff{HEADER}ada,"Doe_Jane_,",jane@example.org,yes\r\nZoe\u0308, zo*e,,no\r\n\r\n')

    assert read_authors(file) == (
        Author("ada", "Doe_Jane_,", "jane@example.org", "yes"),
        Author("Zoë", "zo*e", "", "no"),
    )


@pytest.mark.parametrize(
    ("content", "mistakes"),
    [
        ("", ["line 1: expected the columns author,hand_in,address,active, found nothing"]),
        ("author;hand_in\n", ["line 1: expected the columns", "found author;hand_in"]),
        (f"{HEADER}ada,ada,x\n", ["line 2: active: expected one of no, yes, found nothing"]),
        (f"{HEADER}ada,ada,x,yes,no\n", ['line 2: unknown key "a fifth value"']),
        (f"{HEADER}ada,ada ,,yes\n", ["line 2: hand_in: expected 1 to 100 characters that print"]),
        (f"{HEADER}ada,ada,,maybe\n", ["line 2: active: unknown value", "no, yes"]),
        (
            f"{HEADER}ada,,,yes\nb/n,ben,,yes\n",
            ["line 2: hand_in: expected", "line 3: author: expected"],
        ),
        (
            f"{HEADER}ada,\x1b[2J,,yes\n",
            ["line 2: hand_in: expected 1 to 100 characters that print", "found '\\x1b[2J'"],
        ),
        (f'{HEADER}"a\nb",ada,,yes\n', ["line 3: author: expected"]),
        (f"{HEADER}ada,a\0b,,yes\n", ["line 2: "]),
        (f"{HEADER}ada,ada,x\x1b,yes\n", ["line 2: address: expected text of one line"]),
        (f'{HEADER}"ada,ada,,yes\n', ["mistakes:", "author: expected"]),
        (
            f"{HEADER}ada,a,,yes\nAda,b,,yes\nben,A,,yes\n",
            ["line 3: author: Ada is in line 2, too", "line 4: hand_in: A is in line 2, too"],
        ),
        (f"{HEADER}ada\u202e,ada,,yes\n", ["line 2: 'ada\\u202e' cannot be an owner"]),
        (HEADER.encode() + b"ad\xe9,ada,,yes\n", ["can't decode byte 0xe9", "; save the table as CSV in UTF-8"]),
        (HEADER + "x" * (1 << 18), ["field larger than field limit"]),
    ],
)
def test_a_mistake_names_line_and_column(tmp_path: Path, content: str | bytes, mistakes: list[str]) -> None:
    """All of them at once, each with the name of the file."""
    file = authors_file(tmp_path, content)

    with pytest.raises(SpecError) as error:
        read_authors(file)

    assert [mistake for mistake in mistakes if mistake not in str(error.value)] == []
    assert all(line.startswith((f"{file}: ", "  ")) for line in str(error.value).splitlines())


def test_a_file_that_is_missing_is_named(tmp_path: Path, golden: Golden) -> None:
    """As every other file of a command."""
    with golden.raises(SpecError):
        read_authors(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("name", "author"),
    [
        ("ada", "ada"),
        ("ada.zip", "ada"),
        ("adam", None),
        ("Ada", None),
        ("Doe_Jane_12345_assignsubmission_file_", "jane"),
        ("Doe_Jan", "jan"),
        ("Doe_Jan.tar.gz", "jan"),
        ("Doe_Janet_1", None),
        ("HW1_ben_attempt_2.zip", "ben"),
        ("HW1_attempt_ben.zip", None),
        ("Zoe\u0308", "zoë"),
        ("x[1].py", "brackets"),
        ("", None),
    ],
)
def test_the_longest_line_that_matches_has_the_author(name: str, author: str | None) -> None:
    """A name goes on only after the end of a word, so that Jan is not Janet."""
    lines = {
        "ada": "ada",
        "jan": "Doe_Jan",
        "jane": "Doe_Jane_",
        "ben": "*_ben_attempt_*",
        "zoë": "Zo\u00eb",
        "brackets": "x[1]",
    }
    found = match_author(name, [Author(author, hand_in, "", "yes") for author, hand_in in lines.items()])

    assert (found and found.name) == author


def test_two_lines_that_match_are_a_mistake_if_one_has_a_star(golden: Golden) -> None:
    """Else Ada could hand in for Benjamin: platforms put the name of her own file behind hers."""
    authors = [Author(name, f"*_{name}_attempt_*", "", "yes") for name in ("ada", "benjamin")]

    with golden.raises(SpecError):
        match_author("hw1_ada_attempt_1_benjamin_attempt_2.zip", authors)
