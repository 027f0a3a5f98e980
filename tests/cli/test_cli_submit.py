"""`arena submit` with many bots: each is told apart, and none is in the way of another."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal
from support.tampering import opened

from arena.store.bots import BotStore

pytestmark = pytest.mark.process
CRASHES = "raise SystemExit('no such module: torch')\n"
HANGS = "import time\ntime.sleep(1000)\n"


def folder(name: str, *, script: str = "", manifest: str = "") -> str:
    """A bot in a folder of that name."""
    place = Path("in", name)
    place.mkdir(parents=True)
    (place / "bot.py").write_text(script or bot_script())
    (place / "bot.yaml").write_text(manifest or f"name: {name}\ncommand: [python3, bot.py]\n")
    return f"in/{name}"


def rows(out: str) -> dict[str, list[str]]:
    """Result and reason of each bot of the table; further lines of a reason are left out."""
    found = [re.split(r" {2,}", line, maxsplit=2) for line in out.splitlines() if line.startswith("in/")]
    return {name: rest for name, *rest in found}


def test_many_bots_at_once(terminal: Terminal) -> None:
    """A crash, a hang, an illegal action, a broken file and a doubled name cost nobody else; 80 columns are enough."""
    for name in ("ada", "ben", "cleo"):
        folder(name)
    folder("crash", script=CRASHES)
    folder("hang", script=HANGS, manifest="{name: hang, command: [python3, bot.py], limits: {startup_ms: 100}}")
    folder("cheat", script=bot_script("99"))
    folder("broken", manifest="name: broken\n")
    folder("eve", manifest="name: twin\ncommand: [python3, bot.py]\n")
    folder("kim", manifest="name: twin\ncommand: [python3, bot.py]\nversion: '2'\n")
    folder("twin-2", manifest="name: twin-2\ncommand: [python3, bot.py]\n", script=CRASHES)
    folder("random2", manifest="name: random\ncommand: [python3, bot.py]\n")
    Path("in/README.md").write_text("bots of the course\n")
    everything = sorted(str(path) for path in Path("in").iterdir())

    said = terminal.arena("submit --game nim --workers 3 --reports told", *everything)

    found = rows(said.out)
    assert said.code == 1
    assert said.err.splitlines() == ["left out: in/README.md is no bot", "error: 8 of 11 bots refused"]
    assert [name for name, (result, _) in found.items() if result == "accepted"] == ["in/ada", "in/ben", "in/cleo"]
    reasons = {name.removeprefix("in/"): why for name, (result, why) in found.items() if result == "refused"}
    assert reasons["crash"].startswith("crash: the bot ended with exit code 1")
    assert reasons["hang"].startswith('timeout: no "hello" within 0.1 s')
    assert reasons["cheat"].startswith("illegal_action: action 99 is not an index")
    assert "command" in reasons["broken"]
    assert "in/kim" in reasons["eve"]
    assert "in/eve" in reasons["kim"]
    assert reasons["random2"].startswith('the name "random" belongs to')
    assert "3 accepted" in said.out
    assert sorted(line.split()[0] for line in terminal.registered()) == ["ada", "ben", "cleo"]
    assert "no such module: torch" in Path("told/crash.txt").read_text()
    assert Path("told/ada.txt").read_text().count("  ok ") == 11
    assert {path.name for path in Path("told").iterdir()} >= {"twin.txt", "twin-2.txt", "twin-2-2.txt", "broken.txt"}


def test_the_table_fits_80_columns(terminal: Terminal) -> None:
    """Reasons go on in the next line."""
    folder("a-name-of-quite-some-length-for-a-bot", manifest="name: b\ncommand: 3\nwhat: 4\nlimits: 5\n")

    said = terminal.arena("submit --game nim --width 80 in/a-name-of-quite-some-length-for-a-bot ./nothing")

    assert said.code == 1
    assert max(map(len, said.out.splitlines())) <= 80


def test_one_bot_is_told_step_by_step(terminal: Terminal) -> None:
    """No table, and the reason with the steps."""
    said = terminal.arena(f"submit {folder('cheat', script=bot_script('99'))} --game nim")

    assert said.code == 1
    assert "  1  FAILED  illegal_action: action 99" in said.out
    assert "why" not in said.out


def test_a_bot_that_brings_down_its_worker_is_refused(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `--isolation none` a bot can; it is examined once more, and the others are accepted."""
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    folder("ada")
    folder("killer", script="import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n" + bot_script())

    said = terminal.arena("submit --game nim --workers 1 --isolation none in/killer in/ada")

    assert rows(said.out)["in/killer"] == ["refused", "the process that examined it died 2 times"]
    assert rows(said.out)["in/ada"][0] == "accepted"


def test_a_stop_leaves_what_is_accepted_on_the_list(terminal: Terminal) -> None:
    """The table tells which, and the same command examines the others."""
    folder("ada")
    hanging = [folder(f"hang{number}", script=HANGS) for number in range(10)]  # of 10 s each
    words = [sys.executable, "-m", "arena", "submit", "--game", "nim", "--workers", "2", "in/ada", *hanging]

    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        while program.poll() is None and not BotStore(Path("results"), Path("bots")).submitted():
            time.sleep(0.05)
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=60)

    assert program.returncode == 3, err
    assert rows(out)["in/ada"][0] == "accepted"
    assert rows(out)["in/hang9"][0] == "not examined"
    assert re.search(r"interrupted: \d+ bots not examined; give the same command again", err)
    with opened(terminal.results) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert terminal.arena("match ada random --game nim").code == 0
