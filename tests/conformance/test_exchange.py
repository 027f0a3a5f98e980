"""Hidden draws over a whole play: views that show them too early, at the step at which they do."""

from pathlib import Path

import pytest
from support.cli_arena import Terminal
from support.conformance_goofspiel import (
    DealtBids,
    Goofspiel,
    Hands,
    LastPrize,
    NextCard,
    NextPrize,
    Rolls,
    Undeclared,
    UndeclaredNextPrize,
)

from arena.conformance.exchange import early_views, sightings
from arena.conformance.game import CHECKS, check_game
from arena.conformance.play import AnyGame, PlayedTable, played_table
from arena.games import bundled_names, load_game
from arena.games.api import Json, may_know_of
from arena.games.shanghaien.expansions import EXPANSIONS

SHUFFLED = "item 0 of `prizes` at step 2, item 1 of `prizes` at step 3, item 2 of `prizes` at step 4"
EARLY = "items 0 and 1 of `prizes` at step 2, item 2 of `prizes` at step 3, items 3 and 4 of `prizes` at step 4"

DICE = "item 0 of `dice` at step 2, item 1 of `dice` at step 4, item 2 of `dice` at step 5"


@pytest.mark.parametrize(
    ("kind", "step", "seats", "items"),
    [
        (NextPrize, 2, {0, 1}, "items 1 and 2"),
        (LastPrize, 3, {1}, "items 2 and 4"),
        (NextCard, 4, {0, 1}, "items 6 and 7"),
    ],
)
def test_a_view_that_shows_a_hidden_draw_too_early_is_found(
    kind: type[AnyGame], step: int, seats: set[int], items: str
) -> None:
    """The next prize of the deck, or the last one; at the first step at which a view shows it, for each seat."""
    found = [each for each in early_views(played_table(kind(), 2)) if each.startswith("play 1")]

    steps = [int(each.partition("step ")[2].partition(":")[0]) for each in found]
    assert min(steps) == step
    assert {int(each.partition("seat ")[2][0]) for each in found} == seats
    assert items in found[0]


@pytest.mark.parametrize("kind", [Goofspiel, Hands])
def test_a_game_that_keeps_its_declaration_passes(kind: type[AnyGame]) -> None:
    """A game that keeps `may_know` passes all checks without a line to read, also where a played card cannot change."""
    parts = list(check_game(kind()))

    assert [part for part in parts if part.findings or part.to_read] == []


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Undeclared, f"seat 1 sees {SHUFFLED}, items 3 and 4 of `prizes` at step 5"),
        (UndeclaredNextPrize, f"seat 1 sees {EARLY}"),
        (
            Rolls,
            f"seat 1 sees {DICE}, item 0 of `choice` at step 6",
        ),
    ],
)
def test_without_a_declaration_the_author_reads_the_steps(kind: type[AnyGame], said: str) -> None:
    """Without `may_know` the steps of each item of shuffle, die and choice are listed, and the game passes."""
    table = played_table(kind(), 2)

    assert list(early_views(table)) == []
    assert list(sightings(table))[1] == said


def test_a_play_that_cannot_go_on_is_told() -> None:
    """An action that is legal no more ends the comparison: nothing later is tried, and the author reads so."""
    table = played_table(DealtBids(), 2)

    assert list(early_views(table)) == []
    assert list(sightings(table)) == [
        "item 4 of `prizes` cannot be followed beyond step 2: there an action is legal no more"
    ]


def tables() -> list[PlayedTable]:
    """The bundled games without a simulator, and each expansion of Shanghaien."""
    chosen: list[tuple[str, dict[str, Json]]] = [(name, {}) for name in sorted(bundled_names()) if name != "riffraff"]
    chosen += [("shanghaien", {"expansions": names}) for names in ([*EXPANSIONS], *([name] for name in EXPANSIONS))]
    return [
        played_table(load_game(name), seats, options=options, plays=1)
        for name, options in chosen
        for seats in load_game(name).seat_counts
    ]


@pytest.mark.parametrize("table", tables(), ids=lambda table: f"{table.game.name}-{table.seats}-{table.options}")
def test_bundled_games_say_when_a_hidden_draw_may_be_seen(table: PlayedTable) -> None:
    """Bundled games with hidden draws declare `may_know`, and every change of a draw can be followed far enough."""
    assert list(early_views(table)) == []
    assert list(sightings(table)) == []


@pytest.mark.parametrize("name", ["kuhn_poker", "shanghaien"])
def test_a_declaration_of_a_bundled_game_is_held_against_its_views(name: str) -> None:
    """A declaration that allows nothing fails for bundled games: changes of their draws reach the views."""
    game = load_game(name)
    strict = type("Strict", (type(game),), {"may_know": lambda *_: False})()
    assert may_know_of(strict) is not None

    assert list(early_views(played_table(strict, 2, plays=1)))


def test_the_command_lists_what_an_author_has_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside the promises, which a game without a declaration keeps."""
    monkeypatch.setattr("arena.operations.check_game.load_game", lambda _name: Undeclared())
    monkeypatch.setattr("arena.operations.check_game.difference_elsewhere", lambda *_: "")

    found = Terminal(tmp_path, monkeypatch, capsys).arena("check-game nim")

    assert found.code == 0
    assert f"read    2 seats: hidden draws are seen when they may be\n        seat 0 sees {SHUFFLED}" in found.out
    assert f"keeps all {len(CHECKS) + 2} promises of the contract" in found.out
    assert "`may_know`" in found.out.splitlines()[-1]
