"""The Shanghaien kit of bots/sensible: what it computes from views is what the rules do with states."""

import importlib.util
import json
import random
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import pytest
from support.bots_driver import BOTS, VARIANTS
from support.games_play import steps

from arena.games.api import Chance, Decision, Seat
from arena.games.shanghaien import GAME
from arena.games.shanghaien.actions import Shanghai
from arena.games.shanghaien.state import State
from arena.games.shanghaien.turns import scores_of

SPEC: Final = importlib.util.spec_from_file_location("shanghaien_kit", BOTS / "sensible" / "shanghaien_kit.py")
assert SPEC is not None
assert SPEC.loader is not None
kit = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(kit)


@pytest.mark.parametrize("options", [VARIANTS[0], {"tricks": {"adjust": 0, "both": 8, "reroll": 0}}])
def test_successors_are_those_of_the_rules(options: dict[str, Any]) -> None:
    """For every legal action of random matches the kit gives the views, and the chances, that the rules give."""
    kinds = set()
    for state, seat in decisions(options):
        for action in GAME.legal(state, seat):
            plain = json.loads(msgspec.json.encode(action))
            kinds.add(plain["do"])
            assert by_view(kit.successors(view_of(state, seat), plain)) == by_view(outcomes(state, seat, action)), plain

    assert kinds >= {"roll", "shanghai", "place", "joker", "both"}


@pytest.mark.parametrize("options", VARIANTS[::5])
def test_award_and_score_are_those_of_the_rules(options: dict[str, Any]) -> None:
    """With any expansions, the kit hands out the cards of a round and counts points as the rules do."""
    rounds = 0
    for state, seat in decisions(options):
        view = view_of(state, seat)
        assert kit.score(view) == list(scores_of(state))
        if Shanghai() in GAME.legal(state, seat):
            after = view_of(GAME.apply(state, {seat: Shanghai()}), seat)
            if after["phase"] != "veto":
                rounds += 1
                ended = kit.shanghaied(view)
                assert [player["sailors"] for player in ended["players"]] == [p["sailors"] for p in after["players"]]
                assert kit.score(ended) == kit.score(after)

    assert rounds > 10


def test_actions_of_expansions_are_refused() -> None:
    """An action that the kit does not know is an error that names it."""
    with pytest.raises(ValueError, match="feed"):
        kit.successors({}, {"do": "feed"})


def decisions(options: dict[str, Any]) -> Iterator[tuple[State, Seat]]:
    """Yield the states of three random matches in which a seat decides, with that seat."""
    for seed in range(3):
        for step in steps(GAME, f"match {seed}", random.Random(seed), options=options):
            if isinstance(step.turn, Decision):
                yield step.state, step.turn.seats[0]


def view_of(state: State, seat: Seat) -> dict[str, Any]:
    """Return the view of a seat as a bot reads it."""
    view: dict[str, Any] = json.loads(msgspec.json.encode(GAME.observe(state, seat)))
    return view


def outcomes(state: State, seat: Seat, action: Any) -> list[tuple[float, dict[str, Any]]]:
    """Return what the rules make of an action, with all 36 rolls where dice fall."""
    after = GAME.apply(state, {seat: action})
    turn = GAME.turn(after)
    if not isinstance(turn, Chance):
        return [(1.0, view_of(after, seat))]
    rolls = [(a, b) for a in range(1, 7) for b in range(1, 7)]
    return [(1 / 36, view_of(GAME.resolve(after, roll), seat)) for roll in rolls]


def by_view(successors: list[tuple[float, dict[str, Any]]]) -> dict[str, float]:
    """Return the chances by view, as text: dice in order, without the row that nobody can know before it lies there."""
    chances: dict[str, float] = {}
    for chance, view in successors:
        is_new_row = view["phase"] in ("turn", "over") and not any(map(any, (p["placed"] for p in view["players"])))
        plain = view | {"dice": sorted(view["dice"])} | ({"tavern": []} if is_new_row else {})
        key = json.dumps(plain, sort_keys=True)
        chances[key] = round(chances.get(key, 0) + chance, 9)
    return chances
