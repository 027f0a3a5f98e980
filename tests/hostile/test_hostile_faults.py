"""Each way to misbehave ends as one termination, with a sentence for the author, in bounded time, with nothing left."""

import re

import pytest
from msgspec.structs import replace
from support.golden import Golden
from support.hostile_play import CLOCK, WideNim, against, elapsed_s, hostile, is_gone, left_of
from support.waiting import a_second

from arena.match.record import MatchRecord

pytestmark = pytest.mark.process

WALL_S = 0.4


def check_forfeit(record: MatchRecord, termination: str, sentence: str) -> None:
    assert record.termination.value == termination
    assert record.fault is not None
    assert record.fault.seat == 0
    assert re.search(sentence, record.fault.message), record.fault.message
    assert (record.ranks, record.scores) == ((1, 0), None)


NUISANCES = {"honest": 0, "chatty": 5_000, "limits": 0, "line-at-limit": 0, "ignore-all": 0, "talk-at-quit": 0}
"""Stray lines of the first match."""


@pytest.mark.parametrize("mode", NUISANCES)
def test_what_is_only_a_nuisance_costs_no_match(mode: str) -> None:
    """Two matches end by the rules in one process; what did not count is reported."""
    with hostile(mode) as bot:
        records = [against(bot.bot_player) for _ in range(2)]

        assert [record.termination.value for record in records] == ["normal", "normal"]
        assert records[0].seats[0].ignored.get("stray", 0) == NUISANCES[mode]
        assert records[0].seats[0].ignored.keys() <= {"stray"}
        assert len(bot.processes) == 1
    assert is_gone(lambda: left_of(bot))


@pytest.mark.parametrize(("mode", "most"), [("answer-twice", 19), ("early", 19), ("early-many", 2999)])
def test_answers_nobody_asked_for_are_never_applied(mode: str, most: int) -> None:
    """The same match is played as without them; each is counted, as early or stale."""
    with hostile("honest") as plain, hostile(mode) as bot:
        expected, record = against(plain.bot_player), against(bot.bot_player)

        assert record.steps == expected.steps
        counted = record.seats[0].ignored
        assert set(counted) <= {"early", "stale"}
        assert 0 < sum(counted.values()) <= most


@pytest.mark.parametrize(
    ("mode", "termination", "sentence"),
    [
        ("close-stdin-when-ready", "crash", "closed its stdin or stdout while still running"),
        ("close-stdin-late", "crash", "closed its stdin or stdout while still running"),
        ("deaf", "timeout", "no answer within 0.4 s"),
    ],
)
def test_a_request_larger_than_the_pipe_to_who_does_not_read(mode: str, termination: str, sentence: str) -> None:
    """The referee neither hangs in the write nor takes the closed pipe for a fault of its own."""
    with hostile(mode) as bot:
        took_s = elapsed_s(lambda: check_forfeit(against(bot.bot_player, game=WideNim(200_000)), termination, sentence))

        assert took_s < WALL_S + 2 * a_second()
    assert is_gone(lambda: left_of(bot))


def test_who_ignores_everything_is_killed_after_the_grace() -> None:
    """SIGTERM, the end of input and quit are ignored; a second later it is over."""
    bot = hostile("ignore-all")
    against(bot.bot_player)

    endings: list[str] = []
    took_s = elapsed_s(lambda: endings.append(bot.bot_player.close()))

    assert endings == ["was killed"]
    assert took_s < 1.0 + a_second()
    assert is_gone(lambda: left_of(bot))


def test_who_has_much_to_say_at_the_end_can_say_it(golden: Golden) -> None:
    """More than a pipe holds; nobody listens, but it is not killed for it."""
    bot = hostile("talk-at-quit")
    against(bot.bot_player)

    golden(bot.bot_player.close())


def test_a_kept_transcript_is_bounded() -> None:
    """Whoever asks for the whole transcript gets the first thousand useless lines, not all of them."""
    clock = replace(CLOCK, move_ms=400, wall_ms=800)
    bot = hostile("flood-of-text", clock=clock)
    bot.bot_player.transcript = type(bot.bot_player.transcript)()
    record = against(bot.bot_player, clock=clock)

    assert record.fault is not None
    assert 1000 < len(bot.bot_player.transcript) < 1100
    assert record.seats[0].ignored["stray"] > 1100
