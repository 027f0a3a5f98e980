"""From a command to the file that runs, and what its author is told where there is none."""

import shutil
from pathlib import Path

import pytest

from arena.errors import Crashed
from arena.process.launch import START_HINT, BotFolder, find_program

PATH = "/usr/bin:/bin"
GIVEN = "./my bot"


def script(folder: Path, name: str = "bot", first: str = "#!/bin/sh", *, mode: int = 0o755) -> Path:
    path = folder / name
    path.write_bytes(first.encode() + b"\necho\n")
    path.chmod(mode)
    return path


def found(folder: Path, *command: str, sees: bool = True) -> str:
    return find_program([*command], BotFolder(str(folder), GIVEN), PATH, is_visible=lambda _: sees)[0]


def refusal(folder: Path, *command: str, sees: bool = True) -> Crashed:
    with pytest.raises(Crashed) as caught:
        found(folder, *command, sees=sees)
    return caught.value


def test_a_path_is_meant_from_the_bots_folder(tmp_path: Path) -> None:
    """As a shell in that folder would take it."""
    script(tmp_path)

    assert found(tmp_path, "./bot") == f"{tmp_path}/./bot"


def test_a_name_is_looked_up_on_the_path(tmp_path: Path) -> None:
    """Not in the folder, even if a file of that name lies there."""
    script(tmp_path, "sh")

    assert found(tmp_path, "sh") == shutil.which("sh", path=PATH)


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    """Command, folder, and what to do."""
    said = refusal(tmp_path, "cobol", "bot.cob")

    assert said.message == "cannot start `cobol bot.cob` in ./my bot: no program 'cobol' there or on the PATH"
    assert said.hint == "install 'cobol', or correct `command` in bot.yaml"


def test_a_file_that_may_not_be_run(tmp_path: Path) -> None:
    """With the command that makes it so."""
    script(tmp_path, mode=0o644)

    said = refusal(tmp_path, "./bot")

    assert said.message.endswith(": ./my bot/bot is not executable")
    assert said.hint == "run `chmod +x './my bot/bot'` and try again"


def test_a_file_of_a_bot_that_nobody_gave_a_path_for(tmp_path: Path) -> None:
    """Such as an installed one, found by its hash: the path of the copy would lead its author to the wrong file."""
    script(tmp_path, mode=0o644)

    with pytest.raises(Crashed) as caught:
        find_program(["./bot"], BotFolder(str(tmp_path)), PATH, is_visible=lambda _: True)

    assert caught.value.message == "cannot start `./bot` in the bot's folder: ./bot is not executable"
    assert caught.value.hint == "run `chmod +x ./bot` in the bot's folder and try again"


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        ("#!/usr/bin/none", "asks for the interpreter /usr/bin/none, which is not on this machine"),
        ("#!/bin/sh\r", "asks for the interpreter /bin/sh\\r, which is not on this machine"),
        ("#!none", "asks for the interpreter none, which is not on this machine"),
        ("print('hello')", "is neither a program for Linux (ELF) nor a script that begins with #!"),
        ("", "is neither a program for Linux (ELF) nor a script that begins with #!"),
        ("MZ", "is neither a program for Linux (ELF) nor a script that begins with #!"),
        ("\ufeff#!/bin/sh", "is neither a program for Linux (ELF) nor a script that begins with #!"),
    ],
    ids=["no-interpreter", "carriage-return", "relative", "text", "empty", "windows", "byte-order-mark"],
)
def test_a_file_that_the_kernel_would_not_run(tmp_path: Path, first: str, reason: str) -> None:
    """Said before the start, with the hint that helps most."""
    script(tmp_path, first=first)

    said = refusal(tmp_path, "./bot")

    assert said.message.endswith(reason)
    assert said.hint == START_HINT


@pytest.mark.parametrize("first", ["#!/bin/sh", "#! /bin/sh -e", "#!/usr/bin/env python3", "\x7fELF", "#!./own"])
def test_a_file_that_the_kernel_would_run(tmp_path: Path, first: str) -> None:
    """Interpreters with arguments, with a space, of its own."""
    script(tmp_path, first=first)
    script(tmp_path, "own")

    assert found(tmp_path, "./bot").endswith("/bot")


def test_a_file_that_may_be_run_but_not_read(tmp_path: Path) -> None:
    """Nobody can tell what it is, so it is tried."""
    script(tmp_path, mode=0o111)

    assert found(tmp_path, "./bot").endswith("/bot")


def test_what_bots_do_not_see_is_told_as_that(tmp_path: Path) -> None:
    """Programs and interpreters outside the folder; what lies inside is always seen."""
    script(tmp_path, "elsewhere", first="#!/bin/sh")
    script(tmp_path, "own", first="#!./me")
    script(tmp_path, "me", first="\x7fELF")

    assert "is not among what bots see of this machine" in refusal(tmp_path, "sh", sees=False).message
    assert (
        "asks for the interpreter /bin/sh, which bots do not see"
        in refusal(tmp_path, "./elsewhere", sees=False).message
    )
    assert found(tmp_path, "./own", sees=False).endswith("/own")


def test_what_was_started_is_described_for_its_author(tmp_path: Path) -> None:
    """The command as one would type it, the folder, the program, and who runs it."""
    script(tmp_path, first="#!/usr/bin/env python3")
    place = BotFolder(str(tmp_path), GIVEN)

    _, text = find_program(["./bot", "two words"], place, PATH, is_visible=lambda _: True)

    assert text == "`./bot 'two words'` in ./my bot (program ./my bot/bot, interpreter /usr/bin/env python3)"
    assert "interpreter" not in find_program(["cat"], place, PATH, is_visible=lambda _: True)[1]
