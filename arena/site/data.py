"""The data types of a match for the player in a browser, and what the record adds to each step of the game.

Rule: notes, stderr and hints are included for players who are named as private, and for no others.
"""

from collections.abc import Collection
from typing import Final

import msgspec
from msgspec import UNSET

from arena.games.api import Json
from arena.match.judgement import Judgement
from arena.match.record import ActionStep, MatchRecord
from arena.match.requests import banks_us, requests_by_step, stderr_by_step
from arena.report.coaching import better_text

_PLACES: Final = 4
"""Decimals of a cost, in payoff."""


class StepData(msgspec.Struct, omit_defaults=True):
    """A step by its number, 0 for the start, and the position after it.

    `detail`: its numbers, apart from the words of `text`. `key` of a draw or simulation. `news`: lines on what the step
    led to. `next`: seats that must act then. `used_ms`: time for this action, `total_ms`: of the match until then,
    `bank_ms`: left in the seat's bank then. `luck` of this step and `value`, the expected payoff after it, by seat;
    `points` by then, and `stake`: what the end of the round would add now. `cost`: that of the decision, in payoff, and
    the `better` action in words. `view`, `still`: indices of views and stills, `motion` of the movement that a
    simulation gave. `fault`: the reason of a refusal or forfeit. `note` and `stderr` only of private players: what came
    on stderr since the answer before.
    """

    text: str
    detail: str = ""
    kind: str = "action"
    key: str = ""
    seat: int | None = None
    round: int = 0
    next: tuple[int, ...] = ()
    fault: str = ""
    note: str = ""
    stderr: str = ""
    news: tuple[str, ...] = ()
    used_ms: float | None = None
    total_ms: float | None = None
    bank_ms: float | None = None
    luck: tuple[float, ...] = ()
    value: tuple[float, ...] = ()
    points: tuple[float, ...] = ()
    stake: tuple[float, ...] = ()
    cost: float = 0.0
    better: str = ""
    view: int = 0
    still: int = 0
    motion: int | None = None


class PlayerData(msgspec.Struct, omit_defaults=True):
    """A player in a seat; `bot` are 8 digits of its hash, `banks_ms` its bank at the start and the end, if known.

    `colours` of the player on white and on black, and its `shape` in a box of 24 by 24, the same in all its matches.

    Only of private players: `stderr_before` the first answer, `stderr` after the last, and the `hint` of a forfeit.
    """

    name: str
    bot: str
    colours: tuple[str, str]
    shape: str
    score: str = ""
    rank: int = 0
    luck: float | None = None
    total_ms: float = 0.0
    banks_ms: tuple[float, float] | None = None
    stderr_before: str = ""
    stderr: str = ""
    hint: str = ""


class Mark(msgspec.Struct):
    """A step worth jumping to, with the details as `text`; `size` of a swing or a mistake, in payoff.

    `kind` is `luckiest draw`, `largest swing`, `costliest decision`, `lead` or `fault`.
    """

    kind: str
    step: int
    text: str
    size: float = 0.0


class MatchData(msgspec.Struct):
    """The data of a match page. `module`: the game's drawing module, empty if it has none; `info`: its constants.

    `stills`, `views`, `motions`: JSON lists, deflated, in base64. `pictured`: the steps with stills, if not all have
    one. `others`: the matches of the block on the same luck. `notice`: a sentence if something is left out.
    `origin`: the source of the luck. `unit`: the plural of what points count.
    """

    id: str
    game: str
    title: str
    result: str
    module: str
    players: tuple[PlayerData, ...]
    others: tuple[str, ...]
    steps: list[StepData]
    marks: list[Mark]
    info: dict[str, Json] = {}
    stills: str = ""
    pictured: list[int] = []
    views: str = ""
    motions: str = ""
    notice: str = ""
    origin: str = ""
    unit: str = ""


def add_faults(steps: list[StepData], record: MatchRecord) -> None:
    """Write the reason of each fault into the step that it led to; of the one that ended the match into the last."""
    for step, recorded_step in zip(steps[1:], record.steps, strict=True):
        step.fault = recorded_step.fallback_for if isinstance(recorded_step, ActionStep) else ""
    for entry in record.seats:
        for refusal in entry.refusals or ():
            if refusal.step < len(steps):
                steps[refusal.step].fault = f"{refusal.code}: {refusal.message}"
    if record.fault is not None:
        steps[-1].fault = f"{record.termination}: {record.fault.message}"


def add_costs(data: MatchData, judgement: Judgement, *others: Judgement) -> None:
    """Write the cost of each mistake and the better action into its step, and mark the costliest.

    Where one of the `others` sees no mistake, the step says so.
    """
    disputed = {(decision.step, other.by) for other in others for decision in judgement.disagreements(other)}
    for mistake in judgement.costliest(len(data.steps), range(len(data.players))):
        if mistake.step < len(data.steps):
            step = data.steps[mistake.step]
            doubts = [f"; no mistake by {other.by}" for other in others if (mistake.step, other.by) in disputed]
            step.cost = round(mistake.cost, _PLACES)
            step.better = f"{better_text(mistake)}, by {judgement.by}{''.join(doubts)}"
    for mistake in judgement.costliest(1, range(len(data.players))):
        name, step_number = data.players[mistake.seat].name, min(mistake.step, len(data.steps) - 1)
        data.marks.append(Mark("costliest decision", step_number, f"{name} {mistake.cost:.3f} of a win", mistake.cost))


def add_times(data: MatchData, record: MatchRecord) -> None:
    """Write times and banks, in ms, into steps and players, as far as the record assigns requests to actions.

    The time of refused answers is added to the action after them.
    """
    banks = [banks_us(entry, record.clock) for entry in record.seats]
    for player, seat_banks_us in zip(data.players, banks, strict=True):
        player.banks_ms = (seat_banks_us[0] / 1000, seat_banks_us[-1] / 1000) if seat_banks_us else None
    totals_us = [0] * len(banks)
    for index, numbers in sorted(requests_by_step(record).items()):
        step = data.steps[index + 1]
        assert step.seat is not None, "an answer has a seat"
        spent_us = sum(_spent_us(record, step.seat)[number - 1] for number in numbers)
        totals_us[step.seat] += spent_us
        step.used_ms, step.total_ms = spent_us / 1000, totals_us[step.seat] / 1000
        step.bank_ms = banks[step.seat][numbers[-1]] / 1000


def _spent_us(record: MatchRecord, seat: int) -> tuple[int, ...]:
    """Return the microseconds by which each request of a seat is judged, in order; empty if none is recorded."""
    entry = record.seats[seat]
    return () if entry.requests is UNSET else entry.requests.deciding_us(entry.decides)


def add_private(data: MatchData, record: MatchRecord, private: Collection[str]) -> None:
    """Write the notes, the hints and the kept stderr of the players in `private`, each at the step where it came."""
    for step, recorded_step in zip(data.steps[1:], record.steps, strict=True):
        if isinstance(recorded_step, ActionStep) and record.players[recorded_step.seat] in private:
            step.note = recorded_step.note
    for player, texts in zip(data.players, stderr_by_step(record), strict=True):
        if player.name in private:
            player.stderr_before, player.stderr = texts.before, texts.rest
            for index, text in texts.at.items():
                data.steps[index + 1].stderr = text
    if record.fault is not None and record.players[record.fault.seat] in private:
        guilty = data.players[record.fault.seat]
        guilty.stderr, guilty.hint = guilty.stderr or record.fault.stderr, record.fault.hint
