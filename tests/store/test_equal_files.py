"""Equal files of different authors, and what does not make them differ."""

from pathlib import Path

import pytest

from arena.bundled import bundled_folder
from arena.store.equal_files import find_equal_files

SOURCE = """
def choose(legal, view):
    best = None
    for action in legal:
        score = view["piles"][action] * 3 + 17
        if best is None or score > best[0]:
            best = (score, action)
    return best[1]
"""


def bots(folder: Path, **sources: str) -> list[tuple[str, Path]]:
    """A bot of each author, which has one file of its own."""
    for author, source in sources.items():
        (folder / author).mkdir()
        (folder / author / "bot.yaml").write_text("name: x\ncommand: [python3, bot.py]\n" + "# word\n" * 50)
        (folder / author / f"{author}_bot.py").write_text(source)
    return [(author, folder / author) for author in sources]


@pytest.mark.parametrize(
    ("other", "is_equal"),
    [
        (SOURCE, True),
        (SOURCE.replace("    ", "\t").replace("\n", "\r\n\r\n").replace(" = ", "="), True),
        (SOURCE.replace("best", "top").replace("legal", "ü").replace("action", "a1"), True),
        (SOURCE.replace("17", "18"), False),
        (SOURCE.replace("score >", "score >="), False),
        (SOURCE.replace("for action in legal", "for legal in action"), False),
        ("", False),
    ],
)
def test_white_space_and_names_make_no_difference(tmp_path: Path, other: str, is_equal: bool) -> None:
    """Numbers, signs, and which name is where do; the manifest is not looked at."""
    found = find_equal_files(bots(tmp_path, ada=SOURCE, ben=other, kim="import nothing\n"), ())

    expected = {"ada": ["ada_bot.py equals ben_bot.py of ben"], "ben": ["ben_bot.py equals ada_bot.py of ada"]}
    assert found == (expected if is_equal else {})


def test_short_files_kits_and_own_files_are_left_out(tmp_path: Path) -> None:
    """Two bots of one author may be equal, and all may have what comes with arena."""
    kit = (bundled_folder("bots") / "sensible" / "arena_kit.py").read_text()
    found = bots(tmp_path, ada=kit, ben=kit.replace("  ", "\t"), kim="import bot\n", eve="import bot\n", zoe=SOURCE)

    assert find_equal_files([*found, ("zoe", tmp_path / "zoe")], [bundled_folder("bots")]) == {}
    assert set(find_equal_files(found, [])) == {"ada", "ben"}


def test_a_file_that_a_class_has_in_common_is_a_short_line(tmp_path: Path) -> None:
    """Four files are named, and how many more there are."""
    found = find_equal_files(bots(tmp_path, **{f"a{number}": SOURCE for number in range(9)}), ())

    assert found["a0"] == [
        "a0_bot.py equals a1_bot.py of a1, a2_bot.py of a2, a3_bot.py of a3, a4_bot.py of a4 and 4 more"
    ]


def test_a_large_file_is_compared_as_it_is(tmp_path: Path) -> None:
    """A table of a megabyte takes no memory for its words."""
    table = "1 2 3 4\n" * (1 << 17)

    assert set(find_equal_files(bots(tmp_path, ada=table, ben=table, kim=table + " "), ())) == {"ada", "ben"}
