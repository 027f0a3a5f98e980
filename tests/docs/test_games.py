"""The page for authors of games: the game on it is the one that `arena new-game` writes, and it plays."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from support.docs_pages import ROOT, blocks

from arena.cli import execute
from arena.conformance.game import CHECKS, findings
from arena.conformance.play import played_table
from arena.games import load_game
from arena.games.api import Seat
from arena.operations.new_bot import TEMPLATES
from arena.process.manifest import read_bot

PAGE = "docs/games.md"
MOST_LINES = 125


def installed(folder: Path, name: str) -> dict[str, str]:
    """What `pip install -e` of a new game leaves behind, and the environment in which Python finds it."""
    project = tomllib.loads((folder / name / "pyproject.toml").read_text())["project"]
    info = folder / "site" / f"{name}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = [f"{key} = {value}" for key, value in project["entry-points"]["arena.games"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[arena.games]", *points]))
    where = {"url": (folder / name).as_uri(), "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(where))
    return {**os.environ, "PYTHONPATH": f"{folder / 'site'}:{folder / name}"}


def arena(folder: Path, environment: dict[str, str], *words: str) -> str:
    """The output of a command that succeeds."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "arena", *words],
        check=False,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_rules_of_the_page_are_those_of_a_new_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `new-game` writes them, under 120 lines."""
    monkeypatch.chdir(tmp_path)
    (shown,) = [block.text for block in blocks(PAGE) if block.file == "four/four/rules.py"]

    assert execute(["new-game", "four"]) == 0
    assert (tmp_path / "four" / "four" / "rules.py").read_text() == shown
    assert len(shown.splitlines()) < MOST_LINES


@pytest.mark.slow
@pytest.mark.process
def test_the_game_of_the_page_is_built_from_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the page tells: `new-game`, an installation, a check and a match."""
    monkeypatch.chdir(tmp_path)
    assert execute(["new-game", "four"]) == 0

    environment = installed(tmp_path, "four")
    listed = arena(tmp_path, environment, "games")
    assert "entry point four = four.rules:GAME of four 0.1.0" in " ".join(listed.split())
    assert "four keeps all " in arena(tmp_path, environment, "check-game", "four")
    said = arena(
        tmp_path / "four", environment, "match", "./bots/four_bot", "random", "--game", "four", "--isolation", "none"
    )
    assert "four_bot" in said


@pytest.mark.parametrize("like", ["kuhn_poker", "goofspiel"])
def test_a_new_game_that_hides_something_keeps_the_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, like: str
) -> None:
    """Under its own name; the tests that come with it are the checks of the contract."""
    monkeypatch.chdir(tmp_path)

    assert execute(["new-game", "bluff", "--like", like]) == 0
    scope: dict[str, object] = {"__name__": "bluff.rules"}
    exec((tmp_path / "bluff" / "bluff" / "rules.py").read_text(), scope)

    game = scope["GAME"]
    assert (type(game).__name__, game.name) == ("Bluff", "bluff")  # type: ignore[attr-defined]
    for seats in game.seat_counts:  # type: ignore[attr-defined]
        table = played_table(game, seats)  # type: ignore[arg-type]
        assert [title for title, check in CHECKS.items() if findings(check, table)] == []
    test = (tmp_path / "bluff" / "tests" / "test_rules.py").read_text()
    compile(test, "test_rules.py", "exec")
    assert 'load_game("bluff")' in test
    assert read_bot(tmp_path / "bluff" / "bots" / "bluff_bot").manifest.games == ("bluff",)
    assert "{{" not in "".join(path.read_text() for path in (tmp_path / "bluff").rglob("*") if path.is_file())


def test_the_parts_of_a_picture_on_the_page_make_one() -> None:
    """It is an SVG document with every part that the page names."""
    (shown,) = [block.text for block in blocks(PAGE) if block.file == "four/picture.py"]
    scope: dict[str, str] = {}
    exec(shown, scope)

    texts = [text.text for text in ET.fromstring(scope["svg"]).iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["seat 0 to move", "king", "12", "x"]


def test_what_an_installer_compiles_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel's templates have a `__pycache__` beside them."""
    templates = tmp_path / "templates"
    shutil.copytree(TEMPLATES, templates)
    for folder in (templates / "game" / "tests", templates / "python"):
        (folder / "__pycache__").mkdir(exist_ok=True)
        (folder / "__pycache__" / "x.pyc").write_bytes(b"\xff\x00")
    monkeypatch.setattr("arena.operations.new_game.TEMPLATES", templates)
    monkeypatch.setattr("arena.operations.new_bot.TEMPLATES", templates)
    monkeypatch.chdir(tmp_path)

    assert execute(["new-game", "four"]) == 0
    assert list((tmp_path / "four").rglob("*.pyc")) == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nim", "is a game of arena"),
        ("My-Game", "small letters"),
        ("bots", "exists already"),
        ("json", "means something else in Python"),
        ("arena", "means something else in Python"),
    ],
)
def test_a_name_that_cannot_be_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, told: str
) -> None:
    """Before anything is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bots").mkdir()

    assert execute(["new-game", name]) == 2
    assert told in capsys.readouterr().err
    assert [path.name for path in tmp_path.rglob("*")] == ["bots"]


def test_the_page_names_every_promise_that_it_makes() -> None:
    """Each method of the contract and each capability has its row."""
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    api = (ROOT / "arena" / "games" / "api.py").read_text(encoding="utf-8")
    contract = api[api.index("class Game(Protocol") : api.index("LEAST_VALUE")]

    for name in re.findall(r"^    (?:def )?(\w+)[:(]", contract, re.MULTILINE):
        assert f"| `{name}" in text, name
    capabilities = ("heard", "describe_for", "game_info", "news", "summary", "fault_policy", "value", "is_simultaneous")
    for name in (*capabilities, "all_actions", "encode", "openings", "game_text"):
        assert f"| `{name}" in text, name


@pytest.mark.parametrize(
    ("name", "moves"),
    [("connect_four", [{"column": 3}]), ("kuhn_poker", [{"do": "check"}])],
    ids=lambda value: str(value)[:12],
)
def test_the_pages_of_small_games_show_views_and_actions(name: str, moves: list[dict[str, object]]) -> None:
    """The view of seat 1 after the first action, and one of its actions."""
    shown = {block.words: json.loads(block.text) for block in blocks(f"docs/{name}.md") if name in block.words}
    game = load_game(name)
    state = game.setup({}, 2)
    if name == "kuhn_poker":
        state = game.resolve(state, (2, 0, 1))
    for move in moves:
        state = game.apply(state, {Seat(0): game.parse(state, Seat(0), move)})

    assert game.observe(state, Seat(1)) == shown["view", name]
    assert game.parse(state, Seat(1), shown["action", name])
