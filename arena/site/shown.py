"""The shapes of a match as the player in a browser gets it, and what the record tells of each step beside the game.

Rule: notes, stderr and hints are told of players who are named as private, and of nobody else.
"""

from collections.abc import Collection

import msgspec
from msgspec import UNSET

from arena.games.api import Json
from arena.match.record import ActionStep, MatchRecord
from arena.match.requests import banks_us, requests_by_step, stderr_by_step


class ShownStep(msgspec.Struct, omit_defaults=True):
    """A step by its number, 0 for the start, and the position after it.

    `key` of a draw or simulation. `news`: lines on what the step led to. `next`: seats that must act then. `used_ms`:
    time for this action, `total_ms`: of the match until then, `bank_ms`: left in the seat's bank then. `luck` of this
    step and `value`, the expected payoff after it, by seat. `view`, `still`: indices of views and stills, `motion` of
    the movement that a simulation gave. `fault`: the reason of a refusal or forfeit. `note` and `stderr` only of
    private players: what came on stderr since the answer before.
    """

    text: str
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
    view: int = 0
    still: int = 0
    motion: int | None = None


class ShownPlayer(msgspec.Struct, omit_defaults=True):
    """A player in a seat; `bot` are 8 digits of its hash, `banks_ms` its bank at the start and the end, if known.

    Only of private players: `stderr_before` the first answer, `stderr` after the last, and the `hint` of a forfeit.
    """

    name: str
    bot: str
    score: str = ""
    rank: int = 0
    luck: float | None = None
    total_ms: float = 0.0
    banks_ms: tuple[float, float] | None = None
    stderr_before: str = ""
    stderr: str = ""
    hint: str = ""


class Mark(msgspec.Struct):
    """A step worth a jump: `kind` is `luckiest draw`, `largest swing` or `fault`; `text` tells more."""

    kind: str
    step: int
    text: str


class MatchData(msgspec.Struct):
    """All of a match page. `module`: the drawing module of the game, empty if it brings none; `info` its constants.

    `stills`, `views`, `motions`: JSON lists, deflated, in base64. `pictured`: the steps with stills, if not all have
    one. `others`: the matches of the block on the same luck. `notice`: a sentence if something is left out.
    """

    id: str
    game: str
    title: str
    result: str
    module: str
    players: tuple[ShownPlayer, ...]
    others: tuple[str, ...]
    steps: list[ShownStep]
    marks: list[Mark]
    info: dict[str, Json] = {}
    stills: str = ""
    pictured: list[int] = []
    views: str = ""
    motions: str = ""
    notice: str = ""


def tell_faults(steps: list[ShownStep], record: MatchRecord) -> None:
    """The reason of each fault, in the step that it led to."""
    for step, each in zip(steps[1:], record.steps, strict=True):
        step.fault = each.fallback_for if isinstance(each, ActionStep) else ""
    for entry in record.seats:
        for refused in entry.refusals or ():
            if refused.step < len(steps):
                steps[refused.step].fault = f"{refused.code}: {refused.message}"
    if record.fault is not None:
        steps[-1].fault = f"{record.termination}: {record.fault.message}"


def tell_time(data: MatchData, record: MatchRecord) -> None:
    """The time of each action and the bank after it, as far as the record tells which requests were for which action.

    The time of refused answers counts for the action after them.
    """
    banks = [banks_us(entry, record.clock) for entry in record.seats]
    for player, own in zip(data.players, banks, strict=True):
        player.banks_ms = (own[0] / 1000, own[-1] / 1000) if own else None
    totals_us = [0] * len(banks)
    for index, numbers in sorted(requests_by_step(record).items()):
        step = data.steps[index + 1]
        assert step.seat is not None, "an answer has a seat"
        spent_us = sum(_spent_us(record, step.seat)[number - 1] for number in numbers)
        totals_us[step.seat] += spent_us
        step.used_ms, step.total_ms = spent_us / 1000, totals_us[step.seat] / 1000
        step.bank_ms = banks[step.seat][numbers[-1]] / 1000


def _spent_us(record: MatchRecord, seat: int) -> tuple[int, ...]:
    """Microseconds by request that counted."""
    entry = record.seats[seat]
    return () if entry.requests is UNSET else entry.requests.deciding_us(entry.decides)


def tell_private(data: MatchData, record: MatchRecord, private: Collection[str]) -> None:
    """Notes, hints and all that was kept of stderr, at the step at which it came; of these players only."""
    for step, each in zip(data.steps[1:], record.steps, strict=True):
        if isinstance(each, ActionStep) and record.players[each.seat] in private:
            step.note = each.note
    for player, texts in zip(data.players, stderr_by_step(record), strict=True):
        if player.name in private:
            player.stderr_before, player.stderr = texts.before, texts.rest
            for index, text in texts.at.items():
                data.steps[index + 1].stderr = text
    if record.fault is not None and record.players[record.fault.seat] in private:
        guilty = data.players[record.fault.seat]
        guilty.stderr, guilty.hint = guilty.stderr or record.fault.stderr, record.fault.hint
