"""Random playouts of arena's own games and of OpenSpiel's, and the cost of a move of the adapter between the two.

OpenSpiel alone is played in Python too, by the same choices: what is left is the adapter's, with its texts of all legal
actions, its keyed luck and its states that never change.
"""

import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

from matches import Setting
from measure import interleaved
from playouts import Engine
from tables import Figure, Row, Table

from arena.games import openspiel
from arena.plugins import install_command

_OWN: Final = ("nim", "connect_four", "kuhn_poker", "shanghaien")
_THEIRS: Final = ("nim", "connect_four", "kuhn_poker", "leduc_poker", "breakthrough", "backgammon")
_PLAYOUTS: Final = {"shanghaien": 20, "breakthrough": 20, "backgammon": 4, "connect_four": 60, "nim": 60}
_MANY: Final = 300


def measure(_: Path, *, is_quick: bool) -> list[Table]:
    """Measure the playouts a second of all games, in turns, in CPU time."""
    theirs = _THEIRS if openspiel.is_installed() else ()
    engines = {name: Engine(Setting(name, name, {})) for name in [*_OWN, *(f"openspiel:{game}" for game in theirs)]}
    actions: dict[str, Callable[[], object]] = {
        name: partial(engine.play, _count(name), is_luck_kept=False) for name, engine in engines.items()
    }
    actions |= {f"alone {name}": partial(_play_alone, name, _count(name)) for name in theirs}
    timed = {name: partial(_cpu_s, action) for name, action in actions.items()}
    samples = interleaved(timed, 3 if is_quick else 9)
    rows = tuple(_row(name, engine, samples) for name, engine in engines.items())
    headers = (
        *("random playouts", "playouts/s", "moves and draws\na playout", "OpenSpiel alone\nplayouts/s"),
        *("adapter as a\nshare of it", "adapter\nus a move"),
    )
    notes = ("CPU time of one core; OpenSpiel alone is played in Python, too",)
    if not theirs:
        notes = (f"the package of OpenSpiel is missing: {install_command('openspiel')}",)
    return [Table(title="OpenSpiel: beside arena's own games", headers=headers, rows=rows, notes=notes)]


def _count(name: str) -> int:
    return _PLAYOUTS.get(name.removeprefix("openspiel:"), _MANY)


def _cpu_s(action: Callable[[], object]) -> float:
    start_s = time.process_time()
    action()
    return time.process_time() - start_s


def _row(name: str, engine: Engine, samples: dict[str, list[float]]) -> Row:
    count, short = _count(name), name.removeprefix("openspiel:")
    steps = sum(engine.play(count, is_luck_kept=False)) / count
    row: Row = (name, Figure(count / median(samples[name]), 0), Figure(steps))
    if name == short:
        return (*row, "", "", "")
    alone, adapted = samples[f"alone {short}"], samples[name]
    ratio = median(bare_s / all_s for bare_s, all_s in zip(alone, adapted, strict=True))
    cost_us = median(all_s - bare_s for bare_s, all_s in zip(alone, adapted, strict=True)) / (count * steps) * 1e6
    return (*row, Figure(count / median(alone), 0), Figure(ratio, 2), Figure(cost_us))


def _play_alone(name: str, count: int) -> None:
    """Play random matches by OpenSpiel's own Python interface, which changes one state."""
    import pyspiel  # noqa: PLC0415 - an extra

    game = pyspiel.load_game(name)
    for number in range(count):
        rng, state = random.Random(number), game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(_chosen(state, rng))


def _chosen(state: Any, rng: random.Random) -> int:
    if state.is_chance_node():
        actions, probabilities = zip(*state.chance_outcomes(), strict=True)
        return int(rng.choices(actions, probabilities)[0])
    return int(rng.choice(state.legal_actions()))
