"""Hidden draws over a whole play: the first step at which the view of a seat depends on an item of a draw.

Rule: a play is repeated with the same actions and one change of a hidden draw: two items of a shuffle change places, a
die shows another face, a choice falls otherwise. Until a seat sees the item its views of both plays are equal. A game
that declares `may_know` is held to it; for another one the steps are listed, for its author to read.

After a choice by weights the next one may mean something else, such as another of the cards that are left: of the
hidden choices of a play only the last is changed. A play with a change may not go on as the first one did: an action is
legal no more, another turn comes, or a simulation, which is not made again. The comparison ends there.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple, TypeVar

from arena.conformance.hidden import looks_alike, replay_steps, swap_items
from arena.conformance.play import HiddenDraw, PlayedTable
from arena.games.api import Dice, Over, Seat, Shuffle, Weighted, may_know_of
from arena.text import shorten

T = TypeVar("T")
_MOST: Final = 16
"""The most draws of a play, and items of a draw, to change: the first, the last, and some between."""
_OTHER_OUTCOMES: Final = 2
"""Other outcomes to try of a die or a choice."""
_DISTANCES: Final = (1, 2)
"""Distances to later items to exchange an item with, besides the item before it and the last one."""
_LONGEST: Final = 800
"""The most characters of the list for a seat."""


class Change(NamedTuple):
    """A changed draw: another `outcome` of a hidden draw, different in one or two of its `items`."""

    draw: HiddenDraw
    items: tuple[int, ...]
    outcome: tuple[int, ...]


class PlayComparison(NamedTuple):
    """The comparison of a play with the same play after a change.

    `seen`: by seat, the first step, from 1, at which its views differ before it may know the items. `end` is the step
    at which the comparison ended early, and `reason` says why. `is_visible`: the text of the whole state differs, too.
    """

    seen: dict[Seat, int]
    end: int | None
    reason: str
    is_visible: bool


def early_views(table: PlayedTable) -> Iterator[str]:
    """Find views that depend on an item of a hidden draw before the game declares that the seat may know it.

    Nothing for a game without `may_know`.
    """
    if may_know_of(table.game) is None:
        return
    for number in range(1, len(table.plays) + 1):
        for change in _changes_of_play(table, number):
            for seat, step in _compare_plays(table, change).seen.items():
                yield (
                    f"play {number}, step {step}: the view of seat {seat} follows from {_name_items(change.items)} of"
                    f" `{change.draw.turn.key}`, which it may not know yet by `may_know`"
                )


def sightings(table: PlayedTable) -> Iterator[str]:
    """Yield for each seat the step of the first play at which it sees each item of the hidden draws.

    For a game that declares `may_know`, yield only the items that no change can follow to the end.
    """
    comparisons = defaultdict[str, defaultdict[int, list[PlayComparison]]](lambda: defaultdict(list))
    for change in _changes_of_play(table, 1):
        comparisons[change.draw.turn.key][change.items[0]].append(_compare_plays(table, change))
    if may_know_of(table.game) is not None:
        yield from _describe_dead_ends(comparisons)
        return
    for seat in table.all_seats() if comparisons else ():
        phrases = [phrase for key, by_item in comparisons.items() for phrase in _sighting_phrases(seat, key, by_item)]
        yield shorten(f"seat {seat} sees {', '.join(phrases)}", _LONGEST)


def _describe_dead_ends(comparisons: Mapping[str, Mapping[int, Sequence[PlayComparison]]]) -> Iterator[str]:
    """Yield the items that no change can follow to the end of the play, with the step and the reason."""
    for key, by_item in comparisons.items():
        ends = {item: max(plays, key=lambda play: play.end or math.inf) for item, plays in by_item.items()}
        for (end, reason), items in groupby(ends, key=lambda item: (ends[item].end, ends[item].reason)):
            if end is not None:
                yield f"{_name_items([*items])} of `{key}` cannot be followed beyond step {end}: there {reason}"


def _sighting_phrases(seat: Seat, key: str, comparisons: Mapping[int, Sequence[PlayComparison]]) -> Iterator[str]:
    """Yield the items that a seat sees at one step, such as `item 5 of prizes at step 8`."""
    for step, items in groupby(comparisons, key=lambda item: _describe_sighting(seat, comparisons[item])):
        yield f"{_name_items([*items])} of `{key}` {step}"


def _name_items(places: Sequence[int]) -> str:
    """Name items by their numbers: `item 5`, `items 5 and 6`."""
    return f"item{'s' if len(places) > 1 else ''} {' and '.join(map(str, places))}"


def _describe_sighting(seat: Seat, comparisons: Sequence[PlayComparison]) -> str:
    """Return the step at which a seat sees an item, in words.

    The latest difference counts: an exchange with an item that the seat saw earlier shows earlier, and an exchange of
    items that nobody can tell apart shows never.
    """
    steps = [
        (comparison.seen.get(seat, comparison.end or math.inf), seat not in comparison.seen, comparison.reason)
        for comparison in comparisons
        if comparison.seen or comparison.end or comparison.is_visible
    ]
    step, is_unseen, reason = max(steps, default=(math.inf, True, ""))
    if math.isinf(step):
        return "never"
    return f"not before step {step}: there {reason}" if is_unseen else f"at step {step}"


def _changes_of_play(table: PlayedTable, number: int) -> Iterator[Change]:
    """Yield the changes to try in the play of that number, from 1: two items of a shuffle swapped, or one item redrawn.

    Draws and items are a sample, evenly chosen; of weighted draws only the last is taken.
    """
    draws = [draw for draw in table.hidden_draws() if draw.play == number]
    choices = [draw.at for draw in draws if isinstance(draw.turn.kind, Weighted)]
    for draw in _choose_evenly([draw for draw in draws if draw.at not in choices[:-1]]):
        kind, drawn = draw.turn.kind, draw.step.drawn
        for item in _choose_evenly(range(len(drawn))):
            if isinstance(kind, Shuffle):
                last = len(drawn) - 1
                others = {item - 1, *(item + distance for distance in _DISTANCES), last}
                for other in sorted(other for other in others if 0 <= other <= last and other != item):
                    yield Change(draw, (item, other), swap_items(drawn, item, other))
            else:
                for outcome in _other_outcomes(kind, drawn[item]):
                    yield Change(draw, (item,), (*drawn[:item], outcome, *drawn[item + 1 :]))


def _choose_evenly(places: Sequence[T]) -> list[T]:
    """Return up to `_MOST` of the places, spread evenly from the first to the last."""
    last = len(places) - 1
    return [*places] if last < _MOST else [places[number * last // (_MOST - 1)] for number in range(_MOST)]


def _other_outcomes(kind: Dice | Weighted, drawn: int) -> list[int]:
    """Return some outcomes of a die or a choice that could have come instead of `drawn`."""
    faces = range(1, kind.faces + 1) if isinstance(kind, Dice) else range(len(kind.weights))
    possible = [face for face in faces if isinstance(kind, Dice) or kind.weights[face]]
    return [face for face in possible if face != drawn][:_OTHER_OUTCOMES]


def _compare_plays(table: PlayedTable, change: Change) -> PlayComparison:
    """Repeat the play with a change, until every seat has seen it or may know the items."""
    game, may_know, draw = table.game, may_know_of(table.game), change.draw
    changed = game.resolve(draw.step.state, change.outcome)
    unaware, seen, is_visible = {*table.all_seats()}, dict[Seat, int](), False

    def may_know_items(seat: Seat, states: Sequence[Any]) -> bool:
        """Return True if the seat may know a changed item in one of these states."""
        items = ((now, item) for now in states for item in change.items)
        return may_know is not None and any(may_know(now, seat, draw.turn.key, item) for now, item in items)

    for number, (step, state, reason) in enumerate(replay_steps(game, changed, draw.later_steps), start=draw.at + 1):
        unaware -= {seat for seat in unaware if may_know_items(seat, (step.state, state))}
        differing = {seat for seat in unaware if not looks_alike(table, seat, step.state, state)}
        seen |= dict.fromkeys(sorted(differing), number)
        unaware -= differing
        is_visible = is_visible or (may_know is None and game.describe(step.state) != game.describe(state))
        if reason:  # an action may be legal no more because it shows the item
            unaware -= {seat for seat in unaware if may_know_items(seat, (step.after,))}
        if not unaware or reason or isinstance(step.turn, Over):
            return PlayComparison(seen, number if unaware and reason else None, reason, is_visible)
    raise ValueError("a play without an end")
