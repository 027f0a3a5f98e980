"""The legal order of messages: the dialogue with one bot as a table, without any I/O.

Rule: the tables below are the whole truth about the order of messages. A bot's message that is not in `RECEIVED` is a
protocol violation, and so are `simulate` and `evaluation` from a bot that did not ask for that capability; an answer or
a question with the id of another request is counted and dropped, never applied.
"""

from collections.abc import Collection
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
    EVALUATING = "owes its evaluation"
    CLOSED = "was told to quit"


SENT: Final[dict[tuple[SessionPhase, type[m.Message]], SessionPhase]] = {
    (SessionPhase.NEW, m.Hello): SessionPhase.GREETING,
    (SessionPhase.IDLE, m.MatchStart): SessionPhase.PREPARING,
    (SessionPhase.PLAYING, m.Request): SessionPhase.THINKING,
    (SessionPhase.THINKING, m.Request): SessionPhase.THINKING,  # the last answer was malformed, or did not come in time
    (SessionPhase.THINKING, m.Simulated): SessionPhase.THINKING,
    (SessionPhase.PLAYING, m.Evaluate): SessionPhase.EVALUATING,
    (SessionPhase.EVALUATING, m.Evaluate): SessionPhase.EVALUATING,  # the last one was malformed, or did not come
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
    (SessionPhase.EVALUATING, m.Evaluation): SessionPhase.PLAYING,
}


_WITH_ID: Final = (m.Answer, m.Evaluation, m.Simulate)
"""A tuple, because a union would be built for every line."""
_ABOUT_A_REQUEST: Final = {str(message.__struct_config__.tag): message for message in _WITH_ID}
_OPEN: Final = {SessionPhase.THINKING, SessionPhase.EVALUATING}
_CAPABILITY_OF: Final[dict[type[m.Message], str]] = {m.Simulate: "simulate", m.Evaluation: m.EVALUATE}
"""The capability that a bot needs for a message."""


class Session:
    """The state of the dialogue with one bot process."""

    def __init__(self) -> None:
        self.phase = SessionPhase.NEW
        self.match = ""
        self.request_id = -1
        self.wants_events = False
        self._barred: Collection[type[m.Message]] = _CAPABILITY_OF
        self._offered: tuple[str, ...] = ()
        self._rules = ""

    def send(self, message: m.ToBot) -> None:
        """Advance the state by a message to the bot. AssertionError if the referee breaks the order."""
        phase = SENT.get((self.phase, type(message)))
        assert phase is not None, f"the referee sent {type(message).__name__} to a bot that {self.phase.value}"
        self.phase = phase
        if isinstance(message, m.Request | m.Evaluate):
            self.request_id = message.id
        elif isinstance(message, m.MatchStart):
            self.match = message.match
        elif isinstance(message, m.Hello):
            self._offered, self._rules = message.capabilities, message.rules

    def is_stale(self, kind: str, number: int) -> bool:
        """Return True if a message of that kind from the bot, about request `number`, is to be counted and dropped."""
        message = _ABOUT_A_REQUEST.get(kind)
        if message is None or message in self._barred:
            return False  # a violation, whatever its number
        return self.phase not in _OPEN or number != self.request_id

    def receive(self, message: m.FromBot) -> bool:
        """Advance the state by a message from the bot; return False if it is to be counted and dropped.

        Such a message is about another request. ProtocolViolation if the bot breaks the order.
        """
        phase = RECEIVED.get((self.phase, type(message)))
        if type(message) in self._barred:
            reason = f'a "{message.__struct_config__.tag}" from a bot without that capability'
            raise ProtocolViolation(reason, hint=self._capability_hint(type(message)))
        if isinstance(message, _WITH_ID) and (self.phase not in _OPEN or message.id != self.request_id):
            return False  # answered already, or another request
        if phase is None:
            kind = message.__struct_config__.tag
            raise ProtocolViolation(f'a "{kind}" from a bot that {self.phase.value}', hint=_order_hint(self.phase))
        if isinstance(message, m.BotHello):
            self._accept_hello(message)
        elif isinstance(message, m.Ready) and message.match != self.match:
            raise ProtocolViolation(f'ready for match "{printable(message.match[:60])}", expected "{self.match}"')
        self.phase = phase
        return True

    def _accept_hello(self, hello: m.BotHello) -> None:
        """Keep whether the bot wants events, and which messages it may not send, by the capabilities of its hello.

        ProtocolViolation without a common protocol or version of the rules; a hello without `rules` accepts every
        version.
        """
        if not set(hello.protocols) & set(m.PROTOCOL_MAJORS):
            offered = ", ".join(f"arena/{major}" for major in hello.protocols[:8]) or "none"
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
        agreed = {*hello.capabilities} & {*self._offered}
        self._barred = [message for message, capability in _CAPABILITY_OF.items() if capability not in agreed]

    @property
    def may_simulate(self) -> bool:
        """True if the bot has asked for the capability `simulate`, and it is offered."""
        return m.Simulate not in self._barred

    @property
    def may_evaluate(self) -> bool:
        """True if the bot has asked for the capability `evaluate`, and it is offered."""
        return m.Evaluation not in self._barred

    def _capability_hint(self, message: type[m.Message]) -> str:
        """Return what a bot does to be allowed such a message, or the reason why none is."""
        if (capability := _CAPABILITY_OF[message]) in self._offered:
            return f'ask for it in your hello: {{"type": "hello", "protocols": [1], "capabilities": ["{capability}"]}}'
        reason = (
            "there is nothing to simulate in this game" if message is m.Simulate else "nothing is evaluated in a match"
        )
        return f"{reason}: `capabilities` of the referee's hello tell what is offered"


def _order_hint(phase: SessionPhase) -> str:
    """Return a hint on the message that is expected in this phase."""
    return {
        SessionPhase.GREETING: 'the first line must be {"type": "hello", "protocols": [1]}',
        SessionPhase.PREPARING: 'answer match_start with {"type": "ready", "match": ...}',
        SessionPhase.THINKING: 'answer a request with {"type": "action", "id": ..., "action": ...}',
        SessionPhase.EVALUATING: 'answer evaluate with {"type": "evaluation", "id": ..., "values": [...]}',
    }.get(phase, "speak only when asked: hello to hello, ready to match_start, action to request")
