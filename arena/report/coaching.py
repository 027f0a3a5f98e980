"""A judged match as text, and as plain data for programs."""

from collections.abc import Iterator, Sequence
from math import fsum
from typing import Any, Final

import msgspec

from arena.games import load_game
from arena.games.api import Json
from arena.match.judgement import JudgedDecision, Judgement, Ledger
from arena.match.record import MatchRecord
from arena.match.replay import state_before
from arena.report.formats import Column, Style, clip_names, intervals
from arena.report.transcript import result_line
from arena.standings.mistakes import LeagueMistakes
from arena.text import counted, printable

COSTLIEST: Final = 5
"""The number of mistakes that are shown with their positions."""
_TERMS: Final = {
    "start": "value of the start",
    "luck": "luck of the draws",
    "others": "mistakes of others",
    "own": "own mistakes",
    "unexplained": "unexplained",
    "payoff": "result",
}


def coaching_lines(
    record: MatchRecord, judgement: Judgement, seats: Sequence[int], style: Style, others: Sequence[Judgement] = ()
) -> Iterator[str]:
    """Yield the totals of these seats, the ledger of all, and the costliest decisions with their positions.

    These are `COSTLIEST` at most; below each stands what the `others` think of it. CheckFailed as from `replay`.
    """
    yield result_line(record)
    yield f"judged by {judgement.by}; all values in percent of a win"
    yield ""
    yield style.table(_totals(record, judgement, seats))
    for reason, count in _unjudged(judgement, seats).items():
        yield f"not judged: {counted(count, 'decision')}, {reason}"
    yield ""
    yield style.table(_ledger(record, judgement))
    for other in others:
        disputed = [one for one in judgement.disagreements(other) if one.seat in seats]
        yield f"a mistake to only one of this judge and {other.by}: {counted(len(disputed), 'decision')}"
    costliest = judgement.costliest(COSTLIEST, seats)
    yield ""
    yield "the costliest decisions:" if costliest else "no mistakes"
    game = load_game(record.game)
    for decision in costliest:
        yield ""
        yield f"step {decision.step}: {record.players[decision.seat]} {mistake_text(decision)}"
        yield from (f"    {other.by}: {_second_text(other, decision)}" for other in others)
        yield from (
            f"    {line}" for line in game.describe(state_before(record, decision.step), record.players).splitlines()
        )


def mistake_text(decision: JudgedDecision) -> str:
    """Describe a mistake, and a fault behind it: `rolls; better by 13.3 %: calls shanghai (78.0 %)`."""
    fault = (
        f" ({'stands in' if decision.chosen else 'forfeits'} after a fault: {decision.fault})" if decision.fault else ""
    )
    return f"{decision.chosen}{fault}; {better_text(decision)}".lstrip()


def better_text(decision: JudgedDecision) -> str:
    """Describe the best action: `better by 13.3 %: calls shanghai (78.0 %)`."""
    error = f" ±{_percent(decision.error)}" if decision.error else ""
    return f"better by {_percent(decision.cost)}{error} %: {decision.best} ({_percent(decision.best_value)} %)"


def _second_text(other: Judgement, mistake: JudgedDecision) -> str:
    """Return what another judge of the same match thinks of a decision that is a mistake to the first one."""
    decision = next(one for one in other.decisions if (one.step, one.seat) == (mistake.step, mistake.seat))
    if decision.reason:
        return f"not judged, {decision.reason}"
    return better_text(decision) if decision.is_mistake else "no mistake"


def mistakes_by_step(judgement: Judgement) -> dict[int, str]:
    """Return the better action of each mistake, by step."""
    return {one.step: better_text(one) for one in judgement.decisions if one.is_mistake}


def coaching_data(record: MatchRecord, judgement: Judgement, seats: Sequence[int]) -> dict[str, Json]:
    """Return the judgement as JSON values: every decision of these seats, and the ledger of all."""
    data: dict[str, Any] = msgspec.to_builtins(judgement)
    decisions = [one for one in judgement.decisions if one.seat in seats]
    data["decisions"] = [
        {**msgspec.to_builtins(one), "cost": one.cost, "is_mistake": one.is_mistake} for one in decisions
    ]
    return {"match": record.match, "game": record.game, "players": record.players, **data}


def _totals(record: MatchRecord, judgement: Judgement, seats: Sequence[int]) -> list[Column]:
    """Return a row a player: decisions, mistakes, and what they cost."""
    judged = {seat: judgement.judged(seat) for seat in seats}
    costs = {seat: fsum(decision.cost for decision in judged[seat]) for seat in seats}
    made = {seat: sum(decision.seat == seat for decision in judgement.decisions) for seat in seats}
    return [
        Column("player", clip_names([record.players[seat] for seat in seats]), align="left", is_key=True),
        Column("decisions", [str(made[seat]) for seat in seats]),
        Column("mistakes", [str(sum(decision.is_mistake for decision in judged[seat])) for seat in seats]),
        Column("cost a decision", [_percent(costs[seat] / max(1, len(judged[seat])), 2) for seat in seats]),
        Column("cost in all", [_percent(costs[seat]) for seat in seats]),
    ]


def _unjudged(judgement: Judgement, seats: Sequence[int]) -> dict[str, int]:
    """Return the number of decisions that are not judged, by the reason."""
    reasons = [decision.reason for decision in judgement.decisions if decision.seat in seats and decision.reason]
    return {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)}


def _ledger(record: MatchRecord, judgement: Judgement) -> list[Column]:
    """Return the ledger, a term a row and a player a column, and whose values stand behind a term."""
    sources = {"start": judgement.start_from, "luck": judgement.luck_from or "no luck measured"}
    columns = [Column("", [*_TERMS.values()], align="left", is_key=True)]
    for name, ledger in zip(clip_names(record.players), judgement.ledgers, strict=True):
        columns.append(Column(name, [_term(ledger, term) for term in _TERMS]))
    return [*columns, Column("by", [sources.get(term, "") for term in _TERMS], align="left")]


def _term(ledger: Ledger, term: str) -> str:
    """Format a term: start and result as they are, changes with their sign, own mistakes as a loss."""
    value = float(getattr(ledger, term))
    if term in {"start", "payoff"}:
        return _percent(value)
    return f"{(-value if term == 'own' else value) * 100 + 0.0:+.1f}"


def _percent(share: float, places: int = 1) -> str:
    return f"{share * 100 + 0.0:.{places}f}"


def league_lines(mistakes: LeagueMistakes, style: Style) -> Iterator[str]:
    """Yield the cost of a decision of each player beside the rating, and what was not judged."""
    players = mistakes.players
    yield f"{mistakes.league}: {mistakes.judged} of {counted(mistakes.stored, 'match', 'matches')}"
    yield f"judged by {mistakes.by}"
    yield ""
    yield style.table(
        [
            Column("player", clip_names([player.name for player in players]), align="left", is_key=True),
            Column("rating\n±95 %", intervals([player.rating for player in players])),
            Column("matches", [str(player.matches) for player in players]),
            Column("decisions", [str(player.decisions) for player in players]),
            Column("mistakes", [str(player.mistakes) for player in players]),
            Column("cost a decision\n% of a win ±95 %", intervals([player.cost for player in players], 2, 100.0)),
        ]
    )
    if unjudged := sum(player.unjudged for player in players):
        yield f"not judged: {counted(unjudged, 'decision')}"
    for reason, count in mistakes.failures.items():
        yield f"not judged: {counted(count, 'match', 'matches')}: {printable(reason)}"
