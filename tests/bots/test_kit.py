"""The Python kit: whatever a bot's code does, the referee's line stays clean and a fault is seen."""

from pathlib import Path

import msgspec
import pytest
from support.bots_driver import BOTS, bot_on, started

from arena.bundled import bundled_folder
from arena.protocol import messages as m

KIT = BOTS / "sensible" / "arena_kit.py"
REQUEST = m.Request(id=4, match="m1", view={}, events=(), legal=("a", "b"), clock=m.TimeLeft(move_ms=1, bank_ms=1))

NOISY = """
import os, subprocess, sys
import arena_kit as kit

def choose(view, legal, clock):
    os.write(1, b"from fd 1\\n")
    subprocess.run([sys.executable, "-c", "import sys; print('from a child', repr(sys.stdin.read()))"])
    sys.__stdout__.write("from the old stdout\\n")
    sys.__stdout__.flush()
    return 1

kit.play(choose, start=lambda match: print("from print"))
"""


def _bot_that_acts(folder: Path, body: str) -> Path:
    source = "import random\nimport arena_kit as kit\ndef choose(view, legal, clock):\n"
    return bot_on(KIT, folder, f"{source}    {body}\nkit.play(choose)\n")


def test_bundled_bots_lie_in_the_package_or_beside_it(tmp_path: Path) -> None:
    """An installed package has them inside; a checkout has them beside the package."""
    installed, checkout = tmp_path / "site-packages" / "arena", tmp_path / "checkout" / "arena"
    (installed / "bots").mkdir(parents=True)

    assert bundled_folder("bots", installed) == installed / "bots"
    assert bundled_folder("bots", checkout) == tmp_path / "checkout" / "bots"
    assert bundled_folder("bots") == BOTS


def test_the_kit_is_the_same_file_in_each_bundled_bot() -> None:
    """A bot is a folder of its own, so each has a copy; `new-bot` takes the first."""
    kits = [path.read_bytes() for path in BOTS.rglob("arena_kit.py")]

    assert len(kits) == 3
    assert kits[0] == kits[1]


@pytest.mark.process
def test_nothing_a_bot_prints_reaches_the_referee(tmp_path: Path) -> None:
    """print, fd 1, a child and the old stdout all end on stderr; a child reads no line of the referee's."""
    with started(bot_on(KIT, tmp_path, NOISY)) as bot:
        bot.start_match()
        answer = bot.ask(REQUEST)
        bot.end_input()

        assert answer == m.Answer(id=4, action=1)
        assert bot.exit_code() == 0
        assert bot.line() == b""
        said = bot.stderr()
    for words in ("from print", "from fd 1", "from a child ''", "from the old stdout"):
        assert words in said


@pytest.mark.process
def test_an_exception_is_a_traceback_and_exit_code_1(tmp_path: Path) -> None:
    """The author finds the line of his mistake on stderr."""
    with started(_bot_that_acts(tmp_path, "return view['leagl'][0]")) as bot:
        bot.start_match()
        bot.send(REQUEST)

        assert bot.exit_code() == 1
        assert "return view['leagl'][0]" in bot.stderr()
        assert "KeyError: 'leagl'" in bot.stderr()


@pytest.mark.process
@pytest.mark.parametrize("result", ["None", "True", "'roll'", "1.0"])
def test_what_is_no_action_is_refused_at_once(tmp_path: Path, result: str) -> None:
    """A forgotten `return` is found in the bot, with a sentence."""
    with started(_bot_that_acts(tmp_path, f"return {result}")) as bot:
        bot.start_match()
        bot.send(REQUEST)

        assert bot.exit_code() == 1
        assert f"choose() must return an action (a dict) or an index in legal, not {result}" in bot.stderr()


@pytest.mark.process
def test_random_is_seeded_anew_for_every_match(tmp_path: Path) -> None:
    """Equal bot_seeds give equal numbers, different ones give different numbers."""
    with started(_bot_that_acts(tmp_path, "return {'number': random.random()}")) as bot:
        numbers = []
        for seed in (1, 2, 1):
            bot.start_match(bot_seed=seed)
            numbers.append(bot.ask(REQUEST).action["number"])

    assert numbers[0] == numbers[2] != numbers[1]


@pytest.mark.process
def test_the_kit_calls_start_choose_and_end_in_turn(tmp_path: Path) -> None:
    """Each gets its message as a dict; blank lines between them are no messages."""
    source = """
import arena_kit as kit

def choose(view, legal, clock):
    return {"heard": [kit.match["seat"], kit.request["id"], kit.hello["game"]]}

kit.play(choose, start=lambda match: print(match["seat"]), end=lambda result: print(result["termination"]))
"""
    end = {"type": "match_end", "match": "m1", "termination": "normal"}
    with started(bot_on(KIT, tmp_path, source)) as bot:
        bot.start_match(seat=1)
        bot.send(b"\r")
        bot.send(b"")

        answer = bot.ask(msgspec.json.encode(REQUEST) + b"\r")
        bot.send(end)
        bot.end_input()

        assert answer.action == {"heard": [1, 4, "shanghaien"]}
        assert bot.exit_code() == 0
        assert bot.stderr() == "1\nnormal\n"
