"""Where the referee's CPU time goes, measured part by part on one recorded match.

Rule: each part runs alone, in process, over what the match really asked of it; the cost of the stopwatch is taken off.
"""

import time
from collections import Counter
from collections.abc import Callable
from statistics import median
from typing import Any, Final

import msgspec
from floor import Cost
from recording import Recording
from tables import Figure

from arena.games import load_game
from arena.games.api import Chance, Decision, Seat
from arena.games.luck import draw
from arena.match.record import ActionStep, MatchRecord, pack
from arena.protocol import codec
from arena.protocol.messages import Request

RULES: Final = ("turn", "legal", "observe", "apply", "chance")
_REPEATS: Final = 15
_US: Final = 1e6


def split(recording: Recording, referee: list[Cost], bare: list[Cost]) -> tuple[Figure, ...]:
    """Microseconds a request: all, the five parts of the rules, encode, decode, pipes, the rest; packing beside it."""
    count = len(recording.requests)
    rules = _medians([rules_s(recording.record) for _ in range(_REPEATS)])
    requests = [msgspec.json.decode(line, type=Request) for _, line in recording.requests]
    parts = [
        *(rules[part] / count for part in RULES),
        _median_s(lambda: [codec.encode(request) for request in requests]) / count,
        _median_s(lambda: [codec.decode(line) for line in recording.replies]) / count,
        median(cost.own_s for cost in bare),
    ]
    total = median(cost.own_s for cost in referee)
    packing = _median_s(lambda: pack(recording.record)) / count
    return tuple(Figure(part * _US) for part in (total, *parts, total - sum(parts), packing))


def rules_s(record: MatchRecord) -> Counter[str]:
    """Seconds in each part of the rules while the recorded match is run again as the referee runs it."""
    game = load_game(record.game)
    spent: Counter[str] = Counter()
    watch = _Watch(spent)
    steps = iter(record.steps)
    state: Any = game.setup(record.options, len(record.seats))
    while True:
        turn = watch("turn", game.turn, state)
        if isinstance(turn, Decision):
            actions: dict[Seat, Any] = {}
            for seat in turn.seats:
                step = next(steps)
                assert isinstance(step, ActionStep)
                watch("legal", game.legal, state, seat)
                if not step.forced:
                    watch("observe", game.observe, state, seat)
                actions[seat] = step.action
            state = watch("apply", game.apply, state, actions)
        elif isinstance(turn, Chance):
            next(steps)
            state = watch("chance", game.resolve, state, watch("chance", draw, record.seed, turn))
        else:
            return spent


class _Watch:
    """Calls a function and books its time under a name, less the time that booking nothing takes."""

    def __init__(self, spent: Counter[str]) -> None:
        self._spent = spent
        self._own_s = 0.0
        for _ in range(200):
            self("", _nothing, None)
        self._own_s = spent.pop("") / 200

    def __call__(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        start_s = time.perf_counter()
        result = function(*arguments)
        self._spent[name] += time.perf_counter() - start_s - self._own_s  # type: ignore[assignment]
        return result


def _nothing(_: object) -> None:
    """What the stopwatch is tried on."""


def _median_s(action: Callable[[], object]) -> float:
    """The median time of an action, after one run that is not counted."""
    action()
    times = []
    for _ in range(_REPEATS):
        start_s = time.perf_counter()
        action()
        times.append(time.perf_counter() - start_s)
    return median(times)


def _medians(samples: list[Counter[str]]) -> dict[str, float]:
    return {part: median(sample[part] for sample in samples) for part in RULES}
