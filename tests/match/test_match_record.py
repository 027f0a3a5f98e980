"""A record in its stored form, and back."""

import zlib

import msgspec
import pytest
from support.scripted_bot import ScriptedBot, house, match_of, random_match, seated

from arena.errors import Crashed
from arena.match.record import RECORD_BYTES, ActionStep, MatchRecord, PackedRecord, pack, unpack

RECORDS = [
    random_match("nim", 1),
    random_match("shanghaien", 2),
    match_of(seated(ScriptedBot(lambda _m, _n: [Crashed("gone")])), house()),
]


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_survives_the_store(record: MatchRecord) -> None:
    """Packed again it gives the same bytes under the same digest, and what plain values it has are the same."""
    packed = pack(record)
    again = unpack(packed)

    assert pack(again) == packed
    assert (again.seats, again.ranks, again.scores, again.fault) == (
        *(record.seats, record.ranks, record.scores, record.fault),
    )
    assert len(again.steps) == len(record.steps)


def test_no_corrupted_byte_goes_unnoticed() -> None:
    """Each byte of the body in turn: an error that says the stored bytes are wrong, never another record."""
    packed = pack(RECORDS[0])
    for place in range(len(packed.body)):
        body = bytearray(packed.body)
        body[place] ^= 0x10
        try:
            again = unpack(msgspec.structs.replace(packed, body=bytes(body)))
        except ValueError as error:
            assert "the stored bytes" in str(error)  # noqa: PT017 - a flipped bit of the header may change nothing
        else:
            assert again == unpack(packed)


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        (
            PackedRecord(codec="json+brotli", digest="", body=b""),
            "unknown codec 'json\\+brotli', expected 'json\\+zlib'",
        ),
        (PackedRecord(codec="json+zlib", digest="", body=b""), "cannot be decompressed"),
        (PackedRecord(codec="json+zlib", digest="", body=zlib.compress(b"{}")), "do not have the stored digest"),
        (msgspec.structs.replace(pack(RECORDS[0]), body=pack(RECORDS[0]).body[:-9]), "cannot be decompressed"),
        (msgspec.structs.replace(pack(RECORDS[0]), digest=pack(RECORDS[1]).digest), "do not have the stored digest"),
    ],
)
def test_what_does_not_fit_is_named(packed: PackedRecord, message: str) -> None:
    """The codec, the compression, the digest."""
    with pytest.raises(ValueError, match=message):
        unpack(packed)


def test_no_bot_makes_a_record_too_large_by_its_words() -> None:
    """Notes are left out of a record that they would make too large: a match that is not stored could be bought."""
    step = RECORDS[0].steps[-1]
    assert isinstance(step, ActionStep)
    wordy = (msgspec.structs.replace(step, note="\x01" * 1000),) * (RECORD_BYTES // 6000 + 1)

    kept = unpack(pack(msgspec.structs.replace(RECORDS[0], steps=wordy)))

    assert kept.steps == unpack(pack(RECORDS[0])).steps[-1:] * len(wordy)
