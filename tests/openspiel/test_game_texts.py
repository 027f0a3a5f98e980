"""Matches as PGN and SGF: clocks, notes, openings, ends, and names that try to break the format."""

from typing import Any

import pytest
from msgspec.structs import replace
from support.scripted_bot import Message, RandomBot, ScriptedBot, answer, match_of, seated

from arena.errors import Crashed, SpecError
from arena.games import load_game
from arena.league.openings import read_openings
from arena.match.record import ActionStep, MatchRecord, pack
from arena.match.results import result_of
from arena.match.settings import ClockSettings
from arena.report.game_texts import game_texts

pytestmark = pytest.mark.slow
TENTHS = ClockSettings(move_ms=0, bank_ms=10_000, increment_ms=100, startup_ms=5000)


def mover(moves: list[str], note: str = "", took_s: float = 1.5) -> ScriptedBot:
    """A bot that plays these moves, each in that time with that note, and then crashes."""
    left = iter(moves)

    def think(message: Message, _number: int) -> list[Any]:
        bot.times.cpu_s += took_s
        move = next(left, None)
        found = [index for index, action in enumerate(message["legal"]) if action["move"] == move]
        return [answer(message, found[0], note=note)] if found else [Crashed("the bot ended")]

    bot = ScriptedBot(think)
    return bot


def played(game: str, *bots: ScriptedBot, options: dict[str, Any] | None = None, names: str = "ab") -> MatchRecord:
    """The match of these bots, by seat."""
    rules = load_game(f"openspiel:{game}")
    seats = [seated(bot, TENTHS, game=rules, player=name) for bot, name in zip(bots, names, strict=True)]
    return match_of(*seats, game=f"openspiel:{game}", options=options, clock=TENTHS, match="0123456789ab-2-1")


def text(record: MatchRecord, form: str) -> str:
    (found,) = game_texts([replace(result_of(record), record=pack(record))], "my \\ league", form)
    return found


def test_a_short_game_of_chess_is_pgn() -> None:
    """The fool's mate after an opening of one move: tags, SAN, clocks after each move, notes."""
    black, white = mover(["e7e5", "d8h4"], "cp {35}"), mover(["g2g4"])
    record = played("chess", black, white, options={"opening": {"moves": ["f2f3"]}})

    assert text(record, "pgn") == (
        '[Event "my \\\\ league"]\n[Site "?"]\n[Date "????.??.??"]\n[Round "0123456789ab.2.1"]\n'
        '[White "b"]\n[Black "a"]\n[Result "0-1"]\n[Termination "normal"]\n\n'
        "1. f3 1... e5 {[%clk 0:00:08.600] [%emt 0:00:01.500] cp (35)} 2. g4 {[%clk\n"
        "0:00:08.600] [%emt 0:00:01.500]} 2... Qh4# {[%clk 0:00:07.200] [%emt\n"
        "0:00:01.500] cp (35)} {mate} 0-1\n\n"
    )


def test_a_position_and_a_forfeit_are_pgn() -> None:
    """The tags SetUp and FEN; a match without any move; time forfeit and other faults."""
    start = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 60"
    crashed = text(played("chess", mover([]), mover([]), options={"opening": {"start": start}}), "pgn")
    late = text(played("chess", mover([]), mover(["e2e4"], took_s=10.5)), "pgn")

    assert f'[SetUp "1"]\n[FEN "{start}"]\n[Termination "rules infraction"]\n\n0-1\n' in crashed
    assert '[Result "0-1"]\n[Termination "time forfeit"]\n' in late


def test_go_is_sgf() -> None:
    """Points from the upper left corner; seconds left; notes; a win by area, and one by time."""
    options = {"opening": {"moves": ["C3"]}}
    black, white = mover(["E1", "pass"], "a ] \\ b"), mover(["A5", "pass"])
    won = text(played("go(board_size=5,komi=0.5)", black, white, options=options), "sgf")
    late = text(played("go(board_size=5)", mover(["C3"], took_s=10.5), mover([])), "sgf")

    head, *moves = won.splitlines()
    assert head == (
        "(;FF[4]GM[1]CA[UTF-8]SZ[5]KM[0.5]RU[area, all stones alive]EV[my \\\\ league]RO[0123456789ab.2.1]"
        "PB[a]PW[b]RE[B+]GC[both passed]"
    )
    assert moves == [
        ";B[cc]",
        ";W[aa]WL[8.600]",
        ";B[ee]BL[8.600]C[a \\] \\\\ b]",
        ";W[]WL[7.200]",
        ";B[]BL[7.200]C[a \\] \\\\ b])",
    ]
    assert "PW[b]RE[W+T])" in late


@pytest.mark.parametrize(("game", "form"), [("chess", "pgn"), ("go(board_size=5)", "sgf")])
def test_a_text_read_as_a_book_has_the_moves_of_the_match(game: str, form: str) -> None:
    """Whatever players are called and bots note: no `]`, quote, brace or new line ends a field."""
    names = ['x"] 1. a4 *', "y];B[aa]) (;\n}{\\"]
    record = played(game, RandomBot(1), RandomBot(2))
    record = replace(
        record,
        seats=tuple(replace(seat, player=name) for seat, name in zip(record.seats, names, strict=True)),
        steps=tuple(replace(step, note='} ] \\ " \n(; 1. a4 *') for step in record.steps),
    )
    moves = [step.action.move for step in record.steps if isinstance(step, ActionStep)]

    with pytest.raises(SpecError, match=r"opening 1: .*: the game is over"):
        read_openings(record.game, text(record, form).encode(), "book")
    cut = replace(record, steps=record.steps[:-1])
    (read,) = read_openings(record.game, text(cut, form).encode(), "book").entries
    assert read["moves"] == moves[:-1]


def test_another_game_has_no_such_text() -> None:
    """The refusal names the format that the game has."""
    record = played("go(board_size=5)", mover([]), mover([]))

    with pytest.raises(SpecError, match=r"--format pgn: matches of openspiel:go\(board_size=5\) have sgf"):
        text(record, "pgn")
