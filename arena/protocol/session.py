"""The legal order of messages: the dialogue with one bot as a table, without any I/O.

Rule: the tables below are the whole truth about the order of messages. A bot's message that is not in `RECEIVED` is a
protocol violation, and so is `simulate` from a bot that did not ask for it; an answer or a question with the id of
another request is counted and dropped, never applied.
"""

from enum import Enum
from typing import Final

from arena.errors import ProtocolViolation
from arena.protocol import messages as m
from arena.text import printable


class SessionPhase(Enum):
    """The phases of the dialogue. The value is what the bot is doing, for error messages."""

    __hash__ = object.__hash__  # Enum's own hash is Python code, and each line of a dialogue needs one
    NEW = "has just been started"
    GREETING = "owes its hello"
    IDLE = "waits for a match"
    PREPARING = "owes its ready"
    PLAYING = "waits for a request"
    THINKING = "owes its action"
    CLOSED = "was told to quit"


SENT: Final[dict[tuple[SessionPhase, type[m.Message]], SessionPhase]] = {
    (SessionPhase.NEW, m.Hello): SessionPhase.GREETING,
    (SessionPhase.IDLE, m.MatchStart): SessionPhase.PREPARING,
    (SessionPhase.PLAYING, m.Request): SessionPhase.THINKING,
    (SessionPhase.THINKING, m.Request): SessionPhase.THINKING,  # the last answer was malformed, or did not come in time
    (SessionPhase.THINKING, m.Simulated): SessionPhase.THINKING,
    (SessionPhase.PLAYING, m.MatchEnd): SessionPhase.IDLE,
    (SessionPhase.THINKING, m.MatchEnd): SessionPhase.IDLE,
    **{(phase, m.EventMessage): phase for phase in (SessionPhase.PLAYING, SessionPhase.THINKING)},
    **{(phase, m.ErrorMessage): phase for phase in SessionPhase},
    **{(phase, m.Quit): SessionPhase.CLOSED for phase in SessionPhase},
}
RECEIVED: Final[dict[tuple[SessionPhase, type[m.Message]], SessionPhase]] = {
    (SessionPhase.GREETING, m.BotHello): SessionPhase.IDLE,
    (SessionPhase.PREPARING, m.Ready): SessionPhase.PLAYING,
    (SessionPhase.THINKING, m.Answer): SessionPhase.PLAYING,
    (SessionPhase.THINKING, m.Simulate): SessionPhase.THINKING,
}


_ABOUT_A_REQUEST: Final = (m.Answer, m.Simulate)
"""A tuple, because a union would be built for every line."""
_KINDS_ABOUT_A_REQUEST: Final = {message.__struct_config__.tag for message in _ABOUT_A_REQUEST}


class Session:
    """The state of the dialogue with one bot process."""

    def __init__(self) -> None:
        self.phase = SessionPhase.NEW
        self.match = ""
        self.request_id = -1
        self.wants_events = False
        self.may_simulate = False
        self._offered: tuple[str, ...] = ()
        self._rules = ""

    def send(self, message: m.ToBot) -> None:
        """Advance the state by a message to the bot. AssertionError if the referee breaks the order."""
        phase = SENT.get((self.phase, type(message)))
        assert phase is not None, f"the referee sent {type(message).__name__} to a bot that {self.phase.value}"
        self.phase = phase
        if isinstance(message, m.Request):
            self.request_id = message.id
        elif isinstance(message, m.MatchStart):
            self.match = message.match
        elif isinstance(message, m.Hello):
            self._offered, self._rules = message.capabilities, message.rules

    def is_stale(self, kind: str, number: int) -> bool:
        """Return True if a message of that kind from the bot, about request `number`, is to be counted and dropped."""
        if kind == "simulate" and not self.may_simulate:
            return False  # a violation, whatever its number
        return kind in _KINDS_ABOUT_A_REQUEST and (self.phase is not SessionPhase.THINKING or number != self.request_id)

    def receive(self, message: m.FromBot) -> bool:
        """Advance the state by a message from the bot; return False if it is to be counted and dropped.

        Such a message is about another request. ProtocolViolation if the bot breaks the order.
        """
        phase = RECEIVED.get((self.phase, type(message)))
        if isinstance(message, _ABOUT_A_REQUEST):
            if isinstance(message, m.Simulate) and not self.may_simulate:
                raise ProtocolViolation('a "simulate" from a bot without that capability', hint=self._simulate_hint())
            if phase is None or message.id != self.request_id:  # answered already, or another request
                return False
        elif phase is None:
            kind = message.__struct_config__.tag
            raise ProtocolViolation(f'a "{kind}" from a bot that {self.phase.value}', hint=_order_hint(self.phase))
        elif isinstance(message, m.BotHello):
            self._accept_hello(message)
        elif message.match != self.match:
            raise ProtocolViolation(f'ready for match "{printable(message.match[:60])}", expected "{self.match}"')
        self.phase = phase
        return True

    def _accept_hello(self, hello: m.BotHello) -> None:
        """Set the capabilities of the bot. ProtocolViolation if no protocol or version of the rules is common."""
        if not set(hello.protocols) & set(m.PROTOCOL_MAJORS):
            offered = ", ".join(f"arena/{major}" for major in hello.protocols) or "none"
            known = ", ".join(f"arena/{major}" for major in m.PROTOCOL_MAJORS)
            raise ProtocolViolation(
                f"no common protocol: the bot speaks {offered}, this referee speaks {known}",
                hint='answer hello with {"type": "hello", "protocols": [1]}',
            )
        if hello.rules and self._rules not in hello.rules:
            known = ", ".join(map(printable, hello.rules))
            raise ProtocolViolation(
                f"no common rules: the bot knows {known[:60]}, this match is played by the rules {self._rules}",
                hint="the page of the game says what changed; add the version to `rules` of your hello",
            )
        self.wants_events = "events" in hello.capabilities
        self.may_simulate = "simulate" in hello.capabilities and "simulate" in self._offered

    def _simulate_hint(self) -> str:
        """Return the hint for a bot that simulates without the capability: how to ask for it, or that there is none."""
        if "simulate" in self._offered:
            return 'ask for it in your hello: {"type": "hello", "protocols": [1], "capabilities": ["simulate"]}'
        return "there is nothing to simulate in this game: `capabilities` of the referee's hello tell what is offered"


def _order_hint(phase: SessionPhase) -> str:
    """Return a hint on the message that is expected in this phase."""
    return {
        SessionPhase.GREETING: 'the first line must be {"type": "hello", "protocols": [1]}',
        SessionPhase.PREPARING: 'answer match_start with {"type": "ready", "match": ...}',
        SessionPhase.THINKING: 'answer a request with {"type": "action", "id": ..., "action": ...}',
    }.get(phase, "speak only when asked: hello to hello, ready to match_start, action to request")
