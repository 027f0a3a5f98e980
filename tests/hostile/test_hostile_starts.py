"""A bot that cannot start: its author reads the command, the folder, the program behind it, the end and the stderr."""

import os
import shutil
from pathlib import Path

import pytest
from support.hostile_play import BARE, CLOCK, HOSTILE, Guest, against, elapsed_s, hostile, is_gone, left_of
from support.waiting import a_second

from arena.errors import HarnessFault
from arena.match.record import Forfeit, MatchRecord
from arena.process.manifest import BotSpec, read_bot
from arena.process.sandbox import runtimes

pytestmark = pytest.mark.process


def folder_with(folder: Path, command: str, **files: str) -> BotSpec:
    """A bot of that command; files by name with `_` for `.`, executable if they begin with #!."""
    (folder / "bot.yaml").write_text(f"name: starter\ncommand: {command}\n")
    for name, text in files.items():
        file = folder / name.replace("_", ".")
        file.write_text(text, newline="")
        file.chmod(0o755 if text.startswith("#!") else 0o644)
    return read_bot(folder)


def fault_of(guest: Guest) -> Forfeit:
    record = against(guest.bot_player)
    assert record.termination.value == "crash"
    assert record.fault is not None
    assert (record.ranks, record.steps, record.seats[0].moves) == ((1, 0), (), 0)
    guest.bot_player.close(grace_s=0.0)
    return record.fault


def test_a_bot_that_raises_at_once_shows_all_of_it(tmp_path: Path) -> None:
    """Command, folder, program, exit code, and the last lines of stderr."""
    bot = folder_with(tmp_path, "[python3, bot.py, --fast]", bot_py="import sys\n\ndef f(): return 1 / 0\n\nf()\n")

    fault = fault_of(Guest(bot))

    program = shutil.which("python3", path=runtimes.search_path()) or ""
    shown = program if program.startswith("/usr/") else "python3"  # a path below somebody's home folder is not shown
    assert 'the bot ended with exit code 1 before its "hello"' in fault.message
    assert f"`python3 bot.py --fast` in {tmp_path} (program {shown}" in fault.message
    assert fault.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_a_program_that_the_kernel_refuses_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a sandbox and without setpriv the start itself fails."""
    monkeypatch.setattr("arena.process.launch.setpriv", lambda: None)
    bot = folder_with(tmp_path, "[./bot.bin]", bot_bin="\x7fELF of another machine")
    (tmp_path / "bot.bin").chmod(0o755)

    fault = fault_of(Guest(bot, confinement=BARE))

    assert fault.message.startswith(f"cannot start `./bot.bin` in {tmp_path} (program {tmp_path}/bot.bin)")
    assert "Exec format error" in fault.message


def test_a_program_that_the_kernel_refuses_in_the_sandbox_ends_there(tmp_path: Path) -> None:
    """The box stands by then, and a shell in it tries to read the file as a script."""
    bot = folder_with(tmp_path, "[./bot.bin]", bot_bin="\x7fELF of another machine")
    (tmp_path / "bot.bin").chmod(0o755)

    fault = fault_of(Guest(bot))

    assert fault.message.startswith('the bot ended with exit code 127 before its "hello"')
    assert "./bot.bin: 1: " in fault.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter every folder")
def test_a_folder_that_may_not_be_entered_is_named(tmp_path: Path) -> None:
    """The bot's folder is where its command runs."""
    bot = folder_with(tmp_path, "[python3, bot.py]", bot_py="pass\n")
    tmp_path.chmod(0o000)
    try:
        fault = fault_of(Guest(bot))
    finally:
        tmp_path.chmod(0o755)

    assert f"in {tmp_path}" in fault.message
    assert "Permission denied" in fault.message


def test_a_folder_that_vanished_is_not_the_bots_fault(tmp_path: Path) -> None:
    """Somebody cleaned up under the tournament: the match is void."""
    (tmp_path / "bot").mkdir()
    bot = folder_with(tmp_path / "bot", "[python3, bot.py]", bot_py="pass\n")
    shutil.rmtree(tmp_path / "bot")

    with pytest.raises(HarnessFault, match=r"the folder of starter 1 .* is gone"):
        against(Guest(bot).bot_player)


def test_a_bot_that_never_says_hello_is_named_too() -> None:
    """It runs, so there is no exit code; the rest of its description is there."""
    bot = hostile("never-hello", clock=type(CLOCK)(move_ms=100, bank_ms=0, startup_ms=300))
    records: list[MatchRecord] = []
    took_s = elapsed_s(lambda: records.append(against(bot.bot_player)))

    (record,) = records
    assert record.termination.value == "timeout"
    assert record.fault is not None
    assert 'no "hello" within 0.3 s' in record.fault.message
    assert f"`python3 hostile.py never-hello` in {HOSTILE.parent}" in record.fault.message
    assert took_s < 0.3 + a_second()
    assert is_gone(lambda: left_of(bot))


def test_the_stderr_of_an_earlier_process_is_not_shown_again(tmp_path: Path) -> None:
    """A second fault, of a process that said nothing, comes without the words of the first.

    The bot remembers in its folder that it has been started before, which takes one outside of the sandbox.
    """
    script = "import os, sys\nif not os.path.exists('x'):\n    open('x', 'w')\n    sys.exit('first')\nos._exit(9)\n"
    guest = Guest(folder_with(tmp_path, "[python3, bot.py]", bot_py=script), confinement=BARE)

    assert "first" in fault_of(guest).stderr
    assert fault_of(guest).stderr == ""
