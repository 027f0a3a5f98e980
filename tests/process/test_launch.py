"""From a command to the file that runs, and what its author is told where there is none."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.golden import Golden

from arena.errors import Crashed
from arena.process.launch import START_HINT, BotFolder, find_program
from arena.process.sandbox.sight import Sight

PATH = "/usr/bin:/bin"
GIVEN = "./my bot"


def script(folder: Path, name: str = "bot", first: str = "#!/bin/sh", *, mode: int = 0o755) -> Path:
    path = folder / name
    path.write_bytes(first.encode() + b"\necho\n")
    path.chmod(mode)
    return path


def found(folder: Path, *command: str, roots: tuple[Path, ...] | None = None) -> str:
    sight = None if roots is None else Sight(str(folder), roots, (Path("/bin"),))
    return find_program([*command], BotFolder(str(folder), GIVEN), PATH, sight)[0]


def refusal(folder: Path, *command: str, roots: tuple[Path, ...] | None = None) -> Crashed:
    with pytest.raises(Crashed) as caught:
        found(folder, *command, roots=roots)
    return caught.value


def test_a_name_is_looked_up_on_the_path(tmp_path: Path) -> None:
    """It is not looked up in the folder, even if a file of that name lies there."""
    script(tmp_path, "sh")

    assert found(tmp_path, "sh") == shutil.which("sh", path=PATH)


def test_a_program_that_is_not_there(tmp_path: Path, golden: Golden) -> None:
    """The message contains command, folder and remedy."""
    said = refusal(tmp_path, "cobol", "bot.cob")

    golden(said.message)
    golden(said.hint)


def test_a_file_that_may_not_be_run(tmp_path: Path, golden: Golden) -> None:
    """The message contains the command that makes it executable."""
    script(tmp_path, mode=0o644)

    said = refusal(tmp_path, "./bot")

    golden(said.message)
    golden(said.hint)


def test_a_file_of_a_bot_that_nobody_gave_a_path_for(tmp_path: Path, golden: Golden) -> None:
    """Such as an installed one, found by its hash: the path of the copy would lead its author to the wrong file."""
    script(tmp_path, mode=0o644)

    with pytest.raises(Crashed) as caught:
        find_program(["./bot"], BotFolder(str(tmp_path)), PATH, None)

    golden(caught.value.message)
    golden(caught.value.hint)


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        ("#!/usr/bin/none", "asks for the interpreter /usr/bin/none, which is not on this machine"),
        ("#!/bin/sh\r", "asks for the interpreter /bin/sh\\r, which is not on this machine"),
        ("#!none", "asks for the interpreter none, which is not on this machine"),
        ("print('hello')", "is neither a program for Linux (ELF) nor a script that begins with #!"),
        ("", "is neither a program for Linux (ELF) nor a script that begins with #!"),
    ],
)
def test_a_file_that_the_kernel_would_not_run(tmp_path: Path, first: str, reason: str) -> None:
    """It is refused before the start, with a hint."""
    script(tmp_path, first=first)

    said = refusal(tmp_path, "./bot")

    assert said.message.endswith(reason)
    assert said.hint == START_HINT


@pytest.mark.parametrize("first", ["#!/bin/sh", "#! /bin/sh -e", "#!/usr/bin/env python3", "\x7fELF", "#!./own"])
def test_a_file_that_the_kernel_would_run(tmp_path: Path, first: str) -> None:
    """Interpreters may have arguments, a space after #!, or lie in the folder."""
    script(tmp_path, first=first)
    script(tmp_path, "own")

    assert found(tmp_path, "./bot").endswith("/bot")


def test_a_file_that_may_be_run_but_not_read(tmp_path: Path) -> None:
    """Its kind is unknown, so it is started."""
    script(tmp_path, mode=0o111)

    assert found(tmp_path, "./bot").endswith("/bot")


def test_what_bots_do_not_see_is_told_as_that(tmp_path: Path, golden: Golden) -> None:
    """Programs and interpreters outside the folder; what lies inside is always seen."""
    script(tmp_path, "elsewhere", first="#!/bin/sh")
    script(tmp_path, "own", first="#!./me")
    script(tmp_path, "me", first="\x7fELF")

    golden(refusal(tmp_path, "sh", roots=()).message)
    golden(refusal(tmp_path, "/usr/bin/env", roots=()).message)
    asked = refusal(tmp_path, "./elsewhere", roots=()).message
    golden(asked)
    assert found(tmp_path, "./own", roots=()).endswith("/own")


def linked(link: Path, target: Path) -> Path:
    link.symlink_to(target)
    return link


STATES: dict[str, Callable[[Path], object]] = {
    "missing": lambda _: None,
    "plain": lambda place: place.write_text("TOPSECRET\n"),
    "program": lambda place: script(place.parent, place.name, first="\x7fELF"),
    "script": lambda place: script(place.parent, place.name, first="#!/opt/interpreter --token=HIDDEN"),
    "folder": Path.mkdir,
    "pipe": lambda place: os.mkfifo(place, 0o755),
    "link": lambda place: place.symlink_to("/usr/bin/env"),
    "dangling": lambda place: place.symlink_to("nowhere"),
    "closed": lambda place: place.parent.chmod(0),
    "below-a-file": lambda place: place.parent.rename(place.parent.with_name("away")) and place.parent.write_text("x"),
}
WAYS: dict[str, Callable[[Path, Path], object]] = {
    "relative": os.path.relpath,
    "absolute": lambda secret, _: str(secret),
    "/usr/..": lambda secret, _: f"/usr/bin/../..{secret}",
    "and-back": lambda secret, _: f"{secret}/{'../' * len(secret.parts)}usr/bin/env",
    "link": lambda secret, folder: (folder / "bot").symlink_to(secret),
    "relative-link": lambda secret, folder: (folder / "bot").symlink_to(os.path.relpath(secret, folder)),
    "folder-link": lambda secret, folder: linked(folder / "up", secret.parent) and "./up/secret",
    "link-and-back": lambda secret, folder: (folder / "bot").symlink_to(f"{secret}/../{folder}/x"),
    "#!": lambda secret, folder: script(folder, first=f"#!{secret} -x"),
    "#!link": lambda secret, folder: linked(folder / "i", secret) and script(folder, first="#!i"),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_message_shows_what_lies_outside(tmp_path: Path, way: str) -> None:
    """Whatever state a file of the organiser is in, message and hint of a bot that names it are the same bytes."""
    told = set()
    for state, make in STATES.items():
        secret, folder = tmp_path / state / "secret", tmp_path / f"bot-{state}"
        secret.parent.mkdir()
        make(secret)
        folder.mkdir()
        command = WAYS[way](secret, folder)
        said = refusal(folder, command if isinstance(command, str) else "./bot", roots=(Path("/usr"),))
        told.add(f"{said.message}\n{said.hint}".replace(f"/{state}", "/STATE"))

    (text,) = told
    assert "bots see" in text or "bots do not see" in text


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("./bot", "bot"),
        ("sub/../bot", "bot"),
        ("/bot/bot", "bot"),
        ("../bot/bot", "bot"),
        ("inner", "bot"),
        ("absolute", "bot"),
        ("/usr/bin/env", "/usr/bin/env"),
        ("/bin/env", "/usr/bin/env"),
        ("system", "/usr/bin/env"),
        ("circle", None),
        ("..", None),
        ("/", None),
        ("/etc/passwd", None),
        ("/usr/../etc/passwd", None),
    ],
)
def test_a_path_is_followed_as_in_the_sandbox(tmp_path: Path, path: str, place: str | None) -> None:
    """The bot's folder is /bot there, and links lead to files as the bot sees them."""
    for name, target in {"inner": "bot", "absolute": "/bot/bot", "system": "/bin/env", "circle": "circle"}.items():
        (tmp_path / name).symlink_to(target)

    seen = Sight(str(tmp_path), (Path("/usr"),), (Path("/bin"),)).find(path)

    assert seen == (None if place is None else tmp_path / place)


def test_a_runtime_behind_a_link_lies_where_it_is_bound(tmp_path: Path) -> None:
    """Its own links are followed from there."""
    (tmp_path / "real" / "lib").mkdir(parents=True)
    (tmp_path / "runtime").symlink_to("real")
    (tmp_path / "real" / "java").symlink_to("lib/java")
    (tmp_path / "real" / "out").symlink_to("../real/lib/java")
    sight = Sight("/nowhere", (tmp_path / "runtime",))

    assert sight.find(f"{tmp_path}/runtime/java") == tmp_path / "runtime" / "lib" / "java"
    assert sight.find(f"{tmp_path}/runtime/out") is None
    assert sight.find(f"{tmp_path}/real/java") is None


def test_what_was_started_is_described_for_its_author(tmp_path: Path, golden: Golden) -> None:
    """The text contains the command as typed, the folder, the program and its interpreter."""
    script(tmp_path, first="#!/usr/bin/env python3")
    place = BotFolder(str(tmp_path), GIVEN)

    _, text = find_program(["./bot", "two words"], place, PATH, None)

    golden(text)
    assert "interpreter" not in find_program(["cat"], place, PATH, None)[1]
