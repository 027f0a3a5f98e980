"""Pictures of OpenSpiel's boards: each piece on its square, by the diagrams of the rules; other games stay text."""

from collections import Counter
from random import Random
from xml.etree import ElementTree as ET

import pytest
from support.docs_pages import ROOT

from arena.games import load_game
from arena.games.api import Decision, Over, Seat
from arena.games.openspiel.boards import _BOARDS

pytestmark = pytest.mark.slow
SVG = "{http://www.w3.org/2000/svg}"
BLACK, WHITE = "#20242a", "#ffffff"


def drawn(name: str, *moves: str) -> ET.Element:
    """Return the picture after the moves; a draw has its first outcome."""
    game = load_game(f"openspiel:{name}")
    state = game.setup({}, 2)
    for move in moves:
        turn = game.turn(state)
        if isinstance(turn, Decision):
            (action,) = [action for action in game.legal(state, turn.seats[0]) or () if str(action).endswith(move)]
            state = game.apply(state, {turn.seats[0]: action})
        else:
            state = game.resolve(state, (0,))
    return ET.fromstring(game.picture(state))


def pieces(picture: ET.Element) -> list[tuple[int, int, str]]:
    """Return the discs as column and row from the upper left, and colour, without those beside the names below."""
    names = {
        float(text.get("y", "")) - 5 for text in picture.iter(f"{SVG}text") if (text.text or "").startswith("seat")
    }
    discs = [disc for disc in picture.iter(f"{SVG}circle") if disc.get("r") == "13.44"]
    places = [(float(disc.get("cx", "")), float(disc.get("cy", "")), disc.get("fill", "")) for disc in discs]
    return sorted((int(x - 32) // 32, int(y - 40) // 32, fill) for x, y, fill in places if y not in names)


def test_chess_begins_with_its_diagram() -> None:
    """White is seat 1; the pawn from e2 stands on e4."""
    texts = [(text.text or "", text) for text in drawn("chess", "e4").iter(f"{SVG}text")]
    men = {
        "abcdefgh"[(int(text.get("x", "")) - 48) // 32] + str(8 - (int(text.get("y", "")) - 66) // 32): (
            "♟♞♝♜♛♚".index(sign[0]),
            text.get("fill"),
        )
        for sign, text in texts[:-4]
        if sign[0] in "♟♞♝♜♛♚"
    }

    back = [3, 1, 2, 4, 5, 2, 1, 3]
    assert [men[f"{file}8"] for file in "abcdefgh"] == [(man, BLACK) for man in back]
    assert [men[f"{file}1"] for file in "abcdefgh"] == [(man, WHITE) for man in back]
    assert [square for square in men if square[1] in "3456"] == ["e4"]
    assert (men["e4"], len(men)) == ((0, WHITE), 32)
    assert [text for text, _ in texts[-4:]] == ["♚\ufe0e", "seat 0", "♚\ufe0e", "seat 1"]


def test_stones_of_go_stand_on_their_vertices() -> None:
    """Columns leave out I; black is seat 0; a captured stone is gone."""
    board = drawn("go(board_size=9)", "B a2", "W a1", "B b1", "W j9")

    assert pieces(board) == [(0, 7, BLACK), (1, 8, BLACK), (8, 0, WHITE)]
    assert "J" in [text.text for text in board.iter(f"{SVG}text")]


def test_othello_turns_discs() -> None:
    """After d3 the disc of d4 is black; row 1 is above."""
    assert pieces(drawn("othello", "d3")) == [(3, 2, BLACK), (3, 3, BLACK), (3, 4, BLACK), (4, 3, BLACK), (4, 4, WHITE)]


def test_backgammon_begins_with_its_diagram() -> None:
    """Both have two, five, three and five checkers, on points that face each other."""
    board = drawn("backgammon")
    counts = Counter((int(fill[len("var(--seat-")]), column, row > 5) for column, row, fill in pieces(board))

    seat0 = {(12, True): 2, (0, True): 5, (4, False): 3, (7, False): 5}
    assert counts == {
        (seat, column, is_low != bool(seat)): count for seat in (0, 1) for (column, is_low), count in seat0.items()
    }
    assert [text.text for text in board.iter(f"{SVG}text")] == ["a draw is due", "seat 0, 0 off", "seat 1, 0 off"]


def test_dice_hits_and_a_high_stack_are_drawn() -> None:
    """After the first draw there are two dice; a checker that was hit lies on the bar, between the halves."""
    game = load_game("openspiel:backgammon")
    state, rng, bars, highest = game.setup({}, 2), Random(5), 0, 0
    while not isinstance(turn := game.turn(state), Over):
        if isinstance(turn, Decision):
            state = game.apply(state, {turn.seats[0]: game.sample(state, turn.seats[0], rng)})
            continue
        state = game.resolve(state, (rng.randrange(len(turn.kind.weights)),))  # type: ignore[union-attr]
        picture, spiel = ET.fromstring(game.picture(state)), state.spiel
        on_points = [spiel.board(seat, point) for seat in (0, 1) for point in range(24)]
        on_bar = sum(column == 6 for column, *_ in pieces(picture))
        numbers = [text.text or "" for text in picture.iter(f"{SVG}text") if (text.text or "").isdigit()]
        assert sorted(numbers) == sorted(str(count) for count in on_points if count > 5)
        assert len(pieces(picture)) == sum(min(5, count) for count in on_points) + on_bar
        bars, highest = max(bars, on_bar), max(highest, *on_points)

    assert (bars > 1, highest > 5) == (True, True)


@pytest.mark.parametrize(
    ("name", "count"), [("breakthrough(rows=6,columns=5)", 20), ("connect_four", 0), ("gomoku", 0), ("tic_tac_toe", 0)]
)
def test_a_board_has_its_pieces(name: str, count: int) -> None:
    """Also one of another size, and after a move."""
    game = load_game(f"openspiel:{name}")
    state = game.setup({}, 2)
    after = game.apply(state, {Seat(0): (game.legal(state, Seat(0)) or ())[0]})

    assert len(pieces(ET.fromstring(game.picture(state)))) == count
    assert len(pieces(ET.fromstring(game.picture(after)))) == max(1, count)


def test_the_page_names_the_games_with_a_board() -> None:
    """These and no others, in the order of the alphabet."""
    part = (ROOT / "docs" / "openspiel.md").read_text(encoding="utf-8").partition("## Pictures\n\n")[2]
    names = part.partition(" have a picture")[0].lower().replace(" and ", ", ")

    assert names.split(", ") == sorted([*_BOARDS, "backgammon"])


def test_other_games_stay_text() -> None:
    """Hex has a skew board; its picture shows its own text."""
    texts = [line.text for line in drawn("dark_hex(num_cols=2,num_rows=2)").iter(f"{SVG}text")]

    assert texts[0] == "seat 0 to move"
    assert [text.strip() for text in texts[1:] if text] == [". .", ". ."]
