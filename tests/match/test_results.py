"""Results: exact values from records, and refusal of what no match can have come to."""

import zlib
from fractions import Fraction
from hashlib import sha256

import msgspec
import pytest
from support.golden import Golden

from arena.match.luck import MatchLuck
from arena.match.record import (
    MatchRecord,
    SeatRecord,
    Termination,
    encode_record,
    join_packed,
    pack,
    unpack,
)
from arena.match.results import MatchKey, MatchResult, result_of, rotate
from arena.match.settings import ClockSettings

SEATS = (
    SeatRecord(
        player="ann",
        bot="a",
        moves=3,
        cpu_ms=1.2345,
        wall_ms=9.0,
        slowest_ms=0.7,
        ignored={},
        faults={"timeout": 2, "malformed_reply": 1},
    ),
    SeatRecord(player="bob", bot="b", moves=2, cpu_ms=5.0, wall_ms=2.5, slowest_ms=2.0, ignored={}, decides="wall"),
)


def record(scores: tuple[Fraction, ...] | None = (Fraction(3, 2), Fraction(1)), match: str = "0a1b-7-1") -> MatchRecord:
    return MatchRecord(
        match=match, arena="0", game="nim", rules="1", options={}, seed="0", clock=ClockSettings().terms(),
        isolation="sandbox", seats=SEATS, steps=(), ranks=(0, 1), scores=scores, fault=None,
        termination=Termination.NORMAL,
    )  # fmt: skip


def test_a_result_is_the_exact_part_of_its_record() -> None:
    """Times become whole microseconds by the clock that decides, luck whole millionths; key and players are there."""
    found = result_of(record(), MatchLuck("1", (0.25, -0.2499996), ()))

    assert found == MatchResult(
        key=MatchKey("0a1b", 7, 1),
        players=("ann", "bob"),
        ranks=(0, 1),
        scores=(Fraction(3, 2), Fraction(1)),
        termination=Termination.NORMAL,
        at_fault=None,
        isolation="sandbox",
        moves=(3, 2),
        time_us=(1234, 2500),
        slowest_us=(700, 2000),
        startup_us=(0, 0),
        idle_us=(0, 0),
        timeouts_by_load=(0, 0),
        luck=(250_000, -250_000),
        luck_version="1",
        pardoned=({"timeout": 2, "malformed_reply": 1}, {}),
    )
    assert [*found.pardoned[0]] == ["malformed_reply", "timeout"]
    assert found.margins == (Fraction(1, 2), Fraction(-1, 2))
    assert found.points == (2, 0)
    assert found.places == ("bob", "ann")
    assert rotate(found.places, 1) == found.players


def test_fractions_in_a_record() -> None:
    """A whole score is an integer in JSON, another one a string; both come back exactly."""
    whole, split = record((Fraction(4), Fraction(-1))), record()

    assert b'"scores":[4,-1]' in encode_record(whole)
    assert b'"scores":["3/2",1]' in encode_record(split)
    assert [unpack(pack(each)) for each in (whole, split)] == [whole, split]


@pytest.mark.parametrize(
    "score", ['"1.5"', '"6/4"', '" 3/2"', '"3"', '"1/0"', "1.5", "true", "null", '"9e9"', '"9e999999999"']
)
def test_no_other_form_of_a_score_is_read(score: str, golden: Golden) -> None:
    """One value has one form, so that no two records with the same content differ in their digests."""
    text = encode_record(record()).replace(b'"3/2"', score.encode())
    packed = join_packed("json+zlib", sha256(text).hexdigest(), zlib.compress(text))

    with golden.raises(ValueError):
        unpack(packed)


@pytest.mark.parametrize("match", ["m", "a-1", "a-1-2-3", "a--1", "a-x-1", "a-007-1", "a-\N{SUPERSCRIPT TWO}-1"])
def test_a_record_of_no_pairing_is_no_result(match: str, golden: Golden) -> None:
    """The key of a result is read from the id of its record."""
    with golden.raises(ValueError):
        result_of(record(match=match))


@pytest.mark.parametrize(
    ("termination", "scores", "at_fault"),
    [
        (Termination.NORMAL, None, None),
        (Termination.NORMAL, (Fraction(1), Fraction(0)), 1),
        (Termination.CRASH, (Fraction(1), Fraction(0)), 1),
        (Termination.CRASH, None, None),
    ],
)
def test_a_forfeit_has_a_seat_at_fault_and_no_scores(
    termination: Termination, scores: tuple[Fraction, ...] | None, at_fault: int | None, golden: Golden
) -> None:
    """A match that ended by the rules has scores, and no seat at fault."""
    with golden.raises(ValueError):
        msgspec.structs.replace(result_of(record()), termination=termination, scores=scores, at_fault=at_fault)
