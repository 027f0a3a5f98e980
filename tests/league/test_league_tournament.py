"""Reading a tournament file: what it means, and what it is told when it means nothing."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from league_made import bot

from arena.errors import SpecError
from arena.league.tournament import Tournament, read_tournament
from arena.process.manifest import BotSpec
from arena.strict import unknown

GOOD: dict[str, Any] = {
    "name": "first",
    "game": "nim",
    "seed": 7,
    "cycles": 3,
    "players": [{"bot": "random"}, {"bot": "greedy"}],
}
SHELF = ("random", "greedy")


def find(text: str) -> BotSpec:
    """A shelf of two bots on paper."""
    if text not in SHELF:
        raise SpecError(f'no bot "{text}"; {unknown("bot", text, SHELF).partition("; ")[2]}')
    return bot(text)


def read(folder: Path, **changes: Any) -> Tournament:
    """The good file with some keys changed; None takes a key away."""
    content = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    path = folder / "league.yaml"
    path.write_text(yaml.safe_dump(content))
    return read_tournament(path, find)


WRONG: list[tuple[dict[str, Any], str]] = [
    (
        {"players": [{"bot": "random"}, {"bot": "rnadom"}]},
        'players[1].bot: no bot "rnadom"; known: random, greedy; did',
    ),
    ({"players": [{"bot": "random"}, {"bto": "greedy"}]}, 'players[1]: unknown key "bto"; known: bot, name, arguments'),
    ({"players": [{"bot": "random"}, {}]}, 'players[1]: the key "bot" is missing'),
    (
        {"players": [{"bot": "random"}, "greedy"]},
        "players[1]: expected an object with the keys bot, name, arguments, found 'greedy'",
    ),
    (
        {"players": [{"bot": "random", "arguments": [1]}]},
        "players[0].arguments[0]: expected text, found 1; put it in quotes",
    ),
    ({"players": [{"bot": "random"}]}, "players: found 1, a tournament needs at least 2"),
    ({"players": [{"bot": "random"}] * 2}, 'players[1]: the name "random" is taken by players[0]'),
    ({"players": [{"bot": "random", "name": "../x"}, {"bot": "greedy"}]}, "players[0].name:"),
    ({"game": "nym"}, 'unknown game "nym"; known: nim, shanghaien; did you mean "nim"?'),
    ({"game": None}, 'the key "game" is missing'),
    ({"options": {"heps": [3]}}, 'options of nim: unknown key "heps"; known: heaps, misere'),
    ({"options": {"heaps": [0]}}, "options of nim: heaps: found [0], expected 1 to 20 heaps"),
    ({"cycles": None}, "either cycles or blocks_per_pairing"),
    ({"blocks_per_pairing": 3}, "either cycles or blocks_per_pairing"),
    ({"cycles": 0}, "cycles: expected a whole number >= 1, found 0"),
    ({"cycles": True}, "cycles: expected"),
    ({"cycles": "many"}, "cycles: expected"),
    ({"chunk_blocks": 0}, "chunk_blocks: expected a whole number >= 1, found 0"),
    ({"workers": 0}, "workers: expected"),
    ({"seed": 1.5}, "seed: expected a whole number or text, found 1.5; put it in quotes"),
    ({"seed": None}, 'the key "seed" is missing'),
    ({"clock": {"move_ms": 0}}, "clock.move_ms: expected a number > 0"),
    ({"clock": {"decides": "sun"}}, 'clock.decides: unknown value "sun"; known: cpu, wall'),
    ({"clock": {"mvoe_ms": 5}}, 'clock: unknown key "mvoe_ms"'),
    ({"rating": {"anchor": "rando"}}, 'rating: anchor: unknown player "rando"; known: random, greedy; did'),
    ({"rating": {"draw_probability": 2}}, "draw_probability"),
    ({"cycels": 3}, 'unknown key "cycels"; known: name, game'),
    ({"name": "no/slash"}, "name: expected"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG, ids=[str(message)[:40] for _, message in WRONG])
def test_says_where_what_and_what_is_known(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """Each mistake is told with its file, its place, what was found, and what is known there."""
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


def test_blocks_per_pairing_are_cycles(tmp_path: Path) -> None:
    """The two keys say the same thing."""
    assert read(tmp_path, cycles=None, blocks_per_pairing=3) == read(tmp_path)


def test_refuses_a_bot_for_another_game(tmp_path: Path) -> None:
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

    with pytest.raises(SpecError, match=r"players\[0\]\.bot: picky plays shanghaien, not nim"):
        read_tournament(path, lambda _: picky)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A file that is not there is a mistake of the command line."""
    with pytest.raises(SpecError, match=r"none\.yaml: No such file"):
        read_tournament(tmp_path / "none.yaml", find)
