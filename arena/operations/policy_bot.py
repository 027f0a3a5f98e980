"""A bot that plays by a trained network, made of the game's own actions and encoding.

Rule: the numbers of actions and views are the game's. The bot gets copies of both, so that its folder is all of it, and
needs neither arena nor numpy where it plays.
"""

import inspect
import json
import re
import shutil
import textwrap
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, Final, NamedTuple
from zipfile import BadZipFile

import msgspec

from arena.conformance.play import played_table
from arena.conformance.training import shape_of
from arena.errors import SpecError
from arena.games import load_game
from arena.games.api import Json, Seat, action_numbers_of, encoder_of
from arena.process.manifest import MANIFEST

POLICY_TEMPLATE: Final = "python-policy"
_ENCODING: Final = "encoding.py"
_HEAD: Final = '''"""{game}, rules {version}: its actions in the order of their numbers, and its views as numbers.

`arena new-bot --policy` copied both from the game.
"""

from __future__ import annotations

ACTIONS = [
{actions}
]


'''


class Encoding(NamedTuple):
    """The source of a bot's module `encoding`, the numbers that it makes of a view, and the number of actions."""

    source: str
    inputs: int
    actions: int


def encoding_of(game_name: str, options: Mapping[str, Json]) -> Encoding:
    """Build the encoding of a game. SpecError if the game lacks a capability, or if its `encode` cannot be copied."""
    game = load_game(game_name)
    seats = game.seat_counts[0]
    view = game.observe(game.setup(options, seats), Seat(0))
    numbers, encode = action_numbers_of(game, options, seats), encoder_of(game)
    if numbers is None or encode is None:
        raise SpecError(f"--policy: {game_name} needs all_actions and encode, which number its actions and views")
    lines = [f"    {json.loads(msgspec.json.encode(action))!r}," for action in numbers]
    head = _HEAD.format(game=game_name, version=game.rules_version, actions="\n".join(lines))
    views = [
        json.loads(msgspec.json.encode(game.observe(step.state, Seat(0))))
        for _, step in played_table(game, seats, options=options, plays=1).steps()
    ]
    copy: dict[str, Any] = {"__name__": "encoding"}
    try:
        source = head + textwrap.dedent(inspect.getsource(encode)).removeprefix("@staticmethod\n")
        exec(compile(source, _ENCODING, "exec"), copy)  # noqa: S102 - the game's own code, which runs here anyway
        is_same = all(copy["encode"](view) == encode(view) for view in views)
    except Exception as error:
        raise SpecError(f"--policy: encode of {game_name} cannot be copied into a bot: {error}") from error
    if not is_same:
        raise SpecError(f"--policy: encode of {game_name} cannot be copied into a bot: the copy gives other numbers")
    return Encoding(source, prod(shape_of(encode(view))), len(numbers))


def write_policy(target: Path, policy: Path, game: str, options: Mapping[str, Json]) -> None:
    """Add the network and the encoding to a bot that was made by the template, and set its game in the manifest.

    SpecError if network and encoding do not fit; nothing is written then.
    """
    encoding = encoding_of(game, options)
    _require_layers(policy, encoding)
    shutil.copy(policy, target / "policy.npz")
    (target / _ENCODING).write_text(encoding.source, encoding="utf-8")
    name = load_game(game).name.partition(":")[0]
    manifest = (target / MANIFEST).read_text(encoding="utf-8")
    (target / MANIFEST).write_text(re.sub("(?m)^# games:.*$", f"games: [{name}]", manifest), encoding="utf-8")


def _require_layers(policy: Path, encoding: Encoding) -> None:
    """Raise SpecError unless the layers of the file lead from the numbers of a view to those of the actions."""
    import numpy as np  # noqa: PLC0415 - it takes 0.1 s that most commands do not need

    try:
        with np.load(policy) as file:
            layers = {name: (str(file[name].dtype), file[name].shape) for name in file.files}
    except (OSError, ValueError, TypeError, AttributeError, BadZipFile) as error:
        raise SpecError(f"--policy: {policy} cannot be read: {error}") from None
    size = encoding.inputs
    expected: dict[str, tuple[int, ...]] = {}
    for depth in range(len(layers) // 2):
        units = (layers.get(f"w{depth}", ("", ()))[1] or (0,))[-1]
        expected |= {f"w{depth}": (size, units), f"b{depth}": (units,)}
        size = units
    is_float = all(kind in {"float32", "float64"} for kind, _ in layers.values())
    if (
        not layers
        or size != encoding.actions
        or {name: shape for name, (_, shape) in layers.items()} != expected
        or not is_float
    ):
        names = ", ".join(f"{name} {kind} {shape}" for name, (kind, shape) in layers.items())
        raise SpecError(
            f"--policy: {policy}: found {names or 'nothing'}; expected w0, b0, w1, b1 ... in float32 or float64, from"
            f" {encoding.inputs} inputs to {encoding.actions} actions"
        )
