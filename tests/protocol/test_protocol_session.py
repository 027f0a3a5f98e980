"""The order of messages: each pair of a phase and a message is in the tables, or refused."""

import msgspec
import pytest
from support.protocol_messages import END, FROM_BOT, HELLO, QUIT, REQUEST, SIMULATED, START, TO_BOT

from arena.errors import ProtocolViolation
from arena.protocol.messages import Answer, BotHello, FromBot, Message, Ready, Simulate, ToBot
from arena.protocol.session import RECEIVED, SENT, Session, SessionPhase

ASK = Simulate(id=5, query=1, what={})


def session_in(phase: SessionPhase, *, may_simulate: bool = True) -> Session:
    """A session in that phase, in the match `m`, whose last request was number 5."""
    session = Session()
    session.phase, session.match, session.request_id = phase, "m", 5
    session.may_simulate = may_simulate
    return session


def name(value: object) -> str:
    return value.name if isinstance(value, SessionPhase) else type(value).__name__


@pytest.mark.parametrize("message", TO_BOT, ids=name)
@pytest.mark.parametrize("phase", SessionPhase, ids=name)
def test_the_referee_keeps_to_the_table(phase: SessionPhase, message: ToBot) -> None:
    """What is in the table leads to its phase; what is not would be our own bug."""
    session = session_in(phase)
    key: tuple[SessionPhase, type[Message]] = (phase, type(message))

    if key not in SENT:
        with pytest.raises(AssertionError, match="the referee sent"):
            session.send(message)
        assert session.phase is phase
    else:
        session.send(message)
        assert session.phase is SENT[key]


@pytest.mark.parametrize("message", FROM_BOT, ids=name)
@pytest.mark.parametrize("phase", SessionPhase, ids=name)
def test_a_bot_keeps_to_the_table_or_violates_the_protocol(phase: SessionPhase, message: FromBot) -> None:
    """A message in the table counts; an answer or question at another time is dropped; the rest is a violation."""
    session = session_in(phase)
    key: tuple[SessionPhase, type[Message]] = (phase, type(message))

    if key in RECEIVED:
        assert session.receive(message)
        assert session.phase is RECEIVED[key]
    elif isinstance(message, Answer | Simulate):
        assert not session.receive(message)
        assert session.phase is phase
    else:
        with pytest.raises(ProtocolViolation) as violated:
            session.receive(message)
        assert phase.value in violated.value.message
        assert violated.value.hint
        assert session.phase is phase


@pytest.mark.parametrize("number", [-1, 0, 4, 6])
@pytest.mark.parametrize("phase", SessionPhase, ids=name)
def test_an_answer_with_another_id_is_dropped(phase: SessionPhase, number: int) -> None:
    """A stale or invented id is never applied, whatever is open; nor is a question with it answered."""
    session = session_in(phase)

    counts = [session.receive(message) for message in (Answer(id=number, action=0), Simulate(number, 1, {}))]

    assert counts == [False, False]
    assert session.phase is phase


@pytest.mark.parametrize("number", [4, 5])
@pytest.mark.parametrize("phase", SessionPhase, ids=name)
def test_a_question_of_who_may_not_ask_is_a_violation(phase: SessionPhase, number: int) -> None:
    """Whenever it comes, and whatever its id."""
    session = session_in(phase, may_simulate=False)

    with pytest.raises(ProtocolViolation, match='a "simulate" from a bot without that capability'):
        session.receive(Simulate(id=number, query=1, what={}))

    assert session.phase is phase


def test_questions_go_to_and_fro_until_the_answer() -> None:
    """As many as wanted; and the request may be made anew while no answer has come."""
    session = session_in(SessionPhase.PLAYING)

    session.send(REQUEST)
    for _ in range(3):
        assert session.receive(ASK)
        session.send(SIMULATED)
    session.send(msgspec.structs.replace(REQUEST, id=6))

    assert not session.receive(ASK)
    assert not session.receive(Answer(id=5, action=0))
    assert session.receive(Answer(id=6, action=0))
    assert session.phase is SessionPhase.PLAYING


def test_a_whole_dialogue() -> None:
    """Hello, two matches in one process, quit."""
    session = Session()

    session.send(HELLO)
    assert session.receive(BotHello(protocols=(2, 1)))
    for number in (5, 6):
        session.send(START)
        assert session.receive(Ready(match="m"))
        session.send(msgspec.structs.replace(REQUEST, id=number))
        assert session.receive(Answer(id=number, action=0))
        assert not session.receive(Answer(id=number, action=0))
        session.send(END)
    session.send(QUIT)

    assert session.phase is SessionPhase.CLOSED


def test_ready_for_another_match_is_a_violation() -> None:
    """The bot that is ready for the last match has missed the start of this one; its words are quoted in one line."""
    with pytest.raises(ProtocolViolation, match=r'ready for match "old\\n", expected "m"'):
        session_in(SessionPhase.PREPARING).receive(Ready(match="old\n"))


@pytest.mark.parametrize(("protocols", "spoken"), [((2, 3), "arena/2, arena/3"), ((), "none")])
def test_without_a_common_protocol_nothing_is_played(protocols: tuple[int, ...], spoken: str) -> None:
    """The sentence says what each side speaks, and the hint what to send."""
    with pytest.raises(ProtocolViolation) as violated:
        session_in(SessionPhase.GREETING).receive(BotHello(protocols=protocols))

    assert f"the bot speaks {spoken}, this referee speaks arena/1" in violated.value.message
    assert '"protocols": [1]' in violated.value.hint


@pytest.mark.parametrize(("capabilities", "wants"), [((), False), (("events",), True), (("tea", "events"), True)])
def test_events_are_sent_to_those_who_ask(capabilities: tuple[str, ...], *, wants: bool) -> None:
    """Unknown capabilities are no error: a bot may be newer than the referee."""
    session = session_in(SessionPhase.GREETING)

    session.receive(BotHello(protocols=(1,), capabilities=capabilities))

    assert session.wants_events is wants


@pytest.mark.parametrize(
    ("offered", "wanted", "may"),
    [
        (("events", "simulate"), ("simulate",), True),
        (("events", "simulate"), ("events",), False),
        (("events",), ("simulate",), False),
    ],
)
def test_questions_are_for_those_who_ask_where_it_is_offered(
    offered: tuple[str, ...], wanted: tuple[str, ...], *, may: bool
) -> None:
    """Both the referee's hello and the bot's must name the capability."""
    session = Session()
    session.send(msgspec.structs.replace(HELLO, capabilities=offered))

    session.receive(BotHello(protocols=(1,), capabilities=wanted))

    assert session.may_simulate is may


def test_the_tables_name_every_message() -> None:
    """A message that no row mentions could never be sent or received."""
    assert {kind for _, kind in SENT} == {type(message) for message in TO_BOT}
    assert {kind for _, kind in RECEIVED} == {type(message) for message in FROM_BOT}
