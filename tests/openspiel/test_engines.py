"""Engines behind the bundled bot `engine`, in the sandbox: by `arena new-bot --engine`, at games of OpenSpiel."""

import json
import shutil
from pathlib import Path

import pytest
import yaml
from support.cli_arena import ROOT, Terminal

pytestmark = pytest.mark.slow

ENGINES = ROOT / "tests" / "bots" / "engines"
CHESS = ["stockfish", "ethereal-chess", "toga2", "glaurung", "gnuchess --uci"]
GNUGO = "/usr/games/gnugo --mode gtp --level 1 --chinese-rules --capture-all-dead"


def made(terminal: Terminal, name: str, like: str, engine: str, *data: str) -> dict[str, object]:
    """Make a bot of an engine; return its bot.yaml."""
    words = [word for path in (engine, *data) for word in ("--engine", path)]
    said = terminal.arena(f"new-bot {name} --like {like}", *words)
    assert said.code == 0, said.err
    content: dict[str, object] = yaml.safe_load(Path(name, "bot.yaml").read_text())
    return content


def test_an_engine_is_copied_with_its_data_and_plays(terminal: Terminal) -> None:
    """The mate of the engine that knows a game by heart; the bot's hash covers program and data."""
    Path("net").mkdir()
    Path("net", "weights").write_bytes(b"1")
    black = made(terminal, "black", "uci", str(ENGINES / "heart.py"), "net")
    made(terminal, "white", "uci", f"{ENGINES / 'heart.py'} late", "net/weights")

    said = terminal.arena("match ./black ./white --game openspiel:chess --steps")

    assert black["command"] == ["python3", "bot.py", "uci", "./heart.py"]
    assert Path("black/net/weights").read_bytes() == Path("white/weights").read_bytes() == b"1"
    assert "Qxf7#    # 'depth 7, score cp 31, nodes 99, time 5, pv h5f7 e7e5'" in said.out
    assert "won: black 1, white 1" in said.out


@pytest.mark.parametrize(
    ("fault", "sentences"),
    [
        ("illegal", ("forfeits (illegal_action)", "the engine answered `e2e5`, which is none of the 20 legal moves")),
        ("die", ("forfeits (crash)", "the engine has ended, with exit code 3")),
        ("hang", ("forfeits (timeout)", "the engine has not answered `go movetime")),
        ("endless", ("forfeits (timeout)", "the engine has not answered `go movetime")),
        ("fork", ("won: faulty 1, sound 1",)),
    ],
)
def test_a_fault_of_an_engine_loses_its_match(terminal: Terminal, fault: str, sentences: tuple[str, ...]) -> None:
    """The sentence of the bot stands beside the way the match ended, and children do not outlive it."""
    made(terminal, "faulty", "uci", f"{ENGINES / 'heart.py'} {fault}")
    made(terminal, "sound", "uci", str(ENGINES / "heart.py"))

    said = terminal.arena("match ./faulty ./sound --game openspiel:chess")

    assert all(sentence in said.out + said.err for sentence in sentences)


@pytest.mark.parametrize(
    ("game", "engine"),
    [("hex(board_size=4)", ""), ("othello", " othello"), ("go(board_size=9)", " go"), ("go(board_size=9)", " resign")],
)
def test_games_by_gtp(terminal: Terminal, game: str, engine: str) -> None:
    """A small engine plays whole games in each seat, against moves at random and their forced ones."""
    made(terminal, "board", "gtp", f"{ENGINES / 'points.py'}{engine}")

    said = terminal.arena("match ./board random --blocks 2 --game", f"openspiel:{game}")

    assert "4 matches; won: board" in said.out
    assert "forfeits" not in said.out


@pytest.mark.parametrize(
    ("like", "game", "sentence"),
    [
        ("uci", "go(board_size=9)", "an engine of UCI plays openspiel:chess"),
        ("uci", "chess(chess960=true)", "an engine of UCI plays openspiel:chess"),
        ("gtp", "chess", "an engine of GTP plays go, hex, othello"),
    ],
)
def test_a_game_that_the_protocol_does_not_know(terminal: Terminal, like: str, game: str, sentence: str) -> None:
    """The bot ends with a sentence."""
    engine = {"uci": "heart.py", "gtp": "points.py"}[like]
    made(terminal, "lost", like, str(ENGINES / engine))

    assert sentence in terminal.arena(f"match ./lost random --game openspiel:{game}").out


@pytest.mark.parametrize("engine", CHESS)
def test_engines_of_debian_play_chess(terminal: Terminal, engine: str) -> None:
    """Unmodified, from /usr, known by their SHA-256; nobody forfeits, and each beats moves at random."""
    made(terminal, "debian", "uci", f"/usr/games/{engine}")

    said = terminal.arena("match ./debian random --game openspiel:chess --move-ms 200")

    assert "won: debian 2, random 0" in said.out


def test_gnugo_plays_go(terminal: Terminal) -> None:
    """On the three usual boards; dead stones count as alive, so that gnugo takes them."""
    made(terminal, "gnugo", "gtp", GNUGO)

    for size in (9, 13, 19):
        said = terminal.arena(f"match ./gnugo random --move-ms 2000 --game openspiel:go(board_size={size})")
        assert "won: gnugo 2, random 0" in said.out, said.out


def test_what_new_bot_refuses(terminal: Terminal) -> None:
    """Mistakes are named, and leave nothing behind."""
    Path("uci.py").touch()
    for words, sentence in {
        ("--engine", "/usr/games/nothing", "--like", "uci"): "--engine /usr/games/nothing: no such program",
        ("--engine", "/bin/true"): "--engine goes with --like uci or --like gtp",
        ("--like", "gtp"): "--engine goes with --like",
        ("--engine", "/bin/true", "--like", "uci", "--policy", "x"): "and without --policy",
        ("--engine", "/bin/true", "--like", "gtp", "--engine", "none"): "--engine none: No such file or directory",
        ("--engine", "/bin/true", "--like", "gtp", "--engine", "uci.py"): "the bot has a file of that name",
    }.items():
        said = terminal.arena("new-bot mine", *words)
        assert (said.code, sentence in said.err) == (2, True), said.err
    assert not Path("mine").exists()
    assert json.dumps(sorted(path.name for path in Path().iterdir() if path.name != "results")) == '["uci.py"]'
    assert shutil.which("true")
