"""What the sandbox costs: the start of a bot, a request, and what a frozen bot still burns.

Rule: with and without are measured in turns, the same bot and the same lines.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

import msgspec
from benchbots import instant, own_bot
from matches import CLOCK, NIM, match_of, seated
from measure import error_of_median, interleaved, one_core
from tables import Figure, Goal, Row, Table

from arena.match.bot_player import BotPlayer
from arena.match.referee import play_match
from arena.match.settings import open_channel
from arena.process.channel import Channel
from arena.process.clock import MoveClock
from arena.process.launch import Confinement
from arena.process.limits import Isolation, Limits
from arena.process.manifest import BotSpec
from arena.process.sandbox import runtimes, self_test

_LIMITS: Final = Limits(processes=False, scratch_mib=0)
_HELLO: Final = b'{"type":"hello","protocols":[1]}\n'
_MS, _US = 1e3, 1e6
_START_GOAL: Final = Goal("<=", 5.0)
_FREEZE_GOAL: Final = Goal("<=", 20.0)
_BURN_GOAL: Final = Goal("<=", 1.0)
_FROZEN_S: Final = 0.5
_RIVAL_S: Final = 0.01
_SPIN: Final = "while True: pass"
_SETTLE_S: Final = 0.02
"""A running thread stops at the next tick of its core's timer; until then its time is charged to its next move."""


def measure(scratch: Path, *, is_quick: bool) -> list[Table]:
    """Measure start, request, frozen bots, and bots between requests: four tables."""
    os.environ["PATH"] = runtimes.search_path()  # the same interpreters on both sides
    bots, notes = instant(scratch)
    rounds = 15 if is_quick else 60
    return [
        _start_table(bots, notes, rounds),
        _request_table(bots, notes, rounds),
        _frozen_table(3 if is_quick else 9),
        _meanwhile_table(200 if is_quick else 4000),
    ]


def _start_table(bots: dict[str, BotSpec], notes: tuple[str, ...], rounds: int) -> Table:
    rows: list[Row] = []
    for language, bot in bots.items():
        samples = interleaved({"none": _starter(bot, "none"), "sandbox": _starter(bot, "sandbox")}, rounds)
        bare_s, boxed_s = median(samples["none"]), median(samples["sandbox"])
        more = _difference(samples["sandbox"], samples["none"], _MS, 2, _START_GOAL)
        rows.append((language, Figure(bare_s * _MS, 2), Figure(boxed_s * _MS, 2), more))
    took_s = interleaved({"probe": _probe_s}, 3 if rounds < 20 else 9)["probe"]
    remarks = (
        "from the call to the bot's hello; the difference is the median of differences within a round",
        f"the self-test before the first match of a league takes {median(took_s) * _MS:.0f} ms, once in each process",
    )
    headers = ("start of a bot", "bare\nms", "sandbox\nms", "difference\nms")
    return Table(title="Sandbox: start", headers=headers, rows=tuple(rows), notes=notes + remarks)


def _difference(more: list[float], less: list[float], unit: float, digits: int, goal: Goal | None = None) -> Figure:
    """Return the median difference of samples of the same round, with its error."""
    differences = [(a - b) * unit for a, b in zip(more, less, strict=True)]
    return Figure(median(differences), digits, goal, error_of_median(differences))


def _starter(bot: BotSpec, isolation: Isolation) -> Callable[[], float]:
    def start() -> float:
        begun_s = time.perf_counter()
        channel = open_channel(bot, Confinement(isolation, _LIMITS))
        clock = MoveClock(cpu=channel.cpu, wall=time.monotonic, budget_s=10.0, wall_s=10.0, decides_cpu=False)
        channel.send(_HELLO, clock)
        channel.receive(clock)
        took_s = time.perf_counter() - begun_s
        channel.close(0.0)
        return took_s

    return start


def _probe_s() -> float:
    begun_s = time.perf_counter()
    self_test.attempt_escapes()
    return time.perf_counter() - begun_s


def _request_table(bots: dict[str, BotSpec], notes: tuple[str, ...], rounds: int) -> Table:
    rows: list[Row] = []
    ponder = msgspec.structs.replace(CLOCK, ponder=True)
    spec = match_of(NIM)
    for language, bot in bots.items():
        pair = (bot, bot)
        with (
            one_core(),
            seated(NIM, pair, ponder, isolation="none") as bare,
            seated(NIM, pair, ponder) as boxed,
            seated(NIM, pair) as frozen,
        ):
            tables = {"bare": bare, "boxed": boxed, "frozen": frozen}
            requests = sum(seat.moves for seat in play_match(spec, bare).seats)
            timers = {name: _timer(bot_players, requests) for name, bot_players in tables.items()}
            samples = interleaved(timers, rounds)
        rows.append(
            (
                language,
                *(Figure(median(samples[name]) * _US) for name in ("bare", "boxed", "frozen")),
                _difference(samples["boxed"], samples["bare"], _US, 1),
                _difference(samples["frozen"], samples["boxed"], _US, 1, _FREEZE_GOAL),
            )
        )
    headers = ("a request", "bare\nus", "sandbox, ponder\nus", "sandbox, frozen\nus", "the box\nus", "the freeze\nus")
    more = ("nim, one core, whole matches by the referee divided by their requests",)
    return Table(title="Sandbox: request", headers=headers, rows=tuple(rows), notes=notes + more)


def _timer(bot_players: list[BotPlayer], requests: int) -> Callable[[], float]:
    spec = match_of(NIM)

    def play_ten() -> float:
        begun_s = time.perf_counter()
        for _ in range(10):
            play_match(spec, bot_players)
        return (time.perf_counter() - begun_s) / 10 / requests

    return play_ten


def _frozen_table(rounds: int) -> Table:
    rows: list[Row] = []
    for may_ponder in (True, False):
        burnt_s = [_burnt_s(may_ponder=may_ponder) for _ in range(rounds)]
        label = "let run (`ponder: true`)" if may_ponder else "frozen"
        shown = Figure(max(burnt_s) * _MS / _FROZEN_S, 2, None if may_ponder else _BURN_GOAL)
        rows.append((label, Figure(median(burnt_s) * _MS / _FROZEN_S, 2), shown))
    return Table(
        title="Sandbox: a bot with a burning thread while the other is on move",
        headers=("the bot is", "CPU ms per s\nmedian", "CPU ms per s\nmost"),
        rows=tuple(rows),
        notes=(f"over {_FROZEN_S:g} s, by the kernel's clock of its process, once it has stopped",),
    )


def _burnt_s(*, may_ponder: bool) -> float:
    channel = open_channel(own_bot("ponderer.py"), Confinement("sandbox", _LIMITS), may_ponder=may_ponder)
    clock = MoveClock(cpu=channel.cpu, wall=time.monotonic, budget_s=10.0, wall_s=10.0, decides_cpu=False)
    try:
        channel.send(_HELLO, clock)
        channel.receive(clock)
        channel.rest()
        time.sleep(_SETTLE_S)
        before_s = channel.cpu()
        time.sleep(_FROZEN_S)
        return channel.cpu() - before_s
    finally:
        channel.close(0.0)


def _meanwhile_table(rounds: int) -> Table:
    """Measure a bot that thinks on after its answers while another moves, all on the core of two spinners."""
    with ExitStack() as stack:
        stack.enter_context(one_core())
        for _ in range(2):
            stack.callback(_end, subprocess.Popen([sys.executable, "-c", _SPIN]))
        ponderer = _opened(stack, "ponderer.py")
        rival = _opened(stack, "sleeper.py", str(_RIVAL_S))
        kinds = {"at its answer": ponderer.rest, "once the rival is waited for": ponderer.run_on}
        cases = {name: partial(_used_s, ponderer, rival, end) for name, end in kinds.items()}
        samples = interleaved(cases, rounds)
    rows = tuple(
        (name, Figure(median(used_s) * _MS, 2), Figure(sorted(used_s)[-1 - rounds // 1000] * _MS, 2))
        for name, used_s in samples.items()
    )
    return Table(
        title="Sandbox: what a bot uses between its answer and its next request",
        headers=("the bot is stopped", "CPU ms\nmedian", "CPU ms\n99.9th percentile"),
        rows=rows,
        notes=(
            f"{rounds} moves each, during which the rival sleeps {_RIVAL_S * _MS:g} ms",
            "this process, both bots and two spinning processes share one core",
            "all of it is charged to the next request, and a bot that used over 1 ms is stopped at its next 16 answers",
        ),
    )


def _opened(stack: ExitStack, name: str, *arguments: str) -> Channel:
    channel = open_channel(own_bot(name), Confinement("sandbox", _LIMITS), arguments)
    stack.callback(channel.close, 0.0)
    return channel


def _used_s(ponderer: Channel, rival: Channel, end: Callable[[], None]) -> float:
    """Return the CPU seconds of the one bot from its answer through a move of the other."""
    _ask(ponderer)
    before_s = ponderer.cpu()
    end()
    _ask(rival, stop_others=ponderer.stop)
    rival.rest()
    return ponderer.cpu() - before_s


def _ask(channel: Channel, stop_others: Callable[[], object] | None = None) -> None:
    clock = MoveClock(cpu=channel.cpu, wall=time.monotonic, budget_s=10.0, wall_s=10.0, decides_cpu=False)
    channel.before_wait(stop_others)
    channel.wake()
    channel.send(_HELLO, clock)
    channel.receive(clock)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
