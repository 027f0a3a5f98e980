"""The capabilities for programs that learn, checked: `all_actions` and `encode`, where a game has them.

Rule: as in `arena.conformance.game`, a check yields sentences for the author of the game, and none if all is well.
"""

import json
from collections.abc import Callable, Iterator

import msgspec

from arena.conformance.play import PlayedTable
from arena.games.api import Json, Seat, action_numbers_of, encoder_of


def numbered_actions(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless `all_actions`, if there, lists each legal action once, in an order that never changes.

    A position whose `legal` gives None is a finding, too.
    """
    numbers = action_numbers_of(table.game, table.options, table.seats)
    if numbers is None:
        return
    again = action_numbers_of(table.game, table.options, table.seats) or {}
    if list(again.items()) != list(numbers.items()) or [*numbers.values()] != [*range(len(numbers))]:
        yield "all_actions lists an action twice, or gives another order when it is asked again"
    for place, step, seat, action in table.decisions():
        legal = table.game.legal(step.state, seat)
        if legal is None:
            yield f"{place}: legal gives None, so the actions have no numbers: list them, or leave all_actions out"
        unknown = [listed for listed in (action, *(legal or ())) if listed not in numbers]
        if unknown:
            yield f"{place}: all_actions does not list {unknown[0]}, which is legal here"


def encoded_views(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless `encode` gives finite numbers of one shape, equal for equal views, and changes no view."""
    encode = encoder_of(table.game)
    if encode is None or not _can_encode(table, encode):
        return
    shape: tuple[int, ...] | None = None
    later: list[tuple[str, Json, Json]] = []
    for place, step in table.steps():
        for seat in table.all_seats():
            view = table.game.observe(step.state, seat)
            text = msgspec.json.encode(view)
            code = encode(view)
            if msgspec.json.encode(view) != text:
                yield f"{place}: encode changes the view of seat {seat}"
            shape = shape or shape_of(code)
            if not shape or shape_of(code) != shape:
                yield f"{place}: encode gives {shape_of(code)}, expected finite numbers, in the same shape {shape}"
            later.append((f"{place}, seat {seat}", json.loads(text), code))
    for place, view, code in reversed(later):
        if encode(view) != code:
            yield f"{place}: encode gives other numbers for the same view as a bot reads it, or when it is asked again"


def training_data(table: PlayedTable) -> bytes:
    """Return the numbered actions and the encoded views of the plays as JSON, to compare across processes."""
    numbers, encode = action_numbers_of(table.game, table.options, table.seats), encoder_of(table.game)
    views = [table.game.observe(step.state, seat) for _, step in table.steps() for seat in table.all_seats()]
    codes = [encode(view) for view in views] if encode is not None and _can_encode(table, encode) else []
    return msgspec.json.encode(([*(numbers or ())], codes))


def _can_encode(table: PlayedTable, encode: Callable[[Json], Json]) -> bool:
    """Return True if `encode` takes the first view of seat 0, False at its ValueError: it refuses these options."""
    try:
        encode(table.game.observe(table.plays[0][0].state, Seat(0)))
    except ValueError:
        return False
    return True


def shape_of(value: Json) -> tuple[int, ...]:
    """Return the numpy shape of lists of finite numbers; `()` for any other value."""
    import numpy as np  # noqa: PLC0415 - it takes 0.1 s that most commands do not need

    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return ()
    is_numeric = array.dtype.kind in "iuf"  # neither texts of digits nor truth values
    return array.shape if is_numeric and array.size and np.isfinite(array).all() else ()
