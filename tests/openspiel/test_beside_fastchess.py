"""benchmarks/beside_fastchess.py: games of arena and of fastchess read, compared and counted.

fastchess.pgn and fastchess.txt are what fastchess (74deac23) wrote and printed of 8 games, two at once.
"""

from collections.abc import Sequence
from pathlib import Path

import beside_fastchess as beside
import pytest

from arena.errors import SpecError
from arena.games import load_game
from arena.games.api import Decision

HERE = Path(__file__).parent
PRINTED = (HERE / "fastchess.txt").read_text()
PGN = (HERE / "fastchess.pgn").read_text()
HEART = HERE.parent / "bots" / "engines" / "heart.py"


@pytest.fixture
def games() -> list[beside.Game]:
    return beside.fastchess_games(PGN, PRINTED)


def test_games_of_fastchess_are_read(games: list[beside.Game]) -> None:
    """Colours, positions, moves, results and ends as a person reads them there."""
    assert [game.white for game in games] == ["A", "B"] * 4
    assert games[0] == beside.Game(
        "A", "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", ("h5f7",), "1-0", "mate"
    )
    assert games[4].moves == ("e1f2", "e8d7", "f2e1", "d7e7", "e1e2")
    assert [game.ending for game in games] == ["mate"] * 4 + ["too few pieces to mate"] * 2 + ["mate"] * 2
    assert [game.result for game in games] == ["1-0", "1-0", "1-0", "0-1", "1/2-1/2", "1/2-1/2", "1-0", "1-0"]
    assert [len(game.moves) for game in games] == [1, 1, 79, 68, 5, 1, 57, 31]


def test_the_order_in_which_games_ended_is_no_matter(games: list[beside.Game]) -> None:
    """Two at once end, and are written, in any order."""
    texts = PGN.split("[Event ")[1:]

    assert beside.fastchess_games("".join(f"[Event {text}" for text in reversed(texts)), PRINTED) == games


def test_moves_are_legal_and_ends_are_those_of_the_rules(games: list[beside.Game]) -> None:
    """OpenSpiel's rules end each game at its last move, in the same way."""
    rules = load_game("openspiel:chess")
    for game in games:
        state = rules.setup({"opening": {"start": game.start}}, 2)
        for move in game.moves:
            turn = rules.turn(state)
            assert isinstance(turn, Decision)
            (seat,) = turn.seats
            actions = {action.move: action for action in rules.legal(state, seat) or ()}
            state = rules.apply(state, {seat: actions[move]})
        assert rules.describe(state).startswith(f"the game is over: {game.ending}\n")


@pytest.mark.parametrize("board", ["4k3/8/8/8/1B6/4B3/8/2B1K3", "4kb2/8/8/8/8/4B3/8/2B1K3"])
def test_bishops_on_squares_of_one_colour(board: str) -> None:
    """OpenSpiel's draw whatever their number, as docs/compared.md says; fastchess goes on with more than two."""
    with pytest.raises(SpecError, match="the game is over"):
        load_game("openspiel:chess").setup({"opening": {"start": f"{board} w - - 0 1"}}, 2)


def test_the_numbers_are_those_that_fastchess_printed(games: list[beside.Game]) -> None:
    own, printed = beside.numbers_of(games), beside.fastchess_numbers(PRINTED)

    assert own.pairs == printed.pairs == (0, 0, 3, 0, 1)
    assert {name: round(value, 2) for name, value in own.figures.items()} == printed.figures


@pytest.mark.parametrize(
    ("place", "change"),
    [
        ("game 3, move 5: d6d5 and d2d4", lambda game: game._replace(moves=(*game.moves[:4], "d6d5", *game.moves[5:]))),
        ("game 3, move 79: none and g7g8", lambda game: game._replace(moves=game.moves[:-1])),
        ("game 3, move 80: a2a3 and none", lambda game: game._replace(moves=(*game.moves, "a2a3"))),
        ("game 3, result: 0-1 and 1-0", lambda game: game._replace(result="0-1")),
        ("game 3, ending: timeout and mate", lambda game: game._replace(ending="timeout")),
        ("game 3, white: B and A", lambda game: game._replace(white="B")),
        ("game 3, start: 8/8 and rnbqkb1r", lambda game: game._replace(start="8/8")),
    ],
)
def test_a_changed_game_is_found(games: list[beside.Game], place: str, change: object) -> None:
    """The first place that differs, and no other game; the table lists it."""
    assert callable(change)
    changed = [*games[:2], change(games[2]), *games[3:]]

    (sentence,) = beside.differences(changed, games)

    assert sentence.startswith(place)
    assert sentence in report(changed, games)


def test_a_missing_game_is_found(games: list[beside.Game]) -> None:
    assert beside.differences(games[:-1], games) == ["7 and 8 games"]
    assert beside.differences(games, games) == []


def report(own: Sequence[beside.Game], others: Sequence[beside.Game]) -> str:
    return beside.report(own, others, beside.fastchess_numbers(PRINTED), ([3.0], [2.0]))


@pytest.mark.slow
def test_games_of_arena_are_read(tmp_path: Path) -> None:
    """An engine that knows a game by heart plays it with both colours; a league that grows keeps its games."""
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    book, engine = tmp_path / "book.epd", tmp_path / "heart"
    book.write_text(f"{start}\n")
    engine.write_text(HEART.read_text().replace("Skill Level", "Hash"))
    engine.chmod(0o755)
    contest = beside.Contest((str(engine),) * 2, ("nodes=5",) * 2, 1)
    assert beside.ArenaSide(tmp_path, contest, book).games() == []
    league = beside.ArenaSide(tmp_path, contest, book)  # goes on with what is there

    for pairs in (1, 2):
        league.play(pairs)
        first, second, *more = league.games()

        moves = ("e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7")
        assert first == beside.Game("A", start, moves, "1-0", "mate")
        assert [second, *more] == [first._replace(white="B"), *[first, first._replace(white="B")] * (pairs - 1)]


@pytest.mark.slow
def test_positions_that_a_book_leads_to(tmp_path: Path) -> None:
    """They differ, none is the end of a game, and a move of a pawn leaves no square to take on where nobody can."""
    book = tmp_path / "book.pgn"
    book.write_text("1. e4 e5 2. Bc4 Nc6 3. Qh5 *\n1. f3 e5 *\n")

    fens = beside.positions(book)

    assert len({*fens}) == len(fens) > 40
    assert all(fen.split()[3] == "-" for fen in fens)
