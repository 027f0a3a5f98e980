"""`arena.compare`, use cases by keyword, pages as rows, warnings, and what a killed caller leaves behind."""

import inspect
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.golden import Golden

import arena
from arena.errors import CheckFailed, SpecError
from arena.library.use_cases import USE_CASES

pytestmark = pytest.mark.process
PUBLIC: dict[str, Any] = {"game": "nim", "seed": "7"}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def wild(_view: object, _legal: object) -> object:
    return 999


@pytest.mark.parametrize("name", USE_CASES)
def test_a_use_case_shows_its_keywords(name: str) -> None:
    """`help(arena.check_bot)` lists them with their defaults, as the request has them."""
    shown = inspect.signature(getattr(arena, name)).parameters

    assert {"results", "on"} <= shown.keys()
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in shown.values())


@pytest.fixture(scope="module")
def lost() -> arena.League:
    """A league in which a function loses each match by a fault."""
    return arena.play(wild, "random", blocks=2, **PUBLIC)


def test_faults_stand_above_the_standings(lost: arena.League, golden: Golden) -> None:
    """The title of the standings counts faults, so that forfeits are not taken for played matches."""
    golden(lost.standings().title)


def test_pages_of_a_league_are_rows(lost: arena.League, golden: Golden) -> None:
    """The matrix has a row for each player and opponent; `stats` has everything about a player."""
    matrix, stats = lost.matrix(), lost.stats("wild")

    assert [(row["player"], row["opponent"], row["losses"]) for row in matrix] == [
        ("random", "wild", 0),
        ("wild", "random", 4),
    ]
    assert "likelihood_better" in str(matrix)
    assert (stats["player"], stats["total"]["losses"], stats["total"]["forfeits"]) == ("wild", 4, 4)
    with golden.raises(SpecError):
        lost.stats("nobody")


def test_a_comparison_is_a_value(golden: Golden) -> None:
    """A comparison takes the options of the command; a second call plays nothing and gives the same value."""
    heard: list[tuple[int, int]] = []

    found = arena.compare("random", "random", isolation="none", progress=lambda *seen: heard.append(seen), **PUBLIC)

    assert found["verdict"] == "identical"
    assert found == arena.compare("random", "random", isolation="none", **PUBLIC)
    assert heard[-1][0] >= found["blocks"] * 2, "a life in flight may end after the verdict"
    with golden.raises(SpecError):
        arena.compare("random", "random", elo0=5, elo1=5, **PUBLIC)
    with golden.raises(SpecError):
        arena.compare("random", "random", elo2=5, **PUBLIC)


def test_every_use_case_is_a_call(golden: Golden) -> None:
    """Its value comes back, its events are heard, its failure is an error with what it said."""
    steps: list[Any] = []
    Path("silent.py").write_text("import sys; sys.exit('no idea')")

    assert "greedy" in {bot["bot"] for bot in arena.list_bots()}
    with golden.raises(CheckFailed):
        arena.check_bot(bot="./silent.py", game="nim", isolation="none", on=steps.append)
    assert {"CheckBegun", "StepTaken"} <= {step["type"] for step in steps}
    with golden.raises(SpecError):
        arena.check_bot(bots="./silent.py")
    with golden.raises(SpecError):
        arena.new_game(name="mine", like="chess")
    assert not Path("mine").exists()
    with pytest.raises(AttributeError):
        arena.nothing  # noqa: B018


def test_a_hidden_bot_is_a_warning() -> None:
    """The caller's own bot plays, and Python's way of warning says so."""
    Path("bots").mkdir()
    Path("bots/random.py").write_text((Path(arena.__file__).parents[1] / "bots/random/bot.py").read_text())

    with pytest.warns(UserWarning, match=r"random is .*bots/random\.py here; it hides the bundled bot random@"):
        played = arena.play("random", {"bot": "random", "name": "twin"}, isolation="none", **PUBLIC)

    assert len(played.matches()) == 2


def test_an_array_is_no_action(golden: Golden) -> None:
    """The sentence names the player, and tells what an action can be; a number of numpy is one."""
    with golden.raises(TypeError):
        arena.play({"name": "odd", "bot": lambda _view, _legal: np.array([0, 1])}, "random", **PUBLIC)

    played = arena.play({"name": "even", "bot": lambda _view, _legal: np.array(0)}, "random", **PUBLIC)

    assert {row["termination"] for row in played.matches()} == {"normal"}


def test_a_working_folder_that_is_gone_is_told(tmp_path: Path, golden: Golden) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()

    with golden.raises(SpecError):
        arena.play("random", "random", **PUBLIC)
    with golden.raises(SpecError):
        arena.League("first")


KILLED = """
import arena, os, signal
def heard(done, total): os.kill(os.getpid(), signal.SIGKILL)
arena.play("random", "random", game="nim", seed="7", blocks=2000, isolation="none", progress=heard)
"""


def test_the_next_match_removes_what_a_killed_one_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next match removes the folder of a killed program, and none of a program that still runs."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    living = arena.play("random", "random", isolation="none", **PUBLIC)

    subprocess.run([sys.executable, "-c", KILLED], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    left = len(list(tmp_path.glob("arena-play-*")))
    arena.play("random", "random", isolation="none", **PUBLIC)

    assert left == 2
    assert [path.name for path in tmp_path.glob("arena-play-*")] == [living._results.name]
    assert len(living.matches()) == 2
