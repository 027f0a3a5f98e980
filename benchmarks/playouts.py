"""Section 4: how fast the rules alone play random matches in process, and how much of that is luck."""

import random
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

from matches import ALL_EXPANSIONS, NIM, SHANGHAIEN, Setting
from measure import interleaved
from tables import Figure, Goal, Row, Table

from arena.games import load_game
from arena.games.api import Chance, Decision
from arena.games.luck import draw

_GOAL: Final = Goal(">=", 2000)
_SHARE_GOAL: Final = Goal(">=", 0.5)


def measure(_: Path, *, is_quick: bool) -> list[Table]:
    """Measure the playouts per second of each game, and the share of drawing chance."""
    count, rounds = (100, 5) if is_quick else (300, 9)
    settings = (SHANGHAIEN, ALL_EXPANSIONS, NIM)
    engines = {setting.label: Engine(setting) for setting in settings}
    speed = interleaved({name: partial(_timed, engine, count) for name, engine in engines.items()}, rounds)
    base = speed[SHANGHAIEN.label]
    of_base = median(base_s / other_s for base_s, other_s in zip(base, speed[ALL_EXPANSIONS.label], strict=True))
    rows = tuple(
        _row(setting, engines[setting.label], count, rounds, of_base if setting is ALL_EXPANSIONS else None)
        for setting in settings
    )
    headers = (
        "random playouts",
        "playouts/s",
        "of the\nbase game",
        "decisions\na playout",
        "draws\na playout",
        "luck %",
    )
    notes = (
        "turn, sample, luck.draw, apply, resolve in CPU time; luck: its share, by the same playouts with draws kept",
    )
    return [Table(title="Playouts: the engine alone", headers=headers, rows=rows, notes=notes)]


def _row(setting: Setting, engine: "Engine", count: int, rounds: int, of_base: float | None) -> Row:
    decisions, draws = engine.play(count, is_luck_kept=False)
    samples = interleaved(
        {
            "all": lambda: _timed(engine, count, is_luck_kept=False),
            "kept": lambda: _timed(engine, count, is_luck_kept=True),
        },
        rounds,
    )
    share = 1 - median(kept / every for kept, every in zip(samples["kept"], samples["all"], strict=True))
    goal = _GOAL if setting is SHANGHAIEN else None
    return (
        setting.label,
        Figure(count / median(samples["all"]), 0, goal),
        "" if of_base is None else Figure(of_base, 2, _SHARE_GOAL),
        Figure(decisions / count),
        Figure(draws / count),
        Figure(max(0.0, 100 * share)),
    )


def _timed(engine: "Engine", count: int, *, is_luck_kept: bool = False) -> float:
    start_s = time.process_time()
    engine.play(count, is_luck_kept=is_luck_kept)
    return time.process_time() - start_s


class Engine:
    """A player of the same random matches every time; luck is drawn, or taken from the first time."""

    def __init__(self, setting: Setting) -> None:
        self._game = load_game(setting.game)
        self._options = setting.options
        self._kept: list[list[tuple[int, ...]]] = []

    def play(self, count: int, *, is_luck_kept: bool) -> tuple[int, int]:
        """Play `count` matches; return the number of decisions and of draws."""
        game, kept = self._game, self._kept
        decisions = draws = 0
        for number in range(count):
            if len(kept) == number:
                kept.append([])
            kept_draws = iter(kept[number]) if is_luck_kept else None
            decided, drawn = _playout(game, game.setup(self._options, 2), number, kept_draws)
            kept[number] = kept[number] if is_luck_kept else drawn
            decisions += decided
            draws += len(drawn)
        return decisions, draws


def _playout(game: Any, state: Any, number: int, known: Any) -> tuple[int, list[tuple[int, ...]]]:
    rng = random.Random(number)
    seed = f"playout/{number}"
    decisions = 0
    drawn: list[tuple[int, ...]] = []
    while True:
        turn = game.turn(state)
        if isinstance(turn, Decision):
            state = game.apply(state, {seat: game.sample(state, seat, rng) for seat in turn.seats})
            decisions += 1
        elif isinstance(turn, Chance):
            faces = draw(seed, turn) if known is None else next(known)
            state = game.resolve(state, faces)
            drawn.append(faces)
        else:
            return decisions, drawn
