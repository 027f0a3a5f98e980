"""Reading a tournament file: what it means, and what it is told when it means nothing."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from support.golden import Golden
from support.made_matches import bot

from arena.errors import SpecError
from arena.league.schedules.settings import Gauntlet, Knockout, RoundRobin, Schedule, Swiss
from arena.league.tournament import Tournament, read_tournament
from arena.process.manifest import BotSpec
from arena.text import unknown

GOOD: dict[str, Any] = {
    "name": "first",
    "game": "nim",
    "seed": 7,
    "cycles": 3,
    "players": [{"bot": "random"}, {"bot": "greedy"}],
}
BOTS = ("random", "greedy")


def find(text: str) -> BotSpec:
    """Return a bot of a folder that holds two."""
    if text not in BOTS:
        raise SpecError(f'no bot "{text}"; {unknown("bot", text, BOTS).partition("; ")[2]}')
    return bot(text)


def read(folder: Path, **changes: Any) -> Tournament:
    """Read the good file with some keys changed; None takes a key away."""
    content = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    path = folder / "league.yaml"
    path.write_text(yaml.safe_dump(content))
    return read_tournament(path, find)


WRONG: list[tuple[dict[str, Any], str]] = [
    (
        {"players": [{"bot": "random"}, {"bot": "rnadom"}]},
        'players[1].bot: no bot "rnadom"; known: random, greedy; did',
    ),
    (
        {"players": [{"bot": "random"}, {"bto": "greedy"}]},
        'players[1]: unknown key "bto"; known: bot, submitted, name, arguments',
    ),
    (
        {"players": [{"bot": "random", "arguments": [1]}]},
        "players[0].arguments[0]: expected text of 1 to 4096 characters, without control characters, found 1; put it",
    ),
    ({"players": [{"bot": "random"}]}, "players: found 1, a tournament needs at least 2"),
    ({"players": [{"bot": "random"}] * 2}, 'players[1]: the name "random" is taken by players[0]'),
    ({"players": [{"bot": "random", "name": "../x"}, {"bot": "greedy"}]}, "players[0].name:"),
    (
        {"game": "nym"},
        'unknown game "nym"; known: connect_four, kuhn_poker, nim, riffraff, shanghaien, openspiel:NAME; did you mean',
    ),
    ({"options": {"heps": [3]}}, 'options of nim: unknown key "heps"; known: heaps, misere'),
    ({"options": {"heaps": [0]}}, "options of nim: heaps: found [0], expected 1 to 20 heaps"),
    ({"cycles": None}, "either cycles or blocks_per_pairing"),
    ({"blocks_per_pairing": 3}, "either cycles or blocks_per_pairing"),
    ({"chunk_blocks": 0}, "chunk_blocks: expected a whole number >= 1, found 0"),
    ({"seed": 1.5}, "seed: expected a whole number or text, found 1.5; put it in quotes"),
    ({"rating": {"anchor": "rando"}}, 'rating.anchor: unknown player "rando"; known: random, greedy; did'),
    ({"rating": {"draw_probability": 2}}, "draw_probability"),
    ({"seats": 3}, "seats: found 3, nim is for 2 players"),
    ({"seats": 5, "game": "riffraff"}, "seats: found 5, riffraff is for 2 to 4 players"),
    ({"seats": 3, "game": "riffraff"}, "players: found 2, tables of 3 seats need at least 3"),
    ({"schedule": "swiss"}, "schedule: expected `kind:` and round_robin, gauntlet, swiss or knockout on a line below"),
    ({"schedule": {"kind": "swis"}}, 'schedule.kind: unknown value "swis"; known: round_robin, gauntlet, swiss, knock'),
    ({"schedule": {"kind": "swiss", "rounds": 1}}, "cycles: a swiss has rounds; cycles and blocks_per_pairing are for"),
    ({"schedule": {"kind": "knockout"}}, "cycles: a knockout ends with its final; cycles and"),
    (
        {"schedule": {"kind": "swiss", "rounds": 2}, "cycles": None},
        "schedule.rounds: found 2, but 2 players have met after 1; round_robin with cycles plays more",
    ),
    (
        {"schedule": {"kind": "knockout", "blocks_per_tie": 5, "cap_blocks": 4}, "cycles": None},
        "schedule.cap_blocks: found 4, expected at least the 5 of blocks_per_tie",
    ),
    (
        {"schedule": {"kind": "gauntlet", "challengers": ["rando"]}},
        'schedule.challengers[0]: unknown player "rando"; known: random, greedy; did you mean "random"?',
    ),
    (
        {"schedule": {"kind": "gauntlet", "challengers": ["random", "random"]}},
        'schedule.challengers[1]: "random" is there already',
    ),
    (
        {"schedule": {"kind": "gauntlet", "challengers": ["random", "greedy"]}},
        "schedule.challengers: found 2 of 2 players; expected at least 1, and 1 others for a table",
    ),
    ({"schedule": {"kind": "gauntlet", "challengers": []}}, "schedule.challengers: found 0 of 2 players"),
    ({"schedule": {"kind": "round_robin", "cap_blocks": 9}}, "schedule.cap_blocks: means something only with `until:"),
    (
        {"schedule": {"kind": "round_robin", "until": "decided", "cap_blocks": 2}},
        "schedule.cap_blocks: found 2, but the cycles alone are 3 blocks of each pairing",
    ),
    ({"cycels": 3}, 'unknown key "cycels"; known: name, game'),
    ({"name": "no/slash"}, "name: expected"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG, ids=[str(message)[:40] for _, message in WRONG])
def test_says_where_what_and_what_is_known(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """The error of each mistake has the file, the place, what was found, and what is known there."""
    with pytest.raises(SpecError) as caught:
        read(tmp_path, **changes)

    assert str(caught.value).startswith(f"{tmp_path}/league.yaml: ")
    assert message in str(caught.value)
    assert caught.value.exit_code == 2


def test_reads_what_is_written(tmp_path: Path) -> None:
    """Players keep the order of the file and their names; the seed becomes text."""
    league = read(tmp_path, players=[{"bot": "greedy", "name": "g", "arguments": ["-x"]}, {"bot": "random"}])

    assert [player.name for player in league.players] == ["g", "random"]
    assert league.players[0].arguments == ("-x",)
    assert (league.seed, league.cycles, league.chunk_blocks) == ("7", 3, 20)
    assert league.luck
    assert not read(tmp_path, luck=False).luck


SETTLED: list[tuple[dict[str, Any], Schedule, int]] = [
    ({}, RoundRobin(), 3),
    ({"schedule": {"kind": "round_robin"}}, RoundRobin(), 3),
    (
        {"schedule": {"kind": "round_robin", "until": "decided"}},
        RoundRobin(until="decided", likelihood=0.95, step_blocks=3, cap_blocks=30),
        3,
    ),
    ({"schedule": {"kind": "gauntlet", "challengers": ["greedy"]}}, Gauntlet(challengers=("greedy",)), 3),
    ({"schedule": {"kind": "swiss", "rounds": 1}, "cycles": None}, Swiss(rounds=1), 0),
    ({"schedule": {"kind": "knockout"}, "cycles": None}, Knockout(blocks_per_tie=4, cap_blocks=12), 0),
]


@pytest.mark.parametrize(("changes", "schedule", "cycles"), SETTLED)
def test_schedules_have_their_defaults_filled_in(
    tmp_path: Path, changes: dict[str, Any], schedule: Schedule, cycles: int
) -> None:
    """What a file leaves out is written into the tournament, which is what is stored."""
    league = read(tmp_path, **changes)

    assert (league.schedule, league.cycles, league.seats) == (schedule, cycles, 2)
    assert msgspec.json.decode(msgspec.json.encode(league), type=Tournament) == league


def test_blocks_per_pairing_are_cycles(tmp_path: Path) -> None:
    """The two keys mean the same number."""
    assert read(tmp_path, cycles=None, blocks_per_pairing=3) == read(tmp_path)


def test_refuses_a_bot_for_another_game(tmp_path: Path, golden: Golden) -> None:
    """A bot that names its games plays no other."""
    path = tmp_path / "league.yaml"
    path.write_text(yaml.safe_dump(GOOD))
    picky = bot("picky")
    picky = BotSpec(
        manifest=type(picky.manifest)(name="picky", command=("true",), games=("shanghaien",)),
        source=picky.source,
        folder=picky.folder,
        digest=picky.digest,
    )

    with golden.raises(SpecError):
        read_tournament(path, lambda _: picky)


def test_a_missing_file_is_named(tmp_path: Path, golden: Golden) -> None:
    """A file that is not there is a mistake of the command line."""
    with golden.raises(SpecError):
        read_tournament(tmp_path / "none.yaml", find)
