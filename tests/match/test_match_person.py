"""A person at the table, with the keyboard and the screen as functions."""

from collections.abc import Iterator

import pytest
from match_table import NIM, house

from arena.errors import BotFault
from arena.games.luck import derive
from arena.match.person import DRAWN, HELP, DrawnGame, Person
from arena.match.record import MatchRecord
from arena.match.referee import play
from arena.match.terms import ClockSettings, MatchSpec


class Terminal:
    """Types these lines, and remembers what was shown."""

    def __init__(self, *typed: str) -> None:
        self.shown: list[str] = []
        self.asked = 0
        self._typed: Iterator[str] = iter(typed)

    def prompt(self, text: str) -> str:
        self.asked += 1
        self.shown.append(text)
        return next(self._typed)


def match_with(terminal: Terminal, *, seat: int = 0, heaps: tuple[int, ...] = (2, 1)) -> MatchRecord:
    person = Person(say=terminal.shown.append, prompt=terminal.prompt)
    spec = MatchSpec(match="m", game="nim", options={"heaps": list(heaps)}, seed=derive("p"), clock=ClockSettings())
    players = [person, house()] if seat == 0 else [house(), person]
    return play(spec, players, game=DrawnGame(NIM, seat))  # type: ignore[arg-type]


def test_a_person_plays_by_number_from_one() -> None:
    """The third action is the only counter of heap 1; the rest follows by itself or by choice."""
    terminal = Terminal("3", "1")
    record = match_with(terminal)

    assert record.termination.value == "normal"
    assert (record.seats[0].player, record.seats[0].bot, record.seats[0].moves) == ("you", "person", 1)
    assert record.steps[0].action.heap == 1  # type: ignore[union-attr]
    assert "You sit in seat 0. Type the number of an action, ? for help, q to give up." in terminal.shown


def test_a_person_sees_the_table_and_what_the_others_do() -> None:
    """Drawn for people, forced moves marked."""
    terminal = Terminal("3")
    match_with(terminal)

    text = "\n".join(terminal.shown)
    assert "heap 0: oo (2)" in text
    assert "   3  takes 1 from heap 1" in text
    assert "house: takes" in text


@pytest.mark.parametrize("nonsense", ["", "0", "4", "-1", "one", "1.0", "³", "9" * 5000])
def test_what_is_no_number_of_an_action_is_asked_again(nonsense: str) -> None:
    """With the range that was expected; the match goes on."""
    terminal = Terminal(nonsense, "3")

    assert match_with(terminal).termination.value == "normal"
    assert f"{nonsense!r} is not a number from 1 to 3" in terminal.shown


@pytest.mark.parametrize("word", ["?", "h", " help "])
def test_who_asks_for_help_gets_it_and_sees_the_table_again(word: str) -> None:
    """It is no action: the same one is asked for afterwards."""
    terminal = Terminal(word, "3")

    assert match_with(terminal).termination.value == "normal"
    assert HELP in terminal.shown
    assert sum("heap 0: oo (2)" in line for line in terminal.shown) == 2
    assert terminal.shown.count("   3  takes 1 from heap 1") == 2


@pytest.mark.parametrize("word", ["q", "quit", " q "])
def test_a_person_may_give_up(word: str) -> None:
    """It is a forfeit like any other."""
    record = match_with(Terminal(word))

    assert record.ranks == (1, 0)
    assert record.fault is not None
    assert record.fault.message == "gave up"


def test_the_bot_across_the_table_sees_no_drawing() -> None:
    """The text is for the person's seat alone."""
    game = DrawnGame(NIM, 1)
    state = NIM.setup({}, 2)

    assert DRAWN not in game.observe(state, 0)  # type: ignore[arg-type]
    assert DRAWN in game.observe(state, 1)  # type: ignore[arg-type]


def test_giving_up_is_no_crash_of_the_referee() -> None:
    """It is a fault of the seat, as the referee knows them."""
    person = Person(say=lambda _: None, prompt=lambda _: "q")

    with pytest.raises(BotFault, match="gave up"):
        person.ask({DRAWN: ""}, (1, 2))
