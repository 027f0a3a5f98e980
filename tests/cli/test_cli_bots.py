"""`arena new-bot`, `check`, `submit`, `bots`, `match` and `play` in this process, with real bots."""

import io
import re
import shutil
from pathlib import Path

import pytest
from cli_arena import Terminal, has

pytestmark = pytest.mark.process
NEEDED = {"python": "python3", "javascript": "node", "perl": "perl", "c": "cc"}


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("language", NEEDED)
def test_a_new_bot_passes_its_check(terminal: Terminal, language: str) -> None:
    """Made from its template, in each language, it plays at once under its own name."""
    if not has(NEEDED[language]):
        pytest.skip(f"no {NEEDED[language]} on this machine")

    made = terminal.arena(f"new-bot mine --lang {language}")
    checked = terminal.arena("check mine --game nim")

    assert made.code == 0, made.err
    assert "next: arena check ./mine" in made.out
    assert checked.code == 0, checked.out + checked.err
    assert "FAILED" not in checked.out
    assert not any("{{name}}" in path.read_text() for path in Path("mine").iterdir())


def test_new_bot_overwrites_nothing(terminal: Terminal) -> None:
    """A folder that exists stays as it is."""
    Path("mine").mkdir()

    said = terminal.arena("new-bot mine")

    assert said.code == 2
    assert "mine exists already" in said.err
    assert list(Path("mine").iterdir()) == []


def submit(terminal: Terminal, code: str = "") -> tuple[int, str]:
    """Submit the new bot, with its `act` replaced; exit code and everything said."""
    if not Path("mine").exists():
        terminal.arena("new-bot mine")
    if code:
        script = Path("mine/bot.py")
        script.write_text(re.sub(r"return random.choice.*", code, script.read_text()))
    said = terminal.arena("submit ./mine --game nim")
    return said.code, said.out + said.err


def test_submit_registers_once(terminal: Terminal) -> None:
    """A bot that passes is on the list; the same content again is one entry."""
    code, text = submit(terminal)
    again, _ = submit(terminal)

    assert (code, again) == (0, 0)
    assert "a tournament may name it `mine@" in text
    assert len(terminal.registered()) == 1
    assert terminal.arena("match mine random --game nim").code == 0


def test_a_new_version_takes_the_name(terminal: Terminal) -> None:
    """Both are listed; the name means the latest, the hash means any."""
    submit(terminal)
    submit(terminal, "return 0")

    hashes = [line.split()[2] for line in terminal.registered()]

    assert len(set(hashes)) == 2
    assert terminal.league("mine", f"mine@{hashes[0]}", f"mine@{hashes[1]}").code == 0


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise ValueError('no idea')", "ValueError: no idea"),
        ("return 999", "action 999 is not an index in `legal`"),
        ("import os; os._exit(7)", "exit code 7"),
    ],
)
def test_submit_refuses_a_broken_bot(terminal: Terminal, code: str, said: str) -> None:
    """The reason and the bot's stderr are shown, exit 1, and nothing is registered."""
    exit_code, text = submit(terminal, code)

    assert exit_code == 1
    assert said in text
    assert "stderr" in text
    assert terminal.registered() == []
    assert not (terminal.results / "arena.db").exists()


def test_submit_shows_a_failed_build(terminal: Terminal) -> None:
    """Exit 2 with what the compiler said; nothing is kept."""
    terminal.arena("new-bot mine")
    with Path("mine/bot.yaml").open("a") as file:
        file.write("build:\n  - [sh, -c, 'echo undefined reference to main; exit 1']\n")

    code, text = submit(terminal)

    assert code == 2
    assert "undefined reference to main" in text
    assert list((terminal.results / "bots").iterdir()) == []


def test_bots_lists_the_shelf_and_says_what_it_left_out(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken bot hides none of the others."""
    terminal.arena("new-bot mine --folder shelf/mine")
    Path("shelf/broken").mkdir()
    Path("shelf/broken/bot.yaml").write_text("nmae: x")
    monkeypatch.setenv("ARENA_BOTS", "shelf")

    said = terminal.arena("bots")

    assert said.code == 0
    assert "mine" in said.out
    assert 'left out: shelf/broken/bot.yaml: unknown key "nmae"' in said.err


def test_match_shows_each_match_and_the_table(terminal: Terminal) -> None:
    """Two matches a block; a bot that meets itself gets two names."""
    said = terminal.arena("match random random --game nim --blocks 2")

    assert (said.code, said.err) == (0, "")
    assert len(re.findall(r"^[0-9a-f]{12}-[01]-[01]  random-[12] ", said.out, re.MULTILINE)) == 4
    assert "4 of 4 matches" in said.out
    assert not (terminal.results / "arena.db").exists()


def test_match_steps_and_dialogue(terminal: Terminal) -> None:
    """Every step on stdout, every line both ways in a file."""
    said = terminal.arena("match random random --game nim --steps --dialogue talk.txt")

    assert said.code == 0
    assert " takes " in said.out
    lines = Path("talk.txt").read_text().splitlines()
    assert any(' > {"type":"hello"' in line for line in lines)
    assert any(' < {"type": "action"' in line for line in lines)


def test_many_blocks_are_played_in_parallel_with_the_same_result(terminal: Terminal) -> None:
    """Eleven blocks on all cores give what eleven blocks here give."""
    parallel = terminal.arena("match random random --game nim --blocks 11").out
    here = terminal.arena("match random random --game nim --blocks 11 --dialogue talk.txt").out

    def table(text: str) -> list[str]:
        return [" ".join(line.split()[:-1]) for line in text.splitlines() if re.match(r"\s+\d ", line)]

    assert table(parallel) == table(here)
    assert "22 of 22 matches" in parallel


def test_a_bot_may_be_called_like_another(terminal: Terminal) -> None:
    """A path names one, the shelf's name the other; they are told apart in the table."""
    terminal.arena("new-bot random")

    said = terminal.arena("match ./random random --game nim")

    assert said.code == 0
    assert "random-1" in said.out
    assert "random-2" in said.out


@pytest.mark.parametrize("seat", [0, 1])
def test_a_person_plays_to_the_end(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, seat: int) -> None:
    """Wrong input is asked for again; the result and the way to play the same luck again are told."""
    monkeypatch.setattr("sys.stdin", io.StringIO("x\n0\n" + "1\n" * 30))

    said = terminal.arena(f"play random --game nim --seed s --seat {seat}", "--options", '{"heaps": [2, 3]}')

    assert said.code == 0
    assert "'x' is not a number from 1 to " in said.out
    assert re.search(r"you (win|lose), \d to \d", said.out)
    again = f"arena play random --seat {seat} --seed s --game nim --options '{{\"heaps\": [2, 3]}}'"
    assert again in said.out


def test_a_person_gives_up(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """`q` ends the match."""
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))

    said = terminal.arena("play random --game nim")

    assert said.code == 0
    assert "you forfeited: gave up" in said.out


def test_a_person_who_goes_away_interrupts(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of the input is no answer: exit 3."""
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    assert terminal.arena("play random --game nim").code == 3


def test_check_names_the_failed_step(terminal: Terminal) -> None:
    """Exit 1, the number of the step, what came instead."""
    Path("silent.py").write_text("import sys\nsys.exit('I will not play')\n")

    said = terminal.arena("check silent.py --game nim")

    assert said.code == 1
    assert "  1  FAILED " in said.out
    assert "did not pass step 1" in said.err
    assert "I will not play" in said.err
    shutil.rmtree("results")
