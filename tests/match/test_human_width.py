"""A person at a terminal of 80 columns: whole matches are played and every line of them is measured."""

from functools import cache
from random import Random
from typing import Any

import pytest
from support.riffraff_play import TOPPLING
from support.scripted_bot import match_of

from arena.games import load_game
from arena.games.luck import derive
from arena.games.riffraff.rules import RiffRaff
from arena.games.shanghaien.expansions import EXPANSIONS
from arena.match.baseline import BaselinePlayer
from arena.match.human import HumanPlayer
from arena.match.record import ActionStep, MatchRecord
from arena.text import shorten, wrap_lines

COLUMNS = 80
LONGEST = "a-name-of-as-many-letters-as-there-can-"
"""With a digit behind it."""
TABLES: list[tuple[str, int, dict[str, Any]]] = [
    ("riffraff", 2, {}),
    ("riffraff", 4, {}),
    ("shanghaien", 2, {}),
    ("shanghaien", 2, {"expansions": sorted(EXPANSIONS)}),
    ("nim", 2, {}),
    ("nim", 2, {"heaps": [70, 1000]}),
    ("connect_four", 2, {}),
    ("kuhn_poker", 2, {}),
]


class Keyboard:
    """Types what may be typed, legal or not, with the rules now and then, and remembers every line."""

    def __init__(self, seed: int) -> None:
        self.lines: list[str] = []
        self._rng = Random(seed)
        self._asked = set[str]()

    def show(self, text: str) -> None:
        self.lines += text.split("\n")

    def type(self, prompt: str) -> str:
        self.show(f"{prompt}> ")
        word = prompt.split(",", maxsplit=1)[0]
        if word not in self._asked:
            self._asked.add(word)
            return "?"
        if ", 1 to " in prompt:
            return str(self._rng.randint(1, int(prompt.rsplit(maxsplit=1)[-1])))
        return "y" if prompt.startswith("y to") else self._rng.choice(("s", "s", "s", "p", '{"x": 1}', "x" * 200))


@cache
def played(number: int, seat: int) -> tuple[MatchRecord, list[str]]:
    """A match at that table of a person in that seat, of players with long names in the others, and all lines shown."""
    game, seats, options = TABLES[number]
    keyboard = Keyboard(seat)
    person = HumanPlayer(say=keyboard.show, prompt=keyboard.type)
    table = [person if each == seat else BaselinePlayer() for each in range(seats)]
    for at, each in enumerate(table):
        each.player = "you" if each is person else f"{LONGEST}{at}"
    rules: Any = RiffRaff(TOPPLING) if game == "riffraff" else load_game(game)
    return match_of(*table, game=game, options=options, seed=derive("width", seat), rules=rules), keyboard.lines


@pytest.mark.parametrize("number", range(len(TABLES)), ids=[f"{game}-{at}" for at, (game, *_) in enumerate(TABLES)])
def test_no_line_is_wider_than_the_terminal(number: int) -> None:
    """Tables, news, actions, rules and refusals, with the longest names, in the first and the last seat."""
    for seat in (0, TABLES[number][1] - 1):
        record, lines = played(number, seat)

        assert record.fault is None
        assert len(lines) > 10
        assert [line for line in lines if len(line) > COLUMNS] == []


def test_riff_raff_tells_names_and_why_nobody_may_pass() -> None:
    """No seat is told but in the sentence that says which seat is whose; nothing is loaded for a person who passes."""
    record, lines = played(0, 0)
    told = " ".join(" ".join(lines[1:]).split())

    assert "captain: " in told
    assert "order of play, by cards: " in told
    assert "is over; pieces left: you " in told
    assert "--- round 2 of " in told
    assert "victory" in told
    assert "seat 1" not in told
    assert "seats" not in told
    assert "not possible: nobody may pass who can load a piece: " in told
    assert "has room and support on area" in told
    assert not any(isinstance(step, ActionStep) and step.fallback_for and step.seat == 0 for step in record.steps)


def test_longer_lines_go_on_below() -> None:
    """Further right than they began, and shorter ones are left alone, spaces and all."""
    assert wrap_lines("a  b\n\n  one two six", 9) == "a  b\n\n  one two\n      six"
    assert wrap_lines("x" * 12, 8) == "xxxxxxxx\n    xxxx"


def test_the_middle_of_a_long_name_is_left_out() -> None:
    """Versions of a bot have names that differ at the end."""
    assert shorten("submission-2026-b", 16) == "submiss…n-2026-b"
    assert shorten("a" * 16, 16) == "a" * 16
