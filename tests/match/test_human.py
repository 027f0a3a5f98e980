"""A human at the table, with the keyboard and the screen as functions."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import UNSET
from support.golden import Golden
from support.lottery import Lottery
from support.scripted_bot import NIM, at_toy_game, match_of, toy_bot
from support.toy_game import Lean, ToyGame

from arena.games.luck import derive
from arena.match.baseline import BaselinePlayer
from arena.match.human import HELP, HumanPlayer
from arena.match.participant import Participant
from arena.match.record import ActionStep, MatchRecord
from arena.text import cut, wrap_lines


class Terminal:
    """A terminal that types these lines, and keeps what was shown."""

    def __init__(self, *typed: str) -> None:
        self.shown: list[str] = []
        self.asked = 0
        self._typed: Iterator[str] = iter(typed)

    def prompt(self, text: str) -> str:
        self.asked += 1
        self.shown.append(text)
        return next(self._typed)


def played(terminal: Terminal, other: Participant, *, game: Any = NIM, **options: Any) -> MatchRecord:
    """Play a match of the human at that terminal."""
    human = HumanPlayer(say=terminal.shown.append, prompt=terminal.prompt)
    return match_of(human, other, game=game.name, options=options, seed=derive("p"), rules=game)


def match_with(terminal: Terminal, *, heaps: tuple[int, ...] = (2, 1)) -> MatchRecord:
    return played(terminal, BaselinePlayer(), heaps=list(heaps))


def test_a_human_plays_by_number_from_one(golden: Golden) -> None:
    """The third action is the only counter of heap 1; the rest follows by itself or by choice."""
    terminal = Terminal("3", "1")
    record = match_with(terminal)

    assert record.termination.value == "normal"
    assert (record.seats[0].player, record.seats[0].bot, record.seats[0].moves) == ("you", "person", 1)
    assert record.steps[0].action.heap == 1  # type: ignore[union-attr]
    text = "\n".join(terminal.shown)
    assert all(part in text for part in ("heap 0: oo (2)", "   3)  takes 1 from heap 1", "house: takes"))
    golden(terminal.shown)
    golden(terminal.shown[-1])


def test_a_human_hears_private_actions_as_json_and_a_lot_by_its_key(golden: Golden) -> None:
    """Only draws of dice are called dice."""
    terminal = Terminal("1")
    human = HumanPlayer(say=terminal.shown.append, prompt=terminal.prompt)
    match_of(BaselinePlayer(), human, game="lottery", seed=derive("p"), rules=Lottery())

    text = "\n".join(terminal.shown)
    golden(text)
    assert re.search(r"^ticket: [01]$", text, re.MULTILINE)
    assert "dice" not in text


@pytest.mark.parametrize("nonsense", ["", "0", "4", "-1", "one", "1.0", "³", "9" * 5000])
def test_what_is_no_number_of_an_action_is_asked_again(nonsense: str) -> None:
    """The message names the range that was expected; the match goes on."""
    terminal = Terminal(nonsense, "3")

    assert match_with(terminal).termination.value == "normal"
    assert wrap_lines(f"{cut(nonsense)!r} is not a number from 1 to 3", 80) in terminal.shown


@pytest.mark.parametrize("word", ["?", "h", " help "])
def test_who_asks_for_help_gets_it_and_sees_the_table_again(word: str) -> None:
    """Help is no action: the same one is asked for afterwards."""
    terminal = Terminal(word, "3")

    assert match_with(terminal).termination.value == "normal"
    assert HELP in terminal.shown
    assert any(line.startswith("Take one or more counters from one heap.") for line in terminal.shown)
    assert sum("heap 0: oo (2)" in line for line in terminal.shown) == 2
    assert terminal.shown.count("   3)  takes 1 from heap 1") == 2


@pytest.mark.parametrize("word", ["q", "quit", " q "])
def test_a_human_may_give_up(word: str) -> None:
    """Giving up is a forfeit like any other."""
    record = match_with(Terminal(word))

    assert record.ranks == (1, 0)
    assert record.fault is not None
    assert record.fault.message == "gave up"


def toy_match_with(terminal: Terminal) -> MatchRecord:
    """Play one round of the toy game, where leaning out cannot be listed, against the baseline."""
    return played(terminal, BaselinePlayer(), game=ToyGame(), rounds=1)


def own_lean(record: MatchRecord, seat: int = 0) -> ActionStep:
    return next(step for step in record.steps if isinstance(step, ActionStep) and step.seat == seat)


def test_a_human_writes_down_what_cannot_be_listed(golden: Golden) -> None:
    """The action is typed as the JSON of protocol.md; listed actions are still chosen by number."""
    terminal = Terminal('{"mm": 25}', "2")
    record = toy_match_with(terminal)

    assert own_lean(record).action.mm == 25
    assert record.steps[2].action.sail == 1  # type: ignore[union-attr]
    assert record.termination.value == "normal"
    golden(terminal.shown)


@pytest.mark.parametrize(
    ("nonsense", "said"),
    [
        ("", "'' is not a JSON object; ? for help"),
        ("12", "'12' is not a JSON object; ? for help"),
        ('{"mm": 25', "the line is not one JSON object"),
        ('{"mm": NaN}', "NaN is not JSON"),
    ],
)
def test_what_is_no_json_object_is_asked_again(nonsense: str, said: str) -> None:
    """It is no action yet, so it is not refused."""
    terminal = Terminal(nonsense, '{"mm": 25}', "1")
    record = toy_match_with(terminal)

    assert own_lean(record).action.mm == 25
    assert record.seats[0].faults == {}
    assert any(said in line for line in terminal.shown)


def test_a_human_may_play_an_example() -> None:
    """Examples are shown one after another, until the human accepts one."""
    terminal = Terminal("s", "n", "s", "y", "1")
    record = toy_match_with(terminal)

    examples = [line for line in terminal.shown if line.startswith("Lean(")]
    assert len(examples) == 2
    assert json.loads(examples[1].split(": ", 1)[1]) == {"mm": own_lean(record).action.mm}


def test_a_human_may_let_it_be() -> None:
    """The fallback action is then played, as an action like any other."""
    record = toy_match_with(Terminal("p", "1"))

    assert own_lean(record) == ActionStep(seat=0, action=Lean(0))


def test_without_a_fault_policy_there_is_no_fallback_action(golden: Golden) -> None:
    """The prompt does not offer one."""
    game = ToyGame()
    game.fault_policy = None
    terminal = Terminal("p", '{"mm": 1}', "1")
    played(terminal, at_toy_game(toy_bot(), game), game=game, rounds=1)

    golden(terminal.shown)


def test_what_is_refused_is_shown_and_asked_again_until_it_is_possible() -> None:
    """An impossible action of a person is neither move nor fault, and the table is shown once."""
    terminal = Terminal('{"mm": 101}', '{"mm": 13}', '{"cm": 1}', '{"mm": 25}', "1")
    record = toy_match_with(terminal)

    refused = [line for line in terminal.shown if line.startswith("not possible: ")]
    assert refused[:2] == ["not possible: nobody leans out 101 mm", "not possible: the plank at 13 mm is rotten"]
    assert len(refused) == 3
    assert own_lean(record) == ActionStep(seat=0, action=Lean(25))
    assert (record.seats[0].moves, record.seats[0].faults, record.seats[0].refusals) == (2, {}, UNSET)
    assert sum(line == "\nround 1, scores 0 0\n" for line in terminal.shown) == 2


def test_giving_up_is_not_pardoned() -> None:
    """A game with a fault policy ends when a person gives up."""
    record = toy_match_with(Terminal("q"))

    assert (record.termination.value, record.ranks) == ("illegal_action", (1, 0))


def test_a_human_hears_the_results_of_simulations(golden: Golden) -> None:
    """In the words of the game, as they come: before the next table, and after the last move too."""
    game = ToyGame()
    terminal = Terminal('{"mm": 40}', "1", "p")
    played(terminal, at_toy_game(toy_bot(30), game), game=game, rounds=2)

    told = terminal.shown.index("the float tips by 70")
    golden(terminal.shown[told + 1])
    golden(terminal.shown[-2])
    assert terminal.shown[-1].startswith("\nround ")
