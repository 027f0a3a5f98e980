"""A league plays the bots it began with; what a change drops is said before, and only `--update` does it."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.bot_source import bot_script
from support.cli_arena import Said, Terminal
from support.golden import Golden

from arena.league.forecast import SampleTimes
from arena.operations import plan_league

pytestmark = pytest.mark.process

SWISS: dict[str, Any] = {"schedule": {"kind": "swiss", "rounds": 3}, "cycles": None}
OTHERS = [{"bot": "random", "name": name} for name in ("p1", "p2", "p3")]


@pytest.fixture(autouse=True)
def _short_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--plan` samples no longer than it must."""
    monkeypatch.setattr(plan_league, "TIMES", SampleTimes(begin_s=60, end_s=90, pairing_s=0.0))


def write(version: str, name: str = "mine") -> str:
    """The bot in the folder of that name in this version; how a tournament may name it."""
    Path(name).mkdir(exist_ok=True)
    Path(name, "bot.py").write_text(f"# {version}\n{bot_script()}")
    Path(name, "bot.yaml").write_text(
        yaml.safe_dump({"name": name, "version": version, "command": ["python3", "bot.py"]})
    )
    return f"./{name}"


def league(terminal: Terminal, *options: str, bot: str = "./mine", **changes: Any) -> Said:
    """A Swiss of four, or what is asked for, with `mine` under its own name."""
    return terminal.league(flags=" ".join(options), **{**SWISS, "players": [{"bot": bot}, *OTHERS], **changes})


def begun(terminal: Terminal) -> None:
    """The folder after that league of version 1."""
    write("1")
    terminal.played(**SWISS, players=[{"bot": "./mine"}, *OTHERS])


def matches(terminal: Terminal) -> list[str]:
    return terminal.arena("league matches test").out.splitlines()


def versions(terminal: Terminal) -> set[str]:
    rows = json.loads(terminal.arena("leaderboard test --format json").out)["standings"]["rows"]
    return {row["version"] for row in rows if row["player"] == "mine"}


@pytest.mark.slow
@pytest.mark.parametrize("bot", ["./mine", "mine"], ids=["by path", "by name"])
def test_a_league_goes_on_with_the_version_it_began_with(terminal: Terminal, bot: str) -> None:
    """However the file names it: an edited folder, or a name that was submitted again; also what is left to play."""

    def play(version: str, cycles: int) -> Said:
        write(version)
        if bot == "mine":
            assert terminal.arena("submit ./mine --game nim --replace").code == 0
        return league(terminal, schedule=None, cycles=cycles, players=[{"bot": bot}, {"bot": "random"}])

    first = play("1", cycles=1)
    again = play("2", cycles=3)

    assert (first.code, again.code, len(matches(terminal)), versions(terminal)) == (0, 0, 6, {"1"})
    assert "league test goes on with the versions it began with: mine (mine 1 (" in again.err
    assert "; there is mine 2 (" in again.err
    assert "--update` takes the new ones" in again.err
    assert terminal.arena("verify").code == 0


@pytest.mark.slow
def test_a_new_version_that_cannot_play_here_disturbs_no_league_that_began(terminal: Terminal) -> None:
    """Its wishes are looked at when it is to play."""
    begun(terminal)
    Path("mine/bot.yaml").write_text("name: mine\nversion: '2'\ncommand: [python3, bot.py]\ngames: [shanghaien]\n")

    assert league(terminal).code == 0
    refused = league(terminal, "--update", "--yes")
    assert (refused.code, "mine plays shanghaien, not nim" in refused.err) == (2, True)


@pytest.mark.slow
def test_a_hash_in_the_file_is_a_choice(terminal: Terminal) -> None:
    """`name@hash` means that version, and a change of it is a change of the file."""
    write("1")
    terminal.arena("submit ./mine --game nim")
    league(terminal, bot="mine")
    write("2")
    label = terminal.arena("submit ./mine --game nim --replace").out.split("`")[1]

    said = league(terminal, bot=label)

    assert said.code == 2
    assert "player mine changed from mine 1 (" in said.err
    assert "`--update` takes the change" in said.err


@pytest.mark.slow
def test_an_update_says_what_it_drops_and_does_it(terminal: Terminal) -> None:
    """An update lists dropped matches by player and round; they stay stored, and `verify` checks them too."""
    begun(terminal)
    played = matches(terminal)
    write("2")

    dry = league(terminal, "--update", "--plan")
    unchanged, before = matches(terminal), versions(terminal)
    done = league(terminal, "--update", "--yes")

    assert (dry.code, done.code) == (0, 0)
    assert (unchanged, before, versions(terminal)) == (played, {"1"}, {"2"})
    lines = dry.out.splitlines()
    assert lines[0].startswith("league test: player mine changed from mine 1 (")
    assert " of 12 stored matches are dropped: kept in the store, but not counted" in lines[1]
    assert lines[2].strip().startswith("by player: mine 6, ")
    assert lines[3].strip().startswith("by round: round 1 of 3 2 of 4, round 2 of 3 4 of 4, round 3 of 3 4 of 4")
    assert lines[4].strip().startswith("rounds 2 to 3 are dealt again")
    assert "\n".join(lines[:5]) in done.err
    assert terminal.arena("verify").code == 0


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_a_terminal_is_asked(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, typed: str, code: int) -> None:
    """Only a yes goes on; otherwise nothing is changed, and it is said."""
    begun(terminal)
    write("2")
    monkeypatch.setattr(sys, "stdin", _Terminal(typed))

    said = league(terminal, "--update")

    assert said.code == code
    assert "matches are dropped" in said.err
    assert versions(terminal) == {"2" if code == 0 else "1"}
    assert ("nothing was changed: league test goes on as it was" in said.err) == bool(code)


def test_without_a_terminal_it_takes_a_yes(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """A script that says nothing must not drop matches."""
    begun(terminal)
    write("2")
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))

    said = league(terminal, "--update")

    assert said.code == 2
    golden(said.err)
    assert versions(terminal) == {"1"}


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"clock": {"move_ms": 55}}, "clock.move_ms changed from 100.0 to 55.0: 12 matches do not belong"),
    ({"seed": None}, "seed changed from 1 to none: 12 matches do not belong"),
    ({"schedule": {"kind": "swiss", "rounds": 1}}, 'schedule changed from {"kind":"swiss","rounds":3}'),
]


def test_any_change_that_drops_matches_has_to_be_wanted(terminal: Terminal) -> None:
    """The file alone does nothing to a league that has begun; with --update and --yes it does."""
    begun(terminal)
    played = matches(terminal)

    for change, said in CHANGES:
        refused = league(terminal, **change)
        assert (refused.code, said in refused.err, matches(terminal)) == (2, True, played)
    taken = league(terminal, "--update", "--yes", **change)

    assert taken.code == 0
    assert matches(terminal) == played[:4]


@pytest.mark.slow
def test_what_drops_nothing_needs_no_update(terminal: Terminal) -> None:
    """More cycles, other workers, a player who joins a round robin."""
    write("1")
    more = [{"bot": "./mine"}, *({"bot": "random", "name": f"p{number}"} for number in (1, 2))]
    league(terminal, schedule=None, cycles=1, players=more[:2])
    longer = league(terminal, schedule=None, cycles=2, workers=1, players=more[:2])
    joined = league(terminal, schedule=None, cycles=2, players=more)
    harmless = league(terminal, "--update", "--plan", schedule=None, cycles=2, players=more)

    assert [said.code for said in (longer, joined, harmless)] == [0, 0, 0]
    assert "no stored match is dropped (12 are there)" in harmless.out


def test_a_league_without_a_match_has_not_begun(terminal: Terminal) -> None:
    """`--update --plan` says that a league without a match has not begun, and stores nothing."""
    write("1")

    early = league(terminal, "--update", "--plan")
    assert not terminal.results.exists()
    terminal.league(name="other", cycles=1)
    said = league(terminal, "--update", "--plan")

    assert (early.code, said.code) == (0, 0)
    assert said.out.startswith("league test has not begun: nothing is dropped\n")
    assert terminal.arena("league status test").code == 2


@pytest.mark.slow
def test_a_version_that_is_gone_is_told(terminal: Terminal) -> None:
    """Somebody cleaned up: the way out is named."""
    begun(terminal)
    (home,) = [each for each in (terminal.results / "bots").iterdir() if "# 1" in (each / "run" / "bot.py").read_text()]
    home.rename(terminal.folder / "elsewhere")
    write("2")

    said = league(terminal)

    assert said.code == 2
    assert "league test began with it: `--update` takes mine 2 (" in said.err
