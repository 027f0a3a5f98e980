"""`arena new-bot --policy`: a bot of a trained network, of the game's own numbers."""

import json
import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from support.cli_arena import Terminal
from support.golden import Golden
from support.hands import hands_on_offer

from arena.conformance.play import played_table
from arena.errors import SpecError
from arena.games import load_game
from arena.games.api import Json, Seat, action_numbers_of, encoder_of
from arena.games.connect_four import ConnectFour
from arena.operations.policy_bot import encoding_of
from arena.process.manifest import read_bot

VARIANTS: list[tuple[str, dict[str, Json]]] = [
    ("connect_four", {}),
    ("kuhn_poker", {}),
    ("nim", {}),
    *(("shanghaien", options) for options in ({}, *load_game("shanghaien").trial_options)),  # type: ignore[attr-defined]
]
RNG = np.random.default_rng(1)
LAYERS: dict[str, NDArray[Any]] = {
    "w0": RNG.normal(size=(126, 9)).astype(np.float32),
    "b0": RNG.normal(size=9).astype(np.float32),
    "w1": np.asfortranarray(RNG.normal(size=(9, 7))),
    "b1": RNG.normal(size=7),
}


def saved(**changed: NDArray[Any] | None) -> str:
    """The file of the layers with some changed, or left out."""
    layers: dict[str, Any] = {name: each for name, each in {**LAYERS, **changed}.items() if each is not None}
    np.savez("policy.npz", **layers)
    return "policy.npz"


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_a_bot_has_the_numbers_of_the_game(name: str, options: dict[str, Json]) -> None:
    """The bot numbers each action of the variant and encodes each view as the game does."""
    game, scope = load_game(name), {"__name__": "encoding"}

    exec(encoding_of(name, options).source, scope)

    numbers, encode = action_numbers_of(game, options, 2), encoder_of(game)
    assert numbers
    assert encode
    for _, step in played_table(game, 2, options=options, plays=2).steps():
        for seat in map(Seat, range(2)):
            view = json.loads(json.dumps(game.observe(step.state, seat)))
            assert scope["encode"](view) == encode(view)  # type: ignore[operator]
    assert json.dumps(scope["ACTIONS"]) == json.dumps([msgspec.to_builtins(each) for each in numbers])


@pytest.fixture
def kit(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The kit of a new bot."""
    assert terminal.arena("new-bot four --game connect_four --policy", saved()).code == 0
    monkeypatch.setitem(sys.modules, "encoding", SimpleNamespace(**runpy.run_path("four/encoding.py")))
    return SimpleNamespace(**runpy.run_path("four/policy_kit.py"))


def test_the_kit_calculates_as_numpy_does(kit: SimpleNamespace, golden: Golden) -> None:
    """The kit calculates as numpy does, with both number types, both array orders and nested lists."""
    numbers = [float(each) for each in RNG.integers(0, 2, 126)]

    found = kit.Network("four/policy.npz").outputs([numbers[:60], [numbers[60:]]])

    expected = np.maximum(numbers @ LAYERS["w0"] + LAYERS["b0"], 0) @ LAYERS["w1"] + LAYERS["b1"]
    assert np.allclose(found, expected, rtol=1e-5)
    assert [kit.number_of({"column": each, "text": "x"}) for each in range(7)] == [*range(7)]
    saved(w0=np.zeros((2, 2), np.int64))
    with golden.raises(ValueError):
        kit.Network("policy.npz")


def test_the_bot_says_its_game(kit: SimpleNamespace) -> None:  # noqa: ARG001 - it makes the bot
    """The manifest of the bot names its game, so that no other game accepts it."""
    assert read_bot(Path("four")).manifest.games == ("connect_four",)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"w0": LAYERS["w0"][:5]}, "from 126 inputs to 7 actions"),
        ({"w1": LAYERS["w1"][:, :6], "b1": LAYERS["b1"][:6]}, r"w1 float64 \(9, 6\)"),
        ({"b1": None}, "expected w0, b0, w1, b1"),
        ({"extra": LAYERS["b0"]}, "extra float32"),
        ({"b1": LAYERS["b1"].astype(np.int32)}, "int32"),
        ({"w0": np.float32(1)}, r"w0 float32 \(\)"),
        (dict.fromkeys(LAYERS), "found nothing"),
        ({"b1": np.array([{}])}, "cannot be read"),
    ],
)
def test_a_network_that_does_not_fit_is_refused(terminal: Terminal, changed: dict[str, Any], told: str) -> None:
    """A network that does not fit is refused with all its shapes; no folder is left."""
    done = terminal.arena("new-bot four --game connect_four --policy", saved(**changed))

    assert done.code == 2
    assert re.search(told, done.err), done.err
    assert not Path("four").exists()


def test_other_refusals(terminal: Terminal) -> None:
    """A game without numbers, a language without numpy's arrays, options without a policy, files that are none."""
    Path("plain.txt").write_text("no arrays")
    np.save("one.npy", LAYERS["w0"])
    for words, told in (
        (("--game", "riffraff", "--policy", saved()), "riffraff needs all_actions and encode"),
        (("--game", "nim", "--lang", "perl", "--policy", saved()), "found the language perl, expected python"),
        (("--game", "nim", "--options", '{"heaps": [1, 2]}'), "only with --policy"),
        (("--game", "nim", "--options", '{"heaps": 1}', "--policy", saved()), "options of nim"),
        (("--game", "nim", "--policy", "plain.txt"), "plain.txt cannot be read"),
        (("--game", "nim", "--policy", "one.npy"), "one.npy cannot be read"),
        (("--game", "nim", "--policy", "missing.npz"), "missing.npz"),
    ):
        done = terminal.arena("new-bot mine", *words)

        assert done.code == 2, words
        assert told in done.err, done.err
        assert not Path("mine").exists()


OUTSIDE = 7.0


class NeedsMore(ConnectFour):
    @staticmethod
    def encode(view: Json) -> Json:
        return [OUTSIDE + view["you"]]


def test_an_encoding_that_needs_more_than_its_source_is_refused(
    monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """An encoding that needs more than its source is refused with the missing name."""
    monkeypatch.setattr("arena.operations.policy_bot.load_game", lambda _: NeedsMore())

    with golden.raises(SpecError):
        encoding_of("connect_four", {})


def test_a_game_with_more_seats_has_an_encoding_too() -> None:
    """For the smallest number of seats."""
    with hands_on_offer():
        assert encoding_of("hands", {})[1:] == (25, 3)
