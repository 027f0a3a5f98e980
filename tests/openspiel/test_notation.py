"""Chess and go as engines write them: known positions, lines and vertices from outside."""

from typing import Any, Final

import pytest

from arena.errors import IllegalAction, SpecError
from arena.games import load_game
from arena.games.api import Decision, Game, Over, Seat
from arena.games.openspiel.game import SpielState

pytestmark = pytest.mark.slow
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
WHITE, BLACK = Seat(1), Seat(0)


def played(game: Game[Any, Any], moves: list[str], options: dict[str, Any] | None = None) -> SpielState:
    """The state after these moves, each found by the `move` of a legal action."""
    state: SpielState = game.setup(options or {}, 2)
    for move in moves:
        assert isinstance(state.turn, Decision)
        (seat,) = state.turn.seats
        (action,) = [action for action in state.legal[seat] if action.move == move]
        assert game.parse(state, seat, {"id": action.id, "move": move}) == action
        state = game.apply(state, {seat: action})
    return state


@pytest.mark.parametrize(
    ("moves", "sans", "fen"),
    [
        # FIDE Laws, article 3: castling, en passant, promotion; the examples of the PGN standard's section 16.1.4
        (["e2e4"], {"c5", "Nf6"}, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"),
        (
            ["e2e4", "c7c5", "g1f3"],
            {"d6", "Nc6"},
            "rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2",
        ),
        (
            ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6", "e1g1"],
            {"Nxe4", "b5"},
            "r1bqkb1r/1ppp1ppp/p1n2n2/4p3/B3P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 3 5",
        ),
        (
            ["e2e4", "a7a6", "e4e5", "d7d5", "e5d6", "a6a5", "d6c7", "a5a4", "c7b8n"],
            {"Rxb8"},
            "rNbqkbnr/1p2pppp/8/8/p7/8/PPPP1PPP/RNBQKBNR b KQkq - 0 5",
        ),
        (["f2f3", "e7e5", "g2g4"], {"Qh4#"}, "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2"),
    ],
)
def test_chess_has_lan_san_and_fen(moves: list[str], sans: set[str], fen: str) -> None:
    """The view has start, FEN and all moves; an action SAN and LAN."""
    game = load_game("openspiel:chess")
    state = played(game, moves)

    view = game.observe(state, BLACK)
    assert (view["start"], view["moves"]) == (START, moves)
    assert view["fen"].split()[:3] == fen.split()[:3]
    assert view["fen"].split()[4:] == fen.split()[4:]
    texts = {action.text for action in state.legal[BLACK]}
    assert sans <= texts
    assert game.setup({}, 2).turn == Decision((WHITE,))


def test_go_has_vertices() -> None:
    """Columns leave out I; Black is seat 0; a pass is `pass`."""
    game = load_game("openspiel:go(board_size=9,komi=6.5)")
    state = played(game, ["J9", "A1", "E5", "pass"])

    view = game.observe(state, BLACK)
    assert (view["size"], view["komi"], view["moves"]) == (9, 6.5, ["J9", "A1", "E5", "pass"])
    assert "\n 9 ++++++++X\n" in view["observation_string"]
    assert "\n 1 O++++++++\n" in view["observation_string"]
    assert load_game("openspiel:go").observe(load_game("openspiel:go").setup({}, 2), BLACK)["size"] == 19


def test_a_wrong_move_beside_the_right_id_is_refused() -> None:
    """As a wrong text is; both may be left out."""
    game = load_game("openspiel:chess")
    state: SpielState = game.setup({}, 2)
    first = state.legal[WHITE][0]

    assert game.parse(state, WHITE, {"id": first.id}) == first
    with pytest.raises(IllegalAction, match=f"not possible now: {first.id} h7h5"):
        game.parse(state, WHITE, {"id": first.id, "move": "h7h5"})


@pytest.mark.parametrize("name", ["chess(chess960=true)", "go(handicap=2)", "hex", "othello", "dark_chess"])
def test_other_games_have_no_moves(name: str) -> None:
    """Their actions and views are those of OpenSpiel alone."""
    game = load_game(f"openspiel:{name}")
    state: SpielState = game.setup({}, 2)
    state = state if isinstance(state.turn, Decision) else game.resolve(state, (3,))

    assert isinstance(state.turn, Decision)
    (seat,) = state.turn.seats
    assert not any(action.move for action in state.legal[seat])
    assert "moves" not in game.observe(state, seat)


FIFTY: Final = "8/8/8/4k3/8/8/4P3/4K3 w - - 98 80"
ENDS: Final = [
    ("chess", "", ["g1f3", "g8f6", "f3g1", "f6g8"] * 2, (0, 0), "a position came for the third time"),
    ("chess", FIFTY, ["e1d1", "e5e6"], (0, 0), "50 moves without capture or pawn"),
    # also the third time; fastchess names the moves, too
    (
        "chess",
        FIFTY.replace("98", "92"),
        ["e1d1", "e5e6", "d1e1", "e6e5"] * 2,
        (0, 0),
        "50 moves without capture or pawn",
    ),
    ("chess", "7k/8/8/8/8/8/1q6/K7 w - - 0 1", ["a1b2"], (0, 0), "too few pieces to mate"),
    ("chess", "7k/8/4Q1K1/8/8/8/8/8 w - - 0 80", ["e6f7"], (0, 0), "stalemate"),
    ("chess", "7k/8/4Q1K1/8/8/8/8/8 w - - 99 80", ["e6e8"], (-1, 1), "mate"),
    # one dead stone that nobody captured leaves no area to Black alone
    ("go(board_size=5,komi=0.5)", "", ["C3", "A1", "pass", "pass"], (-1, 1), "both passed"),
    ("go(board_size=3)", "", ["B3", "B2", "A2", "C2", "C3", "A3", "B3"], (0, 0), "a position came again"),
    ("go(board_size=3,max_game_length=3)", "", ["B2", "pass", "A1"], (1, -1), "the limit of moves"),
]


@pytest.mark.parametrize(("name", "start", "moves", "scores", "why"), ENDS)
def test_games_end_as_the_page_says(name: str, start: str, moves: list[str], scores: tuple[int, int], why: str) -> None:
    """The rule that ended the game stands below the position, so that matches can be counted by it."""
    game = load_game(f"openspiel:{name}")
    end = played(game, moves, {"opening": {"start": start}} if start else {})

    assert (end.turn, game.outcome(end).scores) == (Over(), scores)
    assert game.describe(end).startswith(f"the game is over: {why}\n")
    with pytest.raises(SpecError, match="the game is over"):
        game.setup({"opening": {"start": start, "moves": moves}}, 2)
