"""Games of other packages in a league: played, stored with their files, and checked by them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.golden import Golden
from support.plugin_packages import NIM, install

pytestmark = pytest.mark.process
TOURNAMENT = "name: cup\ngame: {game}\nseed: 1\nplayers: [{bot: random, name: a}, {bot: random, name: b}]\ncycles: 2\n"


def arena(folder: Path, *words: str, **environment: str) -> tuple[int, str]:
    """Exit code and all output of a command."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "arena", *words],
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "site"), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


def run(folder: Path, game: str, *words: str) -> tuple[int, str]:
    (folder / "cup.yaml").write_text(TOURNAMENT.replace("{game}", game))
    return arena(folder, "league", "run", "cup.yaml", "--isolation", "none", "--workers", "1", *words)


def test_a_league_of_a_plugin_is_played_and_verified_by_its_files(tmp_path: Path) -> None:
    """A changed file is another game: nothing of it is mixed into the league, and `verify` tells it."""
    code = NIM.replace("{name}", "other-nim")
    file = install(tmp_path / "site", "plugged_cup", code, entries={"other-nim": "plugged_cup:Other"})

    assert run(tmp_path, "other-nim")[0] == 0
    found, text = arena(tmp_path, "league", "matches", "cup", "--format", "json")
    assert found == 0
    match = json.loads(text)[0]["id"]
    assert "plugged_cup 1.0, files " in arena(tmp_path, "show", match)[1]
    assert arena(tmp_path, "verify")[0] == 0

    file.write_text(code + "# another one\n")
    found, text = run(tmp_path, "other-nim")
    assert (found, "package changed from plugged_cup 1.0, files " in text, "--update" in text) == (2, True, True), text
    found, text = arena(tmp_path, "verify")
    assert (found, "played by the package plugged_cup 1.0, files " in text) == (0, True), text
    assert arena(tmp_path, "show", match)[0] == 0

    file.write_text(
        code.replace("class Other", "class Tail") + "class Other(Tail):\n    seat_counts = (2,)\n"
        "    def legal(self, state, seat): return super().legal(state, seat)[::-1]\n"
        "    def setup(self, options, seats): return super().setup({'heaps': [1]}, seats)\n"
    )
    found, text = arena(tmp_path, "verify")
    problems = [line for line in text.splitlines() if line.startswith("PROBLEM")]
    assert "played by the package plugged_cup 1.0, files " in problems[0], text
    assert all(line.count(line.split()[3].rstrip(":")) == 1 for line in problems), text

    file.write_text("raise RuntimeError('not today')")
    for command in (["stats", "a", "cup"], ["site", "build", "cup", "--to", "pages"]):
        found, text = arena(tmp_path, *command)
        assert found == 0, text
    found, text = arena(tmp_path, "leaderboard", "cup")
    assert "a mistake in arena" not in text
    found, text = arena(tmp_path, "show", match)
    assert (found, "RuntimeError: not today" in text) == (0, True), text


def test_code_beside_a_tournament_needs_trust(tmp_path: Path) -> None:
    """Code beside a tournament is not even imported without `--trust-code`."""
    (tmp_path / "loose.py").write_text("open('imported', 'w').close()\n" + NIM.replace("{name}", "loose-nim"))

    found, text = run(tmp_path, "loose:Other")
    assert (found, "--trust-code" in text) == (2, True), text
    assert not (tmp_path / "imported").exists()
    found, text = run(tmp_path, "loose:Other", "--trust-code")
    assert (found, (tmp_path / "imported").exists()) == (0, True), text
    found, text = arena(tmp_path, "verify", ARENA_TRUST_CODE=str(tmp_path))
    assert found == 0, text


def test_a_plugin_that_fails_in_a_match_is_named(tmp_path: Path, golden: Golden) -> None:
    """A plug-in that fails in a match is reported once as a fault of that package, with the line that failed."""
    broken = NIM.replace("{name}", "other-nim") + "    def apply(self, state, actions): return state.nonsense\n"
    install(tmp_path / "site", "plugged_bad", broken, entries={"other-nim": "plugged_bad:Other"})

    found, text = run(tmp_path, "other-nim")

    assert found == 4, text
    assert text.count("AttributeError: ") == 1, text
    golden(text, without=r"line \d+")
    assert "AttributeError" in text
    assert "a mistake in arena" not in text


def test_a_person_who_stops_a_play_is_no_fault_of_the_plugin(tmp_path: Path) -> None:
    """The end of the input reads as in every game."""
    code = NIM.replace("{name}", "other-nim")
    install(tmp_path / "site", "plugged_play", code, entries={"other-nim": "plugged_play:Other"})

    found, text = arena(tmp_path, "play", "random", "--game", "other-nim", "--isolation", "none")

    assert (found, text.splitlines()[-1]) == (3, "interrupted"), text


def test_a_plugin_that_fails_outside_a_match_is_named(tmp_path: Path) -> None:
    """While its text is written; a part that cannot even be read makes it no game, and the others are listed."""
    code = NIM.replace("{name}", "other-nim")
    describe = "    def describe(self, state, names=()): return state.nonsense\n"
    file = install(tmp_path / "site", "plugged_text", code + describe, entries={"other-nim": "plugged_text:Other"})
    place = "entry point other-nim = plugged_text:Other of plugged_text 1.0"

    found, text = arena(tmp_path, "match", "random", "random", "--game", "other-nim", "--isolation", "none", "--steps")
    assert (found, f"{place} broke the contract of a game: AttributeError" in text) == (2, True), text
    assert "a mistake in arena" not in text

    file.write_text(code + "    @property\n    def seat_counts(self): raise ValueError('not today')\n")
    found, text = arena(tmp_path, "games")
    assert (found, f"{place} makes no game: ValueError: not today" in text, "shanghaien" in text) == (0, True, True)
