"""Hand-ins: whose each is, and the bot that is found in it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.store.authors import Author
from arena.store.hand_ins import HandIn, read_hand_ins

MANIFEST = "name: x\ncommand: [python3, bot.py]\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(*names: str) -> None:
    """Files of these names; a manifest has the content of one."""
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(MANIFEST if name.endswith("bot.yaml") else "pass\n")


def hand_ins(*texts: str, authors: str = "ada ben", inactive: str = "") -> dict[str, HandIn]:
    """The hand-ins by their text, which is the name of the author where there is none."""
    Path("scratch").mkdir(exist_ok=True)
    known = [Author(name, name, "", "yes") for name in authors.split()]
    known += [Author(name, name, "", "no") for name in inactive.split()]
    return {hand_in.text: hand_in for hand_in in read_hand_ins(texts, known, Path("scratch").absolute())}


@pytest.mark.parametrize("inner", ["", "week-1/", "a/b/c/"])
@pytest.mark.parametrize("texts", ["in", "in/", "in/ada in/ben", "all"])
def test_the_folder_with_a_manifest_is_the_bot(inner: str, texts: str) -> None:
    """The outermost one, however deep; folders of hand-ins may lie in one folder."""
    for name in ("ada", "ben"):
        write(f"in/{name}/{inner}bot.yaml", f"in/{name}/{inner}kit/bot.yaml", f"in/{name}/notes.txt")
    write("in/.DS_Store", "in/__MACOSX/ada/bot.yaml")
    if texts == "all":
        Path("all").mkdir()
        Path("in").rename("all/in")

    found = hand_ins(*texts.split())

    assert [hand_in.author for hand_in in found.values()] == ["ada", "ben"]
    assert [hand_in.reason for hand_in in found.values()] == ["", ""]
    bots = [hand_in.path for hand_in in found.values() if not hand_in.verdict]
    assert [(bot / "bot.yaml").read_text() for bot in bots] == [MANIFEST] * 2
    assert [bot.joinpath("kit").is_dir() for bot in bots] == [True] * 2


def test_a_script_gets_the_name_of_its_author() -> None:
    """The name that a platform gave to the file has that of the person."""
    write("in/ada_12345_My Bot.py", "in/ben/bot.pl", "in/ben/report.pdf", "in/ben/.hidden.py")

    found = hand_ins("in")

    assert [hand_in.path.name for hand_in in found.values()] == ["ada.py", "ben.pl"]


def test_nobodys_missing_and_inactive_hand_ins_are_named() -> None:
    """A README is no bot, and several hand-ins of an author are all refused."""
    write("in/ada/bot.yaml", "in/ada.py", "in/eve/bot.yaml", "in/README.md", "in/zoe/bot.yaml")

    found = hand_ins("in", inactive="zoe kim")

    assert {text: hand_in.reason for text, hand_in in found.items()} == {
        "in/ada": "ada has 2 hand-ins here; leave one of them",
        "in/ada.py": "ada has 2 hand-ins here; leave one of them",
        "ben": "no hand-in",
        "in/zoe": "not active",
        "in/README.md": "no bot",
        "in/eve": "no line matches the name eve",
    }
    assert {text: hand_in.verdict for text, hand_in in found.items()} == {
        "in/ada": "refused",
        "in/ada.py": "refused",
        "ben": "missing",
        "in/zoe": "left out",
        "in/README.md": "left out",
        "in/eve": "refused",
    }


def test_a_folder_in_a_hand_in_names_nobody() -> None:
    """Beside hand-ins with a line, one without is no folder of hand-ins: its author chose the names in it."""
    write("in/ada/bot.yaml", "in/eve/ben/bot.yaml")

    for texts in ("in",), ("in/ada", "in/eve"):
        found = hand_ins(*texts)
        assert (found["ben"].verdict, found["in/eve"].reason) == ("missing", "no line matches the name eve")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: write("in/ada/a/bot.yaml", "in/ada/b/bot.yaml"), "found 2: a, b"),
        (lambda: write("in/ada/a.py", "in/ada/b.js"), "found 2: a.py, b.js"),
        (lambda: write("in/ada/report.pdf"), "found 0: none"),
        (lambda: write(*(f"in/ada/{number}/{number}.py" for number in range(9))), "5/5.py ..."),
        (lambda: write(*(f"in/ada/{number}/x" for number in range(2001))), "more than 2000 folders"),
        (lambda: Path("in/ada").symlink_to("/etc"), "is a symbolic link"),
        (lambda: Path("in/ada.py").symlink_to("/etc/passwd"), "is a symbolic link"),
        (lambda: os.mkfifo("in/ada.py"), "a pipe"),
        (lambda: os.link("secret.py", "in/ada.py"), "a file with other names (a hard link)"),
        (lambda: Path("in/ada.py").write_bytes(bytes((64 << 20) + 1)), "larger than 64 MiB"),
    ],
)
def test_a_hand_in_that_cannot_be_used_is_refused_alone(make: Callable[[], object], reason: str) -> None:
    """With what is there and what was expected."""
    write("in/ben/bot.yaml", "secret.py")
    make()

    found = hand_ins("in")

    (refused,) = [hand_in for hand_in in found.values() if hand_in.author == "ada"]
    assert reason in refused.reason
    assert not found["in/ben"].verdict
    assert not any(Path("scratch").rglob("*.py"))
