"""`arena submit`, `check`, `withdraw` and `bots`: their tables, the texts for authors, and a stop on the way."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal
from support.golden import Golden
from support.tampering import opened

from arena.store.bots import BotStore

pytestmark = pytest.mark.process
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


def test_many_bots_are_a_table_and_a_text_for_each_author(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 1; 80 columns are enough. A text begins with the verdict, and names no other bot and no other path."""
    folder("ada")
    folder("cheat", script=bot_script("99"))
    folder("a-name-of-quite-some-length", manifest="name: b\ncommand: 3\nwhat: 4\nlimits: 5\n")
    folder("eve", manifest="name: twin\ncommand: [python3, bot.py]\n")
    folder("kim", manifest="name: twin\ncommand: [python3, bot.py]\nversion: '2'\n")
    Path("in/README.md").write_text("bots of the course\n")

    monkeypatch.setenv("COLUMNS", "80")
    said = terminal.arena("submit --game nim --seed 1 --to told", *sorted(map(str, Path("in").iterdir())))

    assert said.code == 1
    assert said.err.splitlines() == ["left out: in/README.md is no bot", "error: 4 of 5 bots refused"]
    assert max(map(len, said.out.splitlines())) <= 80
    assert {name: result for name, (result, *_) in rows(said.out).items()} == {
        "in/a-name-of-quite-some-length": "refused",
        "in/ada": "accepted",
        "in/cheat": "refused",
        "in/eve": "refused",
        "in/kim": "refused",
    }
    assert re.search(r"^1 accepted|, 1 accepted", said.out, re.MULTILINE)
    assert [line.split()[0] for line in terminal.registered()] == ["ada"]
    told = {path.name: path.read_text() for path in Path("told").iterdir()}
    assert set(told) == {"ada.txt", "cheat.txt", "a-name-of-quite-some-length.txt", "eve.txt", "kim.txt"}
    assert told["ada.txt"].startswith("accepted: ada 1 (")
    assert told["ada.txt"].count("  ok ") == 11
    assert told["cheat.txt"].startswith("refused: illegal_action: action 99 is not an index")
    assert "is also that of another bot; each bot needs a name of its own" in told["eve.txt"]
    assert not [text for text in told.values() if "in/" in text]


def test_a_class_is_a_table_with_the_verdict_first(terminal: Terminal) -> None:
    """The texts for authors are called as the authors, and no name of a file is in them."""
    folder("Doe_Jane_1")
    folder("Roe_Ben_2", manifest="name: x\n")
    folder("Foe_Eve_3")
    lines = ["author,hand_in,address,active", "ada,Doe_Jane_,,yes", "ben,Roe_Ben_,,yes", "kim,kim,,yes"]
    Path("authors.csv").write_text("\n".join(lines))

    said = terminal.arena("submit --game nim --to told --authors authors.csv in")

    assert said.code == 1
    table = [re.split(r" {2,}", line) for line in said.out.splitlines()]
    assert [row[:3] for row in table if row[0] in {"result", "accepted", "refused", "missing"}] == [
        ["result", "author", "hand-in"],
        ["accepted", "ada", "in/Doe_Jane_1"],
        ["refused", "ben", "in/Roe_Ben_2"],
        ["missing", "kim", "kim"],
        ["refused", "in/Foe_Eve_3", "no line matches the name Foe_Eve_3"],
    ]
    told = {path.name: path.read_text() for path in Path("told").iterdir()}
    assert {name: text.split(": ")[0] for name, text in told.items()} == {
        "ada.txt": "accepted",
        "ben.txt": "refused",
        "kim.txt": "missing",
    }
    assert not [text for text in told.values() if re.search("Ben|Eve|in/", text)]


def test_one_bot_is_told_step_by_step(terminal: Terminal) -> None:
    """No table, and the reason with the steps; the same content again is one entry."""
    refused = terminal.arena(f"submit {folder('cheat', script=bot_script('99'))} --game nim")
    assert refused.code == 1
    assert "  1  FAILED  illegal_action: action 99" in refused.out
    assert "cheat 1" in refused.err.splitlines()[0]
    assert "\nits stderr is empty" in refused.err
    assert not (terminal.results / "arena.db").exists()

    found = terminal.arena(f"submit {folder('ada')} --game nim")
    scores = re.findall(r"^(?:won 1 to 0|lost 0 to 1) in seat [01] against random$", found.out, re.MULTILINE)
    assert (found.code, len(scores)) == (0, 2)
    assert "a tournament may name it `ada@" in found.out
    assert re.search(r"^luck: secret \w+, commitment ", found.out, re.MULTILINE)
    terminal.arena("submit in/ada --game nim")
    assert len(terminal.registered()) == 1


def test_a_check_names_the_failed_step(terminal: Terminal, golden: Golden) -> None:
    """Exit 1, the number of the step, what came instead; the luck with which it can be repeated."""
    Path("silent.py").write_text("import sys\nsys.exit('I will not play')\n")

    said = terminal.arena("check ./silent.py --game nim")

    assert said.code == 1
    golden(said.out)
    assert said.out.splitlines()[-1].startswith("luck: secret ")
    golden(said.err)
    for flags in ("--game nim", "--move-ms 5"):
        found = terminal.arena(f"check ./silent.py --for cup.yaml {flags}")
        assert found.err == f"error: give either --for or {flags.split()[0]}: the tournament says it\n"


def test_a_stop_leaves_what_is_accepted_on_the_list(terminal: Terminal) -> None:
    """The table tells which, and the same command examines the others."""
    folder("ada")
    hanging = [folder(f"hang{number}", script=HANGS) for number in range(10)]  # of 10 s each
    words = [sys.executable, "-m", "arena", "submit", "--game", "nim", "--workers", "2", "in/ada", *hanging]

    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        while program.poll() is None and not BotStore(Path("results"), Path("bots")).submissions():
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


def test_the_list_says_whose_a_name_is(terminal: Terminal, golden: Golden) -> None:
    """The list has owners, as a table, as CSV and as JSON; an older version is marked and withdrawn last."""
    for note in ("'one'", "'two'"):
        Path("mine.py").write_text(bot_script(note=note))
        assert terminal.arena("submit ./mine.py --game nim --replace --owner gina").code == 0

    new, old = terminal.registered()
    csv = terminal.arena("bots --format csv").out.splitlines()
    assert csv[0] == "bot,version,hash,place,owner,description"
    assert sum(line.startswith("mine,1,") and ",gina," in line for line in csv) == 2
    listed = json.loads(terminal.arena("bots --format json").out)
    assert [bot["owner"] for bot in listed if bot["bot"] == "mine"] == ["gina", "gina"]
    assert sum(" an older version: write mine@" in line for line in (new, old)) == 1
    hashes = [line.split()[2] for line in (new, old)]
    assert terminal.league("mine", *(f"mine@{digest}" for digest in hashes), cycles=1).code == 0
    first, second, third = (terminal.arena("withdraw mine") for _ in range(3))
    golden(first.out)
    golden(second.out)
    assert (third.code, third.err) == (2, 'error: no submission "mine"; known: none\n')
    assert terminal.registered() == []
    assert terminal.arena("verify").code == 0
