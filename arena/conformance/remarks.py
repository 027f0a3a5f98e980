"""What a few matches say of a bot's habits: lines that were no answers, answers that were refused, answers too late.

Rule: phrases for the bot's author, made from records alone; empty where there is nothing to tell.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import UNSET

from arena.match.record import REFUSALS_KEPT, MatchRecord, SeatRecord, Termination
from arena.protocol.messages import ClockTerms

_IDLE_MS: Final = 100.0
"""Less in a match is not worth a word."""


def bot_seat(record: MatchRecord, bot: str) -> SeatRecord:
    """The share of the bot with that hash."""
    return next(seat for seat in record.seats if seat.bot == bot)


def ignored_remark(records: Sequence[MatchRecord], bot: str) -> str:
    """`3 stale, 1 stray`."""
    return _added(bot_seat(record, bot).ignored for record in records)


def timeouts_remark(records: Sequence[MatchRecord], bot: str) -> str:
    """How many answers came too late without ending a match."""
    late = _pardoned(records, bot)[Termination.TIMEOUT]
    if not late:
        return ""
    timeouts = "1 timeout" if late == 1 else f"{late} timeouts"
    return f"{timeouts}, after which the match went on; the third in a match forfeits it"


def idle_remark(seats: Iterable[SeatRecord], terms: ClockTerms) -> str:
    """How long the bot slept or waited while it owed answers, in the match in which that was longest."""
    idle_ms = max((seat.idle_ms or 0.0 for seat in seats), default=0.0)
    if terms.idle_ms is UNSET or idle_ms < _IDLE_MS:
        return ""
    return (
        f"; in one match it was idle for {idle_ms / 1000:.1f} s while it owed answers, allowed are"
        f" {terms.idle_ms / 1000:g} s: it slept or waited"
    )


def refusals_remark(records: Sequence[MatchRecord], bot: str) -> str:
    """How many answers were refused, for which reasons as far as they were kept, and the first of them in full."""
    counts = _pardoned(records, bot)
    del counts[Termination.TIMEOUT]
    if not counts:
        return ""
    kept = [(record, each) for record in records for each in bot_seat(record, bot).refusals or ()]
    refused = [(record, each) for record, each in kept if each.code in counts]
    reasons = _added({each.reason or each.code: 1} for _, each in refused)
    which = "" if len(refused) == counts.total() else f", of the first {REFUSALS_KEPT} of each match"
    record, first = refused[0]
    return (
        f"refused answers: {_added([counts])}; by reason{which}: {reasons}\n"
        f"{record.match}, step {first.step}: {first.message}"
    )


def _pardoned(records: Sequence[MatchRecord], bot: str) -> Counter[str]:
    """Faults after which a match went on, by their code."""
    counts = Counter[str]()
    for record in records:
        faults = bot_seat(record, bot).faults
        counts.update({} if faults is UNSET else faults)
    return counts


def _added(counts: Iterable[Mapping[str, int]]) -> str:
    """All counts together, by their names."""
    total: Counter[str] = sum(map(Counter, counts), Counter())
    return ", ".join(f"{total[kind]} {kind}" for kind in sorted(total))
