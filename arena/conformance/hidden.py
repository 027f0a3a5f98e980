"""Hidden information, checked: no seat learns from events, texts and legal actions what its view hides.

Rule: as in `arena.conformance.game`, a check yields sentences for the author of the game, and none if all is well.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from arena.conformance.play import AnyGame, GameStep, HiddenDraw, PlayedTable
from arena.errors import BotFault
from arena.games.api import Dice, Over, Seat, Shuffle, Simulation, describe_for, heard_of

_LISTED: Final = 3
"""Legal actions from either end of the list; each pair of them is compared."""
_DRAWN_AGAIN: Final = 40
"""Other outcomes of a draw with which the views of the seats are compared."""
_WALKS: Final = 6
"""Plays that are repeated with other hidden luck, for each hidden draw."""


def private_actions(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless two actions that a seat cannot tell apart give it equal events.

    Actions that lead to one state are an exception.
    """
    game, heard = table.game, heard_of(table.game)
    for place, step, seat, sampled in table.decisions():
        after = [
            (act, game.apply(step.state, {**step.actions, seat: act}))
            for act in _actions_to_compare(table, step, seat, sampled)
        ]
        for other in set(table.all_seats()) - {seat}:
            seen: dict[bytes, tuple[Any, Any, bytes]] = {}
            for action, state in after:
                heard_action = action if heard is None else heard(step.state, seat, action)[other]
                event, view = msgspec.json.encode(heard_action), msgspec.json.encode(game.observe(state, other))
                first, state_of_first, event_of_first = seen.setdefault(view, (action, state, event))
                if event != event_of_first and state != state_of_first:
                    yield (
                        f"{place}: seat {other} cannot tell {first} and {action} apart in its view, but hears which it"
                        " was: show it in the view, or hide it with `heard`"
                    )


def _actions_to_compare(table: PlayedTable, step: GameStep, seat: Seat, sampled: Any) -> Sequence[Any]:
    """Return up to three legal actions from either end of the list; the sampled one if the game cannot list them."""
    legal = table.game.legal(step.state, seat)
    if legal is not None:
        return legal if len(legal) <= 2 * _LISTED else [*legal[:_LISTED], *legal[-_LISTED:]]
    return (sampled,)


def hidden_draws(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless each draw that is not public hides something from a seat.

    Games whose seats hear no actions are skipped.
    """
    if _hears_nothing(table):
        return
    for draw in table.hidden_draws():
        after = draw.step.after
        others = [state for state in alternative_states(table.game, draw) if state != after]
        if others and not any(looks_alike(table, seat, after, state) for seat in table.all_seats() for state in others):
            yield (
                f"play {draw.play}, step {draw.at}: {draw.turn.key} is not public, and every seat sees all of it: hide"
                " it, or make it public"
            )


def _hears_nothing(table: PlayedTable) -> bool:
    """Return True if no seat hears an action of another."""
    heard = heard_of(table.game)
    return heard is not None and all(
        heard_action is None
        for _, step, seat, action in table.decisions()
        for other, heard_action in enumerate(heard(step.state, seat, action))
        if other != seat
    )


def hidden_texts(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless the text for a person follows from their view."""
    game = table.game
    for draw in table.hidden_draws():
        for state in alternative_states(game, draw):
            for seat in table.all_seats():
                texts = {describe_for(game, shown, seat, ()) for shown in (state, draw.step.after)}
                if len(texts) > 1 and looks_alike(table, seat, draw.step.after, state):
                    yield (
                        f"play {draw.play}, step {draw.at}: the text for the person in seat {seat} tells what"
                        f" {draw.turn.key} hides from them: write describe_for"
                    )


def alternative_states(game: AnyGame, draw: HiddenDraw) -> list[Any]:
    """Return the states after some outcomes of a draw, each changed as little as possible.

    Of dice and choices the outcome that was drawn may be among them.
    """
    turn, drawn = draw.turn, draw.step.drawn
    places = range(len(drawn))
    if isinstance(turn.kind, Shuffle):
        pairs = islice(((i, j) for i in reversed(places) for j in places[:i]), _DRAWN_AGAIN)
        changed = [swap_items(drawn, *pair) for pair in pairs]
    elif isinstance(turn.kind, Dice):
        faces = range(1, min(turn.kind.faces, _DRAWN_AGAIN) + 1)
        changed = [(*drawn[:at], face, *drawn[at + 1 :]) for at in places for face in faces]
    else:
        changed = [(index,) for index, weight in enumerate(turn.kind.weights) if weight]
    return [game.resolve(draw.step.state, outcome) for outcome in changed]


def swap_items(drawn: tuple[int, ...], i: int, j: int) -> tuple[int, ...]:
    """Return the outcome of a shuffle with the items at two places exchanged."""
    items = list(drawn)
    items[i], items[j] = items[j], items[i]
    return tuple(items)


def looks_alike(table: PlayedTable, seat: Seat, one: Any, other: Any) -> bool:
    """Return True if the seat has the same view of both states."""
    return msgspec.json.encode(table.game.observe(one, seat)) == msgspec.json.encode(table.game.observe(other, seat))


def hidden_legal(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless equal views with other luck allow the same: legal actions must tell nothing hidden."""
    for draw in table.hidden_draws():
        for state in alternative_states(table.game, draw)[:_WALKS]:
            for place, seat in _find_leak(table, state, draw.later_steps):
                yield (
                    f"play {draw.play}, {place} steps after {draw.turn.key}: with other hidden luck seat {seat}"
                    " has the same view and other legal actions, which tell it what is hidden"
                )


def _find_leak(table: PlayedTable, state: Any, later_steps: Sequence[GameStep]) -> Iterator[tuple[int, Seat]]:
    """Repeat a play with other hidden luck; yield the first decision whose legal actions reveal it, and the seat."""
    game, unaware = table.game, set(table.all_seats())
    for number, (step, other, _) in enumerate(replay_steps(game, state, later_steps), start=1):
        unaware = {seat for seat in unaware if looks_alike(table, seat, other, step.state)}
        if not unaware or type(game.turn(other)) is not type(step.turn):
            return
        for seat in unaware & set(step.actions):
            if game.legal(other, seat) != game.legal(step.state, seat):
                yield number, seat
                return


def replay_steps(game: AnyGame, state: Any, later_steps: Sequence[GameStep]) -> Iterator[tuple[GameStep, Any, str]]:
    """Yield each step of a play with the state in its place, from another state on, while actions and draws fit.

    The last item has the reason why the play cannot go on, empty at its end.
    """
    for step in later_steps:
        reason = _why_not_on(game, state, step)
        yield step, state, reason
        if reason or isinstance(step.turn, Over):
            return
        state = game.resolve(state, step.drawn) if step.drawn else game.apply(state, step.actions)


def _why_not_on(game: AnyGame, state: Any, step: GameStep) -> str:
    """Return the reason why a play cannot go on from another state as it did; empty if it can."""
    if isinstance(step.turn, Simulation):
        return "a simulation follows"
    if game.turn(state) != step.turn:
        return "another turn comes"
    return "" if is_allowed(game, state, step) else "an action is legal no more"


def is_allowed(game: AnyGame, state: Any, step: GameStep) -> bool:
    """Return True if the actions of the step are legal in another state."""
    return all(_is_legal(game, state, seat, action) for seat, action in step.actions.items())


def _is_legal(game: AnyGame, state: Any, seat: Seat, action: Any) -> bool:
    """Return True if an action is legal: if it is listed or, in a game that lists none, parsed as itself."""
    legal = game.legal(state, seat)
    if legal is not None:
        return action in legal
    try:
        return bool(game.parse(state, seat, msgspec.to_builtins(action)) == action)
    except BotFault:
        return False
