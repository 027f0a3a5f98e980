"""Any sequence of messages to and from a bot, against a model of the dialogue that was written from protocol.md."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace
from support.match_fuzz_depth import fuzzed
from support.protocol_messages import END, ERROR, EVENT, HELLO, QUIT, REQUEST, SIMULATED, START

from arena.errors import ProtocolViolation
from arena.protocol.messages import Answer, BotHello, Ready, Simulate, ToBot
from arena.protocol.session import Session, SessionPhase

OURS = st.sampled_from(["m1", "m2"])
THEIRS = st.sampled_from(["m1", "m2", "", "\x1b[31m"])
IDS = st.integers(-1, 4)


class Dialogue(RuleBasedStateMachine):
    """The model: what the bot owes (`hello`, `ready`, `action` or nothing), and where the referee stands."""

    def __init__(self) -> None:
        super().__init__()
        self.session = Session()
        self.owes = ""
        self.place = "street"
        self.match = ""
        self.number: int | None = None
        self.has_events = False
        self.may_simulate = False

    def says(self, message: ToBot, *, may: bool) -> bool:
        """The referee's own mistake is refused, and nothing has changed; whether it was none."""
        if may:
            self.session.send(message)
        else:
            with pytest.raises(AssertionError, match="the referee sent"):
                self.session.send(message)
        return may

    @rule()
    def greet(self) -> None:
        if self.says(HELLO, may=self.place == "street"):
            self.place, self.owes = "door", "hello"

    @rule(match=OURS)
    def start_match(self, match: str) -> None:
        if self.says(replace(START, match=match), may=self.place == "hall"):
            self.place, self.owes, self.match = "table", "ready", match

    @rule(number=IDS)
    def ask(self, number: int) -> None:
        if self.says(replace(REQUEST, id=number), may=self.place == "table" and self.owes != "ready"):
            self.owes, self.number = "action", number

    @rule()
    def tell_event(self) -> None:
        self.says(EVENT, may=self.place == "table" and self.owes != "ready")

    @rule(number=IDS)
    def tell_simulated(self, number: int) -> None:
        self.says(replace(SIMULATED, id=number), may=self.owes == "action")

    @rule()
    def end_match(self) -> None:
        if self.says(END, may=self.place == "table" and self.owes != "ready"):
            self.place, self.owes = "hall", ""

    @rule()
    def warn(self) -> None:
        self.session.send(ERROR)

    @precondition(lambda self: self.place == "table")
    @rule()
    def quit(self) -> None:
        self.session.send(QUIT)
        self.place, self.owes = "gone", ""

    @rule(
        protocols=st.lists(st.sampled_from([1, 2, -1, 2**53]), max_size=3).map(tuple),
        capabilities=st.lists(st.sampled_from(["events", "tea", "simulate", ""]), max_size=2).map(tuple),
    )
    def hear_hello(self, protocols: tuple[int, ...], capabilities: tuple[str, ...]) -> None:
        hello = BotHello(protocols=protocols, capabilities=capabilities)
        if self.owes != "hello" or 1 not in protocols:
            return self.refuses(hello)
        assert self.session.receive(hello)
        self.place, self.owes, self.has_events = "hall", "", "events" in capabilities
        self.may_simulate = "simulate" in capabilities
        return None

    @rule(match=THEIRS)
    def hear_ready(self, match: str) -> None:
        if self.owes != "ready" or match != self.match:
            return self.refuses(Ready(match=match))
        assert self.session.receive(Ready(match=match))
        self.owes = ""
        return None

    @rule(number=IDS, action=st.integers() | st.just({}))
    def hear_answer(self, number: int, action: int) -> None:
        counts = self.session.receive(Answer(id=number, action=action))

        assert counts is (self.owes == "action" and number == self.number)
        if counts:
            self.owes = ""

    @rule(number=IDS, query=st.integers(0, 2))
    def hear_question(self, number: int, query: int) -> None:
        question = Simulate(id=number, query=query, what={})
        if not self.may_simulate:
            return self.refuses(question)
        assert self.session.receive(question) is (self.owes == "action" and number == self.number)
        return None

    def refuses(self, message: BotHello | Ready | Simulate) -> None:
        """A violation with a sentence for the bot's author, in one line."""
        with pytest.raises(ProtocolViolation) as violated:
            self.session.receive(message)
        assert violated.value.message.isprintable()
        assert violated.value.hint.isprintable()

    @initialize(begins=st.booleans(), may_simulate=st.booleans())
    def begin_well(self, begins: bool, may_simulate: bool) -> None:
        """Half of the dialogues get as far as the table, where most can happen."""
        if begins:
            self.greet()
            self.hear_hello((1,), ("simulate",) if may_simulate else ())
            self.start_match("m1")

    @invariant()
    def the_phase_is_what_the_model_says(self) -> None:
        expected = {
            ("street", ""): SessionPhase.NEW,
            ("door", "hello"): SessionPhase.GREETING,
            ("hall", ""): SessionPhase.IDLE,
            ("table", "ready"): SessionPhase.PREPARING,
            ("table", ""): SessionPhase.PLAYING,
            ("table", "action"): SessionPhase.THINKING,
            ("gone", ""): SessionPhase.CLOSED,
        }
        assert self.session.phase is expected[self.place, self.owes]
        assert self.session.wants_events is self.has_events


TestDialogue = Dialogue.TestCase
TestDialogue.settings = fuzzed(150, steps=30)
