"""Openings from books: EPD, PGN and SGF, the choice by luck, what bots and records have of it, hostile books."""

import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from support.cli_arena import Terminal
from support.process_boxes import in_a_box
from support.scripted_bot import RandomBot, match_of, seated
from support.store_made import writing

from arena.errors import SpecError
from arena.games import load_game
from arena.games.luck import derive
from arena.league.exhibition import exhibition
from arena.league.openings import LIMIT, Openings, read_openings, take_openings
from arena.league.schedule import Fixture, jobs
from arena.league.tournament import Player, Tournament
from arena.match.record import MatchRecord, pack
from arena.match.replay import problems, replay
from arena.match.results import result_of
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings
from arena.process.manifest import read_bot
from arena.verify.match import check_match, task_of

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
SICILIAN = "rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"
CASTLING = "r3k2r/1P6/8/8/8/8/8/R3K2R w KQkq - 0 1"

EPD = f'# EPD\n{SICILIAN[:-4]} hmvc 1; id "a";\n\n{SICILIAN}\n'
PGN = f"""[Event "a"]
[FEN "{CASTLING}"]

1. O-O-O {{c (x) }} 0-0 (1... Kf8 2. a4 (2. b4)) 2. b8=Q ; end
*
[Event "b"]

1.e4 e5 $1 2.Nf3! Nc6?! 1/2-1/2 1. d2d4 d5 2.c4"""
SGF = """(;FF[4]GM[1]SZ[19];B[aa];W[bb];B[cc];W[dd];B[ad];W[bd])
(;FF[4]GM[1]SZ[19]C[a \\] ( b];B[aa];W[tt](;B[cc];W[dd])(;B[hh];W[hg]))"""
"""The examples of the SGF standard: no variation, and one variation at move 3."""


def book(text: str | bytes, game: str = "chess") -> Openings:
    return read_openings(f"openspiel:{game}", text if isinstance(text, bytes) else text.encode(), "book")


@pytest.mark.parametrize(
    ("game", "text", "openings"),
    [
        ("chess", EPD, [(f"{SICILIAN[:-3]}0 1", []), (SICILIAN, [])]),
        (
            "chess",
            PGN,
            [
                (CASTLING, ["e1c1", "e8g8", "b7b8q"]),
                ("", ["e2e4", "e7e5", "g1f3", "b8c6"]),
                ("", ["d2d4", "d7d5", "c2c4"]),
            ],
        ),
        ("go", SGF, [("", ["A19", "B18", "C17", "D16", "A16", "B16"]), ("", ["A19", "pass", "C17", "D16"])]),
    ],
)  # fmt: skip
def test_a_book_is_read(game: str, text: str, openings: list[tuple[str, list[str]]]) -> None:
    """First position and moves are those of views; comments, variations and marks are left out."""
    read = book(text, game)

    assert [(entry.get("start", ""), entry.get("moves", [])) for entry in read.entries] == openings
    assert read.identity["count"] == len(openings)
    for entry in read.entries:
        view = load_game(f"openspiel:{game}").setup({"opening": entry}, 2)
        assert view.notation.view(view.spiel)["moves"] == entry.get("moves", [])


@pytest.mark.parametrize(
    ("game", "text", "said"),
    [
        ("chess", "", "book: found no opening"),
        ("chess", b"a" * (LIMIT + 1), "book: larger than 4 MiB"),
        ("chess", "nonsense ((( {{", "opening 1: nonsense, move 1: it is not legal"),
        ("chess", b"\0\xff\x1b[2J" * 9, "it is not legal"),
        ("chess", "1. e4 e5 *\n1. e4 e4 *", "opening 2: e4, move 2: it is not legal"),
        ("chess", "1. f3 e5 2. g4 Qh4# 0-1", "opening 1: Qh4#, move 4: the game is over"),
        ("chess", f"{SICILIAN}\nx", "opening 2: x: no FEN of a position with one king for each side"),
        ("chess", "8/8/8/8/8/8/8/8 w - - 0 1", "no FEN of a position with one king"),
        ("chess", "4k3/8/8/8/8/8/8/4R1K1 w - - 0 1", "it is not legal"),
        ("chess", "4k3/8/8/8/8/8/8/4K3 w K - 0 1", "the right K to castle without king and rook at home"),
        ("chess", "P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "a pawn stands on the first or the last rank"),
        ("chess", "4k3/8/8/8/8/8/8/4K3 w - z9 0 1", "it is not legal"),
        ("go", "(;SZ[9];B[aa])", "opening 1: SZ[9], move 1: it is not legal"),
        ("go", "(;AB[aa][bb];W[cc])", "opening 1: AB[aa][bb], move 1: it is not legal"),
        ("go", "(;B[aa];B[bb])", "opening 1: B[bb], move 2: it is not legal"),
        ("go", "(;B[aa];W[aa])", "opening 1: A19, move 2: it is not legal"),
        ("go", "(;B[];W[])", "opening 1: pass, move 2: the game is over"),
        ("hex", "1. a1", "book: openspiel:hex takes no openings"),
    ],
)
def test_a_book_that_cannot_be_played_is_refused(game: str, text: str | bytes, said: str) -> None:
    """With the number of the opening, the move, and no sign that a terminal obeys."""
    with pytest.raises(SpecError) as caught:
        book(text, game)

    assert said in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("piece", ["(", "{", "[", '[a "', "1", "[a", ";", "A", "B[", "[]", "\\", "B[]", ");("])
def test_no_text_takes_long_to_read(piece: str) -> None:
    """Reading takes time in proportion to the text: a megabyte of a piece that opens or repeats, some seconds."""
    begun = time.process_time()
    for game in ("chess", "go"):
        with pytest.raises(SpecError):
            book(piece * (1_000_000 // len(piece)), game)
    assert time.process_time() - begun < 20


def test_an_opening_that_stands_twice_counts_once() -> None:
    """Also if it is written in another way; the identity is that of the file."""
    once, twice = book("1. e4 *"), book("1. e4 * 1. e2e4 *")

    assert once.entries == twice.entries
    assert once.identity["sha256"] != twice.identity["sha256"]


def played(luck: str = "a") -> tuple[list[MatchRecord], list[RandomBot]]:
    """The matches of a block with an opening, as bots in this process play it, and what they heard."""
    options, entries = take_openings("openspiel:chess", {"openings": "chess.pgn"}, Path("nowhere"))
    assert entries
    options = {**options, "opening": entries.choose(derive(luck))}
    bots = [RandomBot(), RandomBot(1)]
    game = load_game("openspiel:chess")
    seats = [seated(bot, game=game) for bot in bots]
    records = [match_of(*order, game="openspiel:chess", options=options) for order in (seats, seats[::-1])]
    return records, bots


def test_bots_and_records_have_the_opening() -> None:
    """`match_start` has it and `hello` has not; the record is replayed without its book, and its lines are the same."""
    records, bots = played()

    for record in records:
        assert problems(record) == []
        first = next(iter(replay(record)))
        opening = record.options["opening"]
        assert first.before.notation.view(first.before.spiel)["moves"] == opening["moves"]
        assert {*record.options["openings"]} == {"sha256", "count"}
    for bot in bots:
        assert all("opening" not in hello["options"] for hello in bot.of_type("hello"))
        assert [start["options"]["opening"] for start in bot.of_type("match_start")] == [opening, opening]
        request = bot.of_type("request")[0]
        assert request["view"]["moves"][: len(opening["moves"])] == opening["moves"]


def test_all_matches_of_a_block_have_the_opening_that_its_luck_gives() -> None:
    """And another block another one; the bundled book is found by its name. A changed opening is a problem."""
    bot = read_bot(ROOT / "bots" / "random")
    players = [Player("a", bot), Player("b", replace(bot))]
    secret = Secret.public("1")
    options: dict[str, Any] = {"openings": "chess.pgn"}
    table = exhibition(
        players, game="openspiel:chess", options=options, clock=ClockSettings(), secret=secret, blocks=40
    )
    fixtures = [fixture for job in jobs(table, {}) for fixture in job.fixtures]
    assert len({str(fixture.draw.opening) for fixture in fixtures}) > 20

    pairing = next(jobs(table, {})).pairing
    right = own_record(played()[0][0], table, fixtures[0])
    wrong = replace(right, options={**right.options, "opening": {"moves": ["a2a3"]}})
    bare = replace(right, options=table.options)

    for changed in (wrong, bare):
        result = replace(result_of(changed), record=pack(changed))
        checked = check_match(task_of(table, pairing, result, [secret]))
        assert [problem for problem in checked.problems if problem.startswith("its opening is")], checked.problems
    result = replace(result_of(right), record=pack(right))
    checked = check_match(task_of(table, pairing, result, [secret]))
    assert not [problem for problem in checked.problems if "opening" in problem or "options" in problem]


def own_record(record: MatchRecord, table: Tournament, fixture: Fixture) -> MatchRecord:
    """The record as if it were that of the block's first match."""
    return replace(
        record,
        match=fixture.match_id(0),
        options={**table.options, "opening": fixture.draw.opening},
        commitment=fixture.draw.commitment,
        seed=fixture.draw.luck,
    )


LEAGUE = """
name: openings
game: openspiel:go(board_size=5,komi=0.5)
options: {openings: mine.sgf}
players: [{bot: random, name: a}, {bot: random, name: b}]
cycles: 3
"""


@pytest.mark.parametrize("league", [pytest.param(LEAGUE, marks=in_a_box)])
def test_a_league_is_verified_without_the_file(league: str, terminal: Terminal) -> None:
    """Its openings are compared with the stored book; another book is another league; an edited one is damage."""
    mine = Path("mine.sgf")
    mine.write_text("(;SZ[5];B[cc])(;SZ[5];B[bb];W[dd])(;SZ[5];B[cb])")
    Path("openings.yaml").write_text(league)

    assert terminal.arena("league run openings.yaml --workers 1").code == 0
    mine.unlink()
    assert terminal.arena("verify openings --replay 1").code == 0
    missing = terminal.arena("league run openings.yaml --workers 1")
    assert (missing.code, "options: openings: mine.sgf: No such file" in missing.err) == (2, True)
    mine.write_text("(;SZ[5];B[cc])(;SZ[5];B[bb];W[dd])(;SZ[5];B[cb];W[cc])")
    assert terminal.arena("league run openings.yaml --workers 1").code == 2
    (stored,) = (terminal.results / "openings").iterdir()
    assert terminal.arena("results backup copied").code == 0
    copied = terminal.arena("verify openings --results copied")
    assert (copied.code, "not compared" in copied.out) == (0, False)
    stored.write_text("(;SZ[5];B[cc])")
    damaged = terminal.arena("verify openings")
    assert damaged.code == 1
    assert "it is not the book that was saved" in damaged.out + damaged.err
    stored.unlink()
    missing = terminal.arena("verify openings --replay 1")
    assert "the opening of 6 matches not compared" in missing.out
    assert "no process life can be played again: its book of openings is not here" in missing.out


def test_a_league_without_a_book_looks_for_none(tmp_path: Path) -> None:
    """A file that somebody else put there is not read."""
    (tmp_path / "openings").mkdir()
    (tmp_path / "openings" / "none").write_text("1. e4 *")
    players = [Player(name, read_bot(ROOT / "bots" / "random")) for name in "ab"]
    table = exhibition(
        players, game="openspiel:chess", options={}, clock=ClockSettings(), secret=Secret.public("1"), blocks=1
    )
    with writing(tmp_path) as store:
        assert store.with_book(table) == table
