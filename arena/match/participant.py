"""Whoever sits at the table, as the referee knows them, and what they are asked.

Rule: words only. How a bot is asked is the bot_player's business, how a person is asked the person's.
"""

from collections import Counter, deque
from fractions import Fraction
from typing import Any, Protocol

import msgspec
from msgspec import UnsetType

from arena.errors import BotFault
from arena.games.api import Json
from arena.match.lookahead import LookAhead
from arena.match.record import Requests, SeatLines
from arena.protocol.messages import Answer, AnyEvent, ClockTerms, MatchStart, Refused

TranscriptLine = tuple[float, str, bytes]
"""Wall-clock seconds, `>` to the bot or `<` from it, the line."""


class ActionRequest(msgspec.Struct, frozen=True):
    """What a seat is asked. `legal` is None where the game cannot list the actions.

    `refused`: why the last answer did not count; the same is asked once more, in what is left of the move's time.
    `look_ahead`: what may be asked back, in games with a nature.
    """

    view: dict[str, Json]
    legal: tuple[Any, ...] | None
    refused: Refused | None = None
    look_ahead: LookAhead | None = None


class Participant(Protocol):
    """A bot (`BotPlayer`) or a human. One thread at a time speaks to it.

    `faults`: answers that were refused in this match and did not end it, by their code.
    """

    player: str
    bot: str
    terms: ClockTerms
    moves: int
    startup_us: int
    timeouts_by_load: int
    ignored: Counter[str]
    faults: Counter[str]
    transcript: deque[TranscriptLine]

    @property
    def requests(self) -> Requests | UnsetType:
        """The use of time in this match by request; UNSET for people."""

    @property
    def lines(self) -> SeatLines | UnsetType:
        """What tells all lines of this match again; UNSET for people."""

    @property
    def is_person(self) -> bool:
        """Whether it needs the terminal, and so the thread of who called."""

    @property
    def is_reachable(self) -> bool:
        """Whether the last question reached it whole, so that another one can follow."""

    def begin(self, start: MatchStart) -> None:
        """Get ready for a match. Raises BotFault."""

    def ask(self, question: ActionRequest) -> Answer:
        """The answer to a question. Raises BotFault."""

    def refuse(self, fault: BotFault) -> None:
        """Hear that the answer, or its lack, does not count, and that the match goes on. Raises Crashed."""

    def happened(self, event: AnyEvent) -> None:
        """Hear of an event."""

    def finish(
        self, *, ranks: tuple[int, ...], scores: tuple[Fraction, ...] | None, termination: str, at_fault: int | None
    ) -> None:
        """Hear how the match ended."""

    def fail(self, fault: BotFault) -> None:
        """Hear of the own fault that ended the match."""

    def abandon(self) -> None:
        """Another thread breaks the match off: whoever waits for the answer stops waiting soon."""

    def stderr(self) -> str:
        """What was written to stderr."""
