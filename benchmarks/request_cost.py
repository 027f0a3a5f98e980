"""Sections 1 and 2: what a request costs at the floor and with the referee, and where the referee's time goes.

Rule: floor and referee play the same match with the same kind of bot in turns, so that the ratio counts.
"""

import os
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

from benchbots import instant
from floor import Cost, floor
from measure import clocks, descendants, interleaved, one_core, ratio
from recording import NIM, SHANGHAIEN, Recording, Setting, match_of, record, seated
from referee_split import split
from tables import Figure, Goal, Row, Table

from arena.match.referee import play_match
from arena.process.manifest import BotSpec

_GOAL: Final = Goal("<=", 3)
_REQUESTS_PER_SAMPLE: Final = 500
_US: Final = 1e6


def measure(scratch: Path, *, is_quick: bool) -> list[Table]:
    """Both tables: cost of a request, and the split of the referee's part."""
    bots, notes = instant(scratch)
    rounds = 12 if is_quick else 50
    costs: list[Row] = []
    splits: list[Row] = []
    for setting in (SHANGHAIEN, NIM):
        for language, bot in bots.items():
            recording = record(setting, bot)
            label = f"{setting.label}, {language}"
            costs.append(_cost_row(f"{label}, free", recording, _sample(setting, bot, recording, rounds)))
            with one_core():
                samples = _sample(setting, bot, recording, rounds)
                costs.append(_cost_row(f"{label}, one core", recording, samples))
                splits.append((label, *split(recording, samples["referee"], samples["bare"])))
    return [_cost_table(costs, notes), _split_table(splits)]


def _sample(setting: Setting, bot: BotSpec, recording: Recording, rounds: int) -> dict[str, list[Cost]]:
    """Costs per request by measure: bare, loop, referee."""
    count = len(recording.requests)
    times = max(1, _REQUESTS_PER_SAMPLE // count)
    spec = match_of(setting)
    with floor(bot, recording) as bare, seated(setting, (bot, bot)) as bot_players:
        play_match(spec, bot_players)
        seated_pids = list(descendants(os.getpid()) - set(bare.pids))
        return interleaved(
            {
                "bare": lambda: _cost(bare.bare, times, count, bare.pids),
                "loop": lambda: _cost(bare.loop, times, count, bare.pids),
                "referee": lambda: _cost(lambda: play_match(spec, bot_players), times, count, seated_pids),
            },
            rounds,
        )


def _cost(action: Callable[[], object], times: int, count: int, pids: list[int]) -> Cost:
    wall_s, own_s, bots_s = clocks(pids)
    for _ in range(times):
        action()
    later_wall_s, later_own_s, later_bots_s = clocks(pids)
    requests = times * count
    return Cost(
        wall_s=(later_wall_s - wall_s) / requests,
        own_s=(later_own_s - own_s) / requests,
        bots_s=(later_bots_s - bots_s) / requests,
    )


def _cost_row(label: str, recording: Recording, samples: dict[str, list[Cost]]) -> Row:
    wall = {name: [cost.wall_s for cost in costs] for name, costs in samples.items()}
    return (
        label,
        Figure(len(recording.requests), 0),
        Figure(sum(len(line) for _, line in recording.requests) / len(recording.requests), 0),
        *(Figure(median(wall[name]) * _US) for name in ("bare", "loop", "referee")),
        Figure(ratio(wall["referee"], wall["bare"]), 2, _GOAL),
        Figure(ratio(wall["referee"], wall["loop"]), 2, _GOAL),
        Figure(median(cost.own_s for cost in samples["referee"]) * _US),
        Figure(median(cost.bots_s for cost in samples["referee"]) * _US),
    )


def _cost_table(rows: list[Row], notes: tuple[str, ...]) -> Table:
    headers = (
        "wall time of a request",
        "requests\na match",
        "bytes a\nrequest",
        "1a bare\nus",
        "1b loop\nus",
        "referee\nus",
        "referee\n/ 1a",
        "referee\n/ 1b",
        "referee\nCPU us",
        "bot\nCPU us",
    )
    more = (
        "free: the kernel chooses cores; one core: this process and its bots share one, as on a machine that is full",
        "1a: os.write and os.read of the recorded lines",
        "1b: encode, write, poll with a deadline, read, decode, look the action up",
        "referee: whole matches (rules, chance, clocks, record; match_start and match_end too), divided by requests",
    )
    return Table(title="Request: floor and referee", headers=headers, rows=tuple(rows), notes=notes + more)


def _split_table(rows: list[Row]) -> Table:
    headers = (
        "referee's CPU, us a request",
        "all",
        "turn",
        "legal",
        "observe",
        "apply",
        "chance",
        "encode",
        "decode",
        "pipes",
        "the rest",
        "pack",
    )
    notes = (
        "on one core; the match is the recorded one",
        "turn to chance: run again in process; chance is the draw and `resolve`",
        "encode, decode: the recorded messages through the codec; pipes: the CPU of 1a",
        "the rest: clocks, session, events, the record, the match's start and end",
        "pack: what a league adds to `all`, the record as JSON, compressed",
    )
    return Table(title="Referee: where its time goes", headers=headers, rows=tuple(rows), notes=notes)
