"""The order of messages: each pair of a phase and a message is in the tables, or refused."""

import pytest
from msgspec import structs
from support.protocol_messages import FROM_BOT, HELLO, TO_BOT

from arena.errors import ProtocolViolation
from arena.protocol.messages import EVALUATE, Answer, BotHello, Evaluation, FromBot, Message, Ready, Simulate, ToBot
from arena.protocol.session import RECEIVED, SENT, Session, SessionPhase

OPEN = {SessionPhase.THINKING, SessionPhase.EVALUATING}
ALL = ("events", "simulate", EVALUATE)


def session_in(phase: SessionPhase, capabilities: tuple[str, ...] = ALL) -> Session:
    """Return a session in that phase, in the match `m`, whose last request was number 5. Everything is offered."""
    session = Session()
    session.send(structs.replace(HELLO, capabilities=ALL))
    assert not session.wants_events
    assert session.receive(BotHello(protocols=(1,), capabilities=capabilities))
    assert session.wants_events is ("events" in capabilities)
    session.phase, session.match, session.request_id = phase, "m", 5
    return session


def name(value: object) -> str:
    return value.name if isinstance(value, SessionPhase) else type(value).__name__


@pytest.mark.parametrize("message", TO_BOT, ids=name)
@pytest.mark.parametrize("phase", SessionPhase, ids=name)
def test_the_referee_keeps_to_the_table(phase: SessionPhase, message: ToBot) -> None:
    """A message to the bot leads to the phase in the table; one that is not there raises AssertionError."""
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
    """A message in the table counts; an answer or question at another time is dropped; others are violations."""
    session = session_in(phase)
    key: tuple[SessionPhase, type[Message]] = (phase, type(message))

    if key in RECEIVED:
        assert session.receive(message)
        assert session.phase is RECEIVED[key]
    elif isinstance(message, Answer | Evaluation | Simulate) and phase not in OPEN:
        assert not session.receive(message)
        assert session.phase is phase
    else:
        with pytest.raises(ProtocolViolation) as violated:
            session.receive(message)
        assert phase.value in violated.value.message
        assert violated.value.hint
        assert session.phase is phase


@pytest.mark.parametrize("message", [Simulate(id=9, query=1, what={}), Evaluation(id=9, values=())], ids=name)
@pytest.mark.parametrize("phase", SessionPhase, ids=name)
def test_what_needs_a_capability_is_a_violation_without_it(phase: SessionPhase, message: FromBot) -> None:
    """At any time and about any request; the hint says how to ask for it, or that nothing is offered."""
    kind = str(message.__struct_config__.tag)
    offered, unoffered = session_in(phase, ()), Session()
    unoffered.phase = phase

    for session, hint in ((offered, "ask for it in your hello"), (unoffered, "tell what is offered")):
        assert not session.is_stale(kind, 9)
        with pytest.raises(ProtocolViolation, match=f'"{kind}" from a bot without that capability') as violated:
            session.receive(message)
        assert hint in violated.value.hint
        assert session.phase is phase


def test_ready_for_another_match_is_a_violation() -> None:
    """A `ready` for another match is a violation, quoted in one line."""
    with pytest.raises(ProtocolViolation, match=r'ready for match "old\\n", expected "m"'):
        session_in(SessionPhase.PREPARING).receive(Ready(match="old\n"))


@pytest.mark.parametrize(("protocols", "spoken"), [((2, 3), "arena/2, arena/3"), ((), "none")])
def test_without_a_common_protocol_nothing_is_played(protocols: tuple[int, ...], spoken: str) -> None:
    """Without a common protocol the error names both sides' versions, and the hint what to send."""
    with pytest.raises(ProtocolViolation) as violated:
        session_in(SessionPhase.GREETING).receive(BotHello(protocols=protocols))

    assert f"the bot speaks {spoken}, this referee speaks arena/1" in violated.value.message
    assert '"protocols": [1]' in violated.value.hint


@pytest.mark.parametrize(("rules", "is_refused"), [((), False), (("1",), False), (("0", "1"), False), (("2\n",), True)])
def test_a_bot_plays_by_rules_that_it_knows(rules: tuple[str, ...], *, is_refused: bool) -> None:
    """A bot that names versions of the rules plays no others; the message quotes both in one line."""
    session = Session()
    session.send(HELLO)
    hello = BotHello(protocols=(1,), rules=rules)

    if not is_refused:
        assert session.receive(hello)
        return
    with pytest.raises(ProtocolViolation, match=r"the bot knows 2\\n, this match is played by the rules 1"):
        session.receive(hello)


def test_the_tables_name_every_message() -> None:
    """Every message is in a table."""
    assert {kind for _, kind in SENT} == {type(message) for message in TO_BOT}
    assert {kind for _, kind in RECEIVED} == {type(message) for message in FROM_BOT}
