"""The messages of `arena/1`, in both directions. protocol.md is this module in prose; the JSON Schema is made from it.

Rule: messages are frozen and may grow in both directions. Bots ignore unknown fields; so does the referee, and counts
them. The inside of `action` and `what` belongs to the game. Nobody edits docs/arena-1.schema.json by hand:
`python -m arena.protocol.messages > docs/arena-1.schema.json` makes it.
"""

import json
import sys
from inspect import cleandoc
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from arena.games.api import Json

PROTOCOL_MAJORS: Final = (1,)
PROTOCOL_MINOR: Final = 3
CAPABILITIES: Final = ("events", "simulate")
"""Bots may ask for these; `simulate` is offered only in games with a simulator."""
EVALUATE: Final = "evaluate"
"""The capability of an analyst; it is offered where a match is judged, and at the end of the conformance check."""

SafeInt = Annotated[int, Meta(ge=-(2**53), le=2**53)]
Milliseconds = Annotated[float, Meta(ge=0, le=1e12)]
Payoff = Annotated[float, Meta(ge=0, le=1)]


class Message(msgspec.Struct, frozen=True, tag_field="type"):
    """A line. The tag `type` tells which message it is."""


class LineLimits(msgspec.Struct, frozen=True):
    """Longest lines in bytes, newline included, and milliseconds for start-up and for `ready`."""

    line_to_bot: int
    line_from_bot: int
    startup_ms: int


class Hello(Message, frozen=True, tag="hello"):
    """First line to a bot: what the referee speaks and what will be played.

    `material`: what the game has to say once and for all (sizes, masses...); left out where there is nothing.
    """

    protocols: tuple[int, ...]
    minor: int
    game: str
    rules: str
    options: dict[str, Json]
    capabilities: tuple[str, ...]
    limits: LineLimits
    material: dict[str, Json] | UnsetType = UNSET


class ClockTerms(msgspec.Struct, frozen=True):
    """The clock of a match, in milliseconds.

    `decides` is `cpu` or `wall`. Each move may use `move_ms`; what goes beyond is taken from the bank of `bank_ms`
    for the whole match. `wall_ms` is the wall-clock backstop of one move. `idle_ms` is how long the bot may do nothing
    in the whole match while it owes answers; missing where wall time decides. `increment_ms` is added to the bank after
    each answer; missing in a match without increments.
    """

    decides: Literal["cpu", "wall"]
    move_ms: Milliseconds
    bank_ms: Milliseconds
    wall_ms: Milliseconds
    idle_ms: Milliseconds | UnsetType = UNSET
    increment_ms: Milliseconds | UnsetType = UNSET


class MatchStart(Message, frozen=True, tag="match_start"):
    """A match begins. `players` are named by seat; `bot_seed` is this bot's own seed for the match."""

    match: str
    seat: int
    players: tuple[str, ...]
    protocol: int
    game: str
    options: dict[str, Json]
    clock: ClockTerms
    bot_seed: SafeInt


class Event(msgspec.Struct, frozen=True, tag_field="event", omit_defaults=True):
    """Something that happened at the table."""


class ActionEvent(Event, frozen=True, tag="action"):
    """`seat` did `action`; `forced` if it was the only legal one and nobody was asked.

    `stand_in`: the code of the fault for which this action stood in; empty for an action of the seat's own.
    """

    seat: int
    action: Json
    forced: bool = False
    fallback_for: str = msgspec.field(name="stand_in", default="")


class ChanceEvent(Event, frozen=True, tag="chance"):
    """Public luck: the faces of dice in order, under the key of the draw."""

    key: str
    outcome: tuple[int, ...]


class SimulationEvent(Event, frozen=True, tag="simulation"):
    """The result of a simulation, under its key; its form is the game's."""

    key: str
    result: Json


AnyEvent = ActionEvent | ChanceEvent | SimulationEvent


class Refused(msgspec.Struct, frozen=True):
    """Why something a bot asked for was refused: the code of the fault, the game's word for it, a sentence, a hint."""

    code: str
    reason: str
    message: str
    hint: str


class TimeLeft(msgspec.Struct, frozen=True):
    """Milliseconds for this move, and what the bank holds.

    `banks_ms`: the banks of all, by seat, null for a person; only in a match with increments.
    """

    move_ms: float
    bank_ms: float
    banks_ms: tuple[float | None, ...] | UnsetType = UNSET


class Request(Message, frozen=True, tag="request"):
    """Act now. `events` since the last request; `legal` is null where the game cannot list the actions.

    `refused`: this request is asked once more, because the last answer was refused for that reason. `simulations`:
    questions of type `simulate` that the bot may ask before it answers; only for bots with that capability.
    """

    id: int
    match: str
    view: dict[str, Json]
    events: tuple[AnyEvent, ...]
    legal: tuple[Any, ...] | None
    clock: TimeLeft
    refused: Refused | UnsetType = UNSET
    simulations: int | UnsetType = UNSET


class Evaluate(Message, frozen=True, tag="evaluate"):
    """Say what each action of a match that is over was worth, in `budget_ms` of CPU time; only for analysts.

    As in a request, but `events` since the last `evaluate` have the seat's own actions, too: it does not choose them.
    """

    id: int
    match: str
    view: dict[str, Json]
    events: tuple[AnyEvent, ...]
    legal: tuple[Any, ...]
    budget_ms: float


class Simulated(Message, frozen=True, tag="simulated"):
    """The answer to a bot's `simulate`: what would come of it, or why that cannot be said; `left` more may be asked."""

    id: int
    query: int
    result: dict[str, Json] | None
    refused: Refused | None
    left: int


class EventMessage(Message, frozen=True, tag="event"):
    """An event as it happens; only for bots that asked for the capability `events`. No answer."""

    match: str
    what: AnyEvent


class ErrorMessage(Message, frozen=True, tag="error"):
    """A fault of the bot, or a warning. `got` is the beginning of its line; `fatal` ends the match.

    `reason`: the game's word for it, where it has one.
    """

    code: str
    message: str
    hint: str
    fatal: bool
    got: str
    reason: str | UnsetType = UNSET


class TimeUsed(msgspec.Struct, frozen=True):
    """A bot's own use of time in a match: answers, milliseconds of CPU, wall and idle time (missing if it is 0)."""

    moves: int
    cpu_ms: float
    wall_ms: float
    idle_ms: float | UnsetType = UNSET


class MatchEnd(Message, frozen=True, tag="match_end"):
    """A match is over. `ranks` by seat from 0 (best); `scores` is null when a forfeit ended it.

    A score that is no whole number has at most 17 digits: `0.5`, `0.3333333333333333`.
    """

    match: str
    ranks: tuple[int, ...]
    scores: tuple[int | float, ...] | None
    termination: str
    at_fault: int | None
    events: tuple[AnyEvent, ...]
    time: TimeUsed


class Quit(Message, frozen=True, tag="quit"):
    """The process must end within the grace period."""

    reason: str
    grace_ms: int


class BotHello(Message, frozen=True, tag="hello"):
    """First line from a bot: the protocol majors it speaks and what it calls itself.

    `rules`: the versions of this game's rules that it knows; empty if it does not say so.
    """

    protocols: tuple[int, ...]
    name: str = ""
    version: str = ""
    rules: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()


class Ready(Message, frozen=True, tag="ready"):
    """The bot has prepared itself for this match."""

    match: str


class Answer(Message, frozen=True, tag="action"):
    """The action for the request of that id: the action object itself, or its index in `legal`."""

    id: SafeInt
    action: dict[str, Json] | SafeInt
    note: Annotated[str, Meta(max_length=1000)] | UnsetType = UNSET


class Evaluation(Message, frozen=True, tag="evaluation"):
    """The values of the actions in `legal`, in their order: expected payoffs of the seat, from 0 to 1.

    Against each other seat a win is 1 and a draw 1/2; the payoff is the mean over these seats. `errors`: the standard
    error of each value, from a bot that samples; empty from one that computes.
    """

    id: SafeInt
    values: tuple[Payoff, ...]
    errors: tuple[Payoff, ...] = ()


class Simulate(Message, frozen=True, tag="simulate"):
    """A question while request `id` is open: what would come of `what`? Its form is the game's; `query` is repeated."""

    id: SafeInt
    query: SafeInt
    what: dict[str, Json]


ToBot = Hello | MatchStart | Request | Evaluate | Simulated | EventMessage | ErrorMessage | MatchEnd | Quit
FromBot = BotHello | Ready | Answer | Evaluation | Simulate
FIELDS_OF_BOTS: Final = tuple(dict.fromkeys(name for kind in get_args(FromBot) for name in kind.__struct_fields__))


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) with the definitions `to_bot` and `from_bot` and one for each message."""
    (to_bot, from_bot), definitions = msgspec.json.schema_components([ToBot, FromBot], ref_template="#/$defs/{name}")
    for definition in definitions.values():
        definition["description"] = cleandoc(definition["description"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "arena-1.schema.json",
        "title": "arena/1: the messages between referee and bot, one JSON object per line",
        "anyOf": [{"$ref": "#/$defs/to_bot"}, {"$ref": "#/$defs/from_bot"}],
        "$defs": {"to_bot": to_bot, "from_bot": from_bot, **definitions},
    }


def main() -> None:
    """Print the schema, the same bytes every time."""
    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")


if __name__ == "__main__":
    main()
