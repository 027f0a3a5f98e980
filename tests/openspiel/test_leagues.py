"""Leagues at games of OpenSpiel, as docs/openspiel.md shows them: played in the sandbox, stored, verified."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import msgspec
import pyspiel
import pytest
import yaml
from openspiel_table import rows
from support.cli_arena import Terminal
from support.docs_pages import ROOT, blocks
from support.process_boxes import in_a_box
from support.scripted_bot import RandomBot, match_of, seated

from arena.games import fingerprint_of, load_game, openspiel, plugin_package
from arena.games.api import Chance
from arena.games.luck import derive, draw
from arena.games.openspiel.game import weights_of
from arena.match.record import ChanceStep, MatchRecord, encode_record, pack, unpack
from arena.match.replay import other_package, problems, replay
from arena.protocol.messages import schema

pytestmark = pytest.mark.slow

GAMES = ["backgammon", "leduc_poker", "breakthrough(rows=6,columns=6)", "goofspiel(num_cards=5)"]
(SHOWN,) = [block.text for block in blocks("docs/openspiel.md") if block.file == "backgammon.yaml"]


@pytest.mark.parametrize("name", [pytest.param(name, marks=in_a_box) for name in GAMES])
def test_the_league_of_the_page_is_played_and_verified(
    name: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No match of the Monte Carlo bot in the sandbox ends by a fault, and each has its luck checked."""
    monkeypatch.setenv("ARENA_RUNTIMES", sys.prefix)
    league = yaml.safe_load(SHOWN)
    for player in league["players"][:2]:
        player["arguments"] = [str(int(player["arguments"][0]) // 10)]
    league |= {"game": f"openspiel:{name}", "cycles": 1, "clock": {"move_ms": 60_000, "bank_ms": 60_000}}
    Path("backgammon.yaml").write_text(yaml.safe_dump(league))

    command = [sys.executable, "-m", "arena", "league", "run", "backgammon.yaml", "--workers", "1"]
    played = subprocess.run(
        command, capture_output=True, text=True, check=False
    )  # workers here began without the runtime
    verified = terminal.arena("verify backgammon")

    assert played.returncode == 0, played.stderr
    assert verified.code == 0, verified.out
    matches = json.loads(terminal.arena("league matches --format json").out)
    assert len(matches) == 6
    assert {match["termination"] for match in matches} == {"normal"}
    shown = terminal.arena("show", matches[0]["id"]).out
    assert f"open_spiel {openspiel.rules_version().partition('/')[0]}, files " in shown


@pytest.mark.parametrize("name", [pytest.param(name, marks=in_a_box) for name in ["tic_tac_toe", "leduc_poker"]])
def test_a_match_is_judged_by_playouts(name: str, tmp_path: Path) -> None:
    """Each decision has values with errors; the move that wins at once is worth nearly all."""

    def arena(*words: str) -> str:
        environment = {**os.environ, "ARENA_RUNTIMES": sys.prefix}
        program = Path(sys.executable).with_name("arena")
        return subprocess.run(
            [program, *words], cwd=tmp_path, env=environment, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    played = arena("match", "random", "random", "--game", f"openspiel:{name}", "--blocks", "3")

    for match in played.split("\n\n")[0].splitlines():
        judged = json.loads(arena("coach", match.split()[0], "--by", "montecarlo", "--format", "json"))
        assert not [one for one in judged["decisions"] if one["reason"]]
        assert all(one["error"] > 0 for one in judged["decisions"] if one["chosen"] != one["best"])
        *_, last = judged["decisions"]
        if name == "tic_tac_toe" and judged["ledgers"][last["seat"]]["payoff"] == 1:
            assert last["chosen_value"] > 0.9
    checked = arena("check", "montecarlo", "--game", f"openspiel:{name}")
    assert re.search(r"ok +gives values that agree with the results: in \d+ matches", checked)


def recorded(name: str, salt: int = 0, seed: str = "") -> tuple[MatchRecord, list[RandomBot]]:
    """A match of two bots that choose by their seeds, as it comes out of the store, and what they heard."""
    game, bots = load_game(name), [RandomBot(salt), RandomBot(salt)]
    players = [seated(bot, game=game) for bot in bots]
    return unpack(pack(match_of(*players, game=name, seed=seed or derive("test")))), bots


@pytest.mark.parametrize("name", GAMES)
def test_nothing_but_views_and_the_name_of_the_package_is_of_openspiel(name: str) -> None:
    """Lines keep to the schema of the protocol; the record is plain, and replayed without its seed."""
    record, bots = recorded(f"openspiel:{name}")
    package = plugin_package(f"openspiel:{name}")
    assert package is not None
    record = msgspec.structs.replace(record, package=package)

    validator = jsonschema.Draft202012Validator({**schema(), "anyOf": [{"$ref": "#/$defs/to_bot"}]})
    for message in bots[0].heard:
        validator.validate(message)
    plain = json.loads(encode_record(record))
    for seat in plain["seats"]:
        seat.pop("lines", None)
    told = json.dumps({**plain, "game": "", "package": "", "bots": ""})
    assert "spiel" not in told.lower()
    assert record.rules == openspiel.rules_version()
    assert problems(record) == []


def test_another_version_of_openspiel_is_told() -> None:
    """A sentence with both; no replay is tried by other rules."""
    record, _ = recorded("openspiel:leduc_poker")
    here = plugin_package("openspiel:leduc_poker")
    assert here is not None
    older = msgspec.structs.replace(here, version="1.5", files="0" * 64)
    record = msgspec.structs.replace(record, rules="1.5/1", package=older)

    assert problems(record) == [
        (
            "m: played by rules 1.5/1 of openspiel:leduc_poker;"
            f" this arena plays rules {here.version}/2 and cannot replay it"
        )
    ]
    assert other_package(record) == (
        f"played by the package open_spiel 1.5, files 000000000000; here it is open_spiel {here.version}, files"
        f" {here.files[:12]}"
    )
    assert fingerprint_of("openspiel:leduc_poker").package == here


@pytest.mark.parametrize("name", ["backgammon", "leduc_poker", "pig", "markov_soccer"])
def test_draws_have_their_luck_by_number(name: str) -> None:
    """Whoever plays: the same number of a draw with the same chances has the same result."""
    seed = derive("test", "mirrored")
    records = [recorded(f"openspiel:{name}", salt, seed)[0] for salt in (1, 2)]

    assert records[0].steps != records[1].steps
    for record in records:
        game, drawn = load_game(record.game), 0
        for each in replay(record):
            if isinstance(each.step, ChanceStep):
                turn = game.turn(each.before)
                assert isinstance(turn, Chance)
                assert each.step == ChanceStep(f"draw/{drawn}", draw(seed, turn))
                drawn += 1
        assert drawn


@pytest.mark.parametrize(
    ("probabilities", "weights"),
    [
        ([1 / 36, 1 / 18] * 12, (1, 2) * 12),
        ([1 / 6] * 6, (1,) * 6),
        ([0.1, 0.2, 0.7], (1, 2, 7)),
        ([1.0, 0.0], (1, 0)),
        ([2**-60, 1 - 2**-60], (1, 2**40)),
        ([0.5, 0.25, 0.25 + 1e-16], (2, 1, 1)),
    ],
)
def test_probabilities_are_whole_weights(probabilities: list[float], weights: tuple[int, ...]) -> None:
    """Exact for fractions; else on a grid that leaves out the last bits of a double. None that is possible is 0."""
    assert weights_of(probabilities) == weights


def test_the_table_of_the_page_is_what_plays() -> None:
    """Every registered game, with the reason why some are refused."""
    page = (ROOT / "docs" / "openspiel.md").read_text(encoding="utf-8")

    shown = page.partition("| kind | games |\n|---|---|\n")[2].splitlines()
    assert shown == list(rows(sorted(pyspiel.registered_names())))
