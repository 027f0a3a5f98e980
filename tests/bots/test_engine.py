"""The bundled bot `engine`, with small engines of these tests behind it: dialogue, time, and what engines do wrong."""

import json
import shutil
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from support.bots_driver import BOTS, Bot

pytestmark = pytest.mark.process

ENGINES: Final = Path(__file__).parent / "engines"
START: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
LEGAL: Final = [{"id": 1, "text": "d4", "move": "d2d4"}, {"id": 2, "text": "e4", "move": "e2e4"}]
ALONE: Final = "setoption name MultiPV value 1"
POINTS: Final = [{"id": number, "text": f"B {point}"} for number, point in enumerate(("a1", "b1", "PASS"))]


class Referee:
    """The bot of an engine, and who asks it: `clock` is that of each message."""

    def __init__(self, folder: Path, like: str, fault: str, *options: str, **clock: Any) -> None:
        shutil.copytree(BOTS / "engine", folder)
        shutil.copy(ENGINES / ("heart.py" if like == "uci" else "points.py"), folder / "program")
        words = ["python3", "bot.py", like, f"./program {fault}", *options]
        (folder / "bot.yaml").write_text(yaml.safe_dump({"command": words}))
        self.game = "openspiel:chess" if like == "uci" else "openspiel:go(board_size=9,komi=6.5)"
        self.clock: dict[str, Any] = {"move_ms": 100.0, "bank_ms": 1000.0, **clock}
        self.bot = Bot(folder)

    def send(self, kind: str, **fields: Any) -> Any:
        """Send a message; return its answer, None if the bot ended instead."""
        self.bot.send({"type": kind, "match": "m", "game": self.game, "options": {}, "clock": self.clock, **fields})
        line = self.bot.line()
        return json.loads(line) if line else None

    def begin(self, seat: int = 1, **start: Any) -> "Referee":
        """Send `hello` and `match_start`."""
        hello = self.send("hello", protocols=[1], limits={"startup_ms": 1500})
        assert hello is None or hello["protocols"] == [1]
        assert self.send("match_start", seat=seat, **start) in (None, {"type": "ready", "match": "m"})
        return self

    def ask(self, moves: str = "", legal: Any = LEGAL, *, seat: int = 1, fen: str = START, events: Any = ()) -> Any:
        """Ask for a move after these."""
        view = {"you": seat, "start": START, "fen": fen, "moves": moves.split()}
        return self.send("request", id=5, view=view, events=events, legal=legal)

    def end(self) -> tuple[list[str], str]:
        """End the bot; return the lines that its engine read, and the sentences of the bot itself."""
        self.bot.end_input()
        self.bot.exit_code()
        lines = self.bot.stderr().splitlines()
        told = [line.removeprefix("> ") for line in lines if line.startswith("> ")]
        return told, "\n".join(line for line in lines if not line.startswith("> "))


Seat = Callable[..., Referee]


@pytest.fixture
def seat(tmp_path: Path) -> Iterator[Seat]:
    """Make the bot of an engine of these tests."""
    referees: list[Referee] = []

    def make(*words: str, **clock: Any) -> Referee:
        referees.append(Referee(tmp_path / f"bot{len(referees)}", *words, **clock))
        return referees[-1]

    yield make
    for referee in referees:
        referee.bot.end()


def test_the_dialogue_of_uci(seat: Seat) -> None:
    """The engine is told options, position and time; its move, depth, score and line come back."""
    referee = seat("uci", "", "Skill Level=3").begin()

    answer = referee.ask()
    told, sentences = referee.end()

    note = "depth 7, score cp 31, nodes 99, time 5, pv e2e4 e7e5"
    assert answer == {"type": "action", "id": 5, "action": 1, "note": note}
    options = ["Ponder value false", "Threads value 1", "Skill Level value 3"]
    assert told[:4] == ["uci", *(f"setoption name {option}" for option in options)]
    assert [line for line in told[4:] if line != "isready"][:2] == ["ucinewgame", f"position fen {START}"]
    go, last = told[-2:]
    assert 50 <= int(go.removeprefix("go movetime ")) < 100
    assert (sentences, last) == ("", "quit")


@pytest.mark.parametrize(
    ("fen", "words"),
    [
        (START, "wtime {} btime 7000 winc 90 binc 90"),
        (START.replace(" w ", " b "), "wtime 7000 btime {} winc 90 binc 90"),
    ],
)
def test_both_banks_are_told_by_colour(seat: Seat, fen: str, words: str) -> None:
    """White and Black follow from the position, not from the seat; the own bank is told less a margin."""
    referee = seat("uci", "", move_ms=0.0, bank_ms=9000.0, increment_ms=90.0, banks_ms=[7000.0, 9000.0]).begin()
    referee.ask(fen=fen)

    go = referee.end()[0][-2].split()
    own = go[2] if " w " in fen else go[4]

    assert " ".join(go[1:]) == words.format(own)
    assert 8900 < int(own) < 9000


def test_a_bank_alone_is_told_for_both_sides(seat: Seat) -> None:
    """Without increments nobody knows the other bank; the engine gets no increments."""
    referee = seat("uci", "", move_ms=0.0, bank_ms=9000.0).begin()
    referee.ask()

    _, white, white_ms, black, black_ms = referee.end()[0][-2].split()

    assert (white, black) == ("wtime", "btime")
    assert 8900 < int(white_ms) < int(black_ms) == 9000


def test_what_a_move_costs_is_kept_as_a_margin(seat: Seat) -> None:
    """The engine gets less time after moves that took from the bank, later more again, and little of a low bank."""
    referee = seat("uci", "").begin()
    times = []
    for bank_ms in (1000, 990, 970, *[970] * 30, 50):
        referee.clock["bank_ms"] = bank_ms
        referee.ask()
    times = [int(line.split()[2]) for line in referee.end()[0] if line.startswith("go ")]

    assert times[0] - times[1] in range(8, 13)
    assert times[1] - times[2] in range(18, 23)
    assert times[-2] == pytest.approx(times[0], abs=2)
    assert times[-1] < 15


def test_forced_moves_are_searched_where_the_clock_does_not_decide(seat: Seat) -> None:
    """With --go the engine also searches where one move was legal and nobody was asked."""
    opening = {"opening": {"moves": ["e2e4", "e7e5"]}}
    referee = seat("uci", "", "--go=nodes 50").begin(options=opening)
    referee.ask("e2e4 e7e5 d1h5 b8c6", [{"id": 1, "text": "Bc4", "move": "f1c4"}])

    told = [line.partition("moves ")[2] or line for line in referee.end()[0] if "o" in line[:2]]

    assert told == ["e2e4 e7e5", "go nodes 50", "e2e4 e7e5 d1h5 b8c6", "go nodes 50"]


def test_evaluations_follow_a_stated_curve(seat: Seat) -> None:
    """1 / (1 + 10^(-cp/400)), 0 for a mate against this side; a move of which nothing is said has the least value."""
    referee = seat("uci", "").begin()
    view = {"you": 1, "start": START, "fen": START, "moves": ["e2e4"]}
    black = [{"id": number, "move": move} for number, move in enumerate(("g8f6", "e7e5", "f7f6", "a7a6"))]

    answer = referee.send("evaluate", id=7, view=view, legal=black, events=[], budget_ms=200)
    told = [line for line in referee.end()[0] if line[:2] in {"se", "po", "go"}]

    assert (answer["type"], answer["id"]) == ("evaluation", 7)
    assert answer["values"] == pytest.approx([0.37061, 0.54449, 0, 0], abs=1e-5)
    assert told[-4:] == ["setoption name MultiPV value 4", f"position fen {START} moves e2e4", "go movetime 100", ALONE]


FAULTS: Final = {
    "die": (None, "the engine has ended, with exit code 3"),
    "illegal": ({"id": 1, "move": "e2e5"}, "the engine answered `e2e5`, which is none of the 2 legal moves"),
    "none": ({"id": 1, "move": "(none)"}, "the engine answered `(none)`, which is none of the 2 legal moves"),
    "empty": ({"id": 1, "move": "nothing"}, "the engine answered ``, which is none of the 2 legal moves"),
    "huge": ({"id": 1, "move": "e" * 100}, f"the engine answered `{'e' * 100}`, which is none of the 2 legal moves"),
    **dict.fromkeys(("nonsense", "long", "late", "fork"), (1, "")),
}
"""The action after a fault of the engine, None if the bot ends, and its sentence."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_engine_is_a_sentence(seat: Seat, fault: str) -> None:
    """Lines that are no answer are passed over; what ends the match is named."""
    referee = seat("uci", fault, bank_ms=20_000.0).begin()

    answer = referee.ask()

    assert ((answer and answer["action"]), referee.end()[1]) == FAULTS[fault]


@pytest.mark.parametrize(("fault", "asked"), [("hang", "go movetime"), ("flood", "go movetime"), ("endless", "go")])
def test_an_engine_that_does_not_answer_is_named_before_its_time_is_up(seat: Seat, fault: str, asked: str) -> None:
    """Nothing is answered in its place: the referee's clock decides."""
    referee = seat("uci", fault, bank_ms=300.0).begin()
    referee.bot.deadline_s = 1.0

    with pytest.raises(AssertionError, match="no line within"):
        referee.ask()

    assert f"the engine has not answered `{asked}" in referee.bot.stderr()


FAILURES: Final = [
    ("uci", "silent", [], "the engine has not answered `uci`, and its time is almost up"),
    ("uci", "", ["Hash=5"], "the engine has no option Hash; it has multipv, ponder, skill level, threads"),
    ("gtp", "old", [], "the engine speaks version 1 of GTP, expected 2"),
    ("gtp", "go", ["levle=3"], "the engine refused `levle 3`: unknown command"),
]


@pytest.mark.parametrize(("like", "fault", "options", "sentence"), FAILURES)
def test_an_engine_that_cannot_start(seat: Seat, like: str, fault: str, options: list[str], sentence: str) -> None:
    """What an engine lacks ends the bot before its first move, with a sentence."""
    referee = seat(like, fault, *options)
    referee.bot.deadline_s = 3.0
    with pytest.raises((AssertionError, BrokenPipeError)):
        assert referee.begin(seat=0).ask()

    assert sentence in referee.bot.stderr()


def test_a_program_elsewhere_starts_by_its_sha256_only(tmp_path: Path) -> None:
    """Another program than the known one is refused, with its own hash; so is one without a known hash."""
    program = tmp_path / "elsewhere"
    shutil.copy(ENGINES / "heart.py", program)
    digest = sha256(program.read_bytes()).hexdigest()
    sentences = {
        f"--sha256={digest}": "",
        "--sha256=00": f"{program} has the SHA-256 {digest}, and there is --sha256=00",
        "x=y": f"{program} has the SHA-256 {digest}, and there is no --sha256 in the command of this bot",
    }

    for option, sentence in sentences.items():
        with Bot(BOTS / "engine", ["uci", str(program), option]) as bot:
            bot.send({"type": "hello", "limits": {"startup_ms": 5000}})
            assert bool(bot.line()) == (not sentence)
            assert sentence in bot.stderr()


def test_the_dialogue_of_gtp(seat: Seat) -> None:
    """Board, komi, time and options at the start; then the moves of others, and a move."""
    referee = seat("gtp", "go", "level=3").begin(seat=0)

    answers = [referee.ask(moves, POINTS, seat=0)["action"] for moves in ("", "A1 B1", "A1 B1 C1 pass")]
    told = [line for line in referee.end()[0] if line != "name"]

    assert answers == [0, {"id": 0, "text": "c1"}, 2]
    assert told[2:7] == ["boardsize 9", "clear_board", "komi 6.5", "time_settings 0 1 10", "level 3"]
    assert [line for line in told[7:] if "time_left" not in line] == [
        *("genmove black", "play white B1", "genmove black", "play white pass", "genmove black", "quit")
    ]
    assert set(told[7:]) & {"time_left black 1 11", "time_left black 1 12"}


def test_a_resignation_is_passes_to_the_end(seat: Seat) -> None:
    """Arena knows no resignation; the engine is asked no more."""
    referee = seat("gtp", "resign").begin(seat=0)

    answers = [referee.ask(moves, POINTS, seat=0) for moves in ("", "pass B1")]

    assert [(answer["action"], answer["note"]) for answer in answers] == [(2, "the engine has resigned")] * 2
    assert referee.end()[0].count("genmove black") == 1


def test_moves_come_as_events_where_views_have_none(seat: Seat) -> None:
    """As at hex: an own forced move is told, too; an own chosen one is known."""
    referee = seat("gtp", "").begin(seat=1)
    referee.game = "openspiel:hex"
    events = [
        {"event": "action", "seat": seat, "action": {"id": 1, "text": text}} for seat, text in ((0, "c3"), (1, "d4"))
    ]
    events.append({"event": "chance"})

    answer = referee.send("request", id=1, view={"you": 1}, events=events, legal=POINTS)

    assert answer["action"] == 0
    assert [line for line in referee.end()[0] if "play" in line] == ["play black c3", "play white d4"]
