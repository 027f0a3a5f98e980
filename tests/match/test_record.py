"""A record in its stored form, and back."""

import zlib

import msgspec
import pytest
from support.scripted_bot import ScriptedBot, house, match_of, random_match, seated

from arena.errors import Crashed
from arena.match.record import RECORD_BYTES, ActionStep, MatchRecord, join_packed, pack, split_packed, unpack

RECORDS = [
    random_match("nim", 1),
    random_match("shanghaien", 2),
    match_of(seated(ScriptedBot(lambda _m, _n: [Crashed("gone")])), house()),
]


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_survives_the_store(record: MatchRecord) -> None:
    """Packed again it gives the same bytes under the same digest, and its plain values are the same."""
    packed = pack(record)
    again = unpack(packed)

    assert pack(again) == packed
    assert (again.seats, again.ranks, again.scores, again.fault) == (
        *(record.seats, record.ranks, record.scores, record.fault),
    )
    assert len(again.steps) == len(record.steps)


def test_no_corrupted_byte_goes_unnoticed() -> None:
    """A change of any byte of the body is an error that says the stored bytes are wrong, never another record."""
    packed = pack(RECORDS[0])
    for place in range(packed.index(b"\n") + 1, len(packed)):
        changed = bytearray(packed)
        changed[place] ^= 0x10
        try:
            again = unpack(bytes(changed))
        except ValueError as error:
            assert "the stored bytes" in str(error)  # noqa: PT017 - a flipped bit of the header may change nothing
        else:
            assert again == unpack(packed)


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        (join_packed("json+brotli", "", b""), "unknown codec 'json\\+brotli', expected 'json\\+zlib'"),
        (join_packed("json+zlib", "", b""), "cannot be decompressed"),
        (join_packed("json+zlib", "", zlib.compress(b"{}")), "do not have the stored digest"),
        (pack(RECORDS[0])[:-9], "cannot be decompressed"),
        (join_packed("json+zlib", "0" * 64, split_packed(pack(RECORDS[0]))[2]), "do not have the stored digest"),
    ],
)
def test_what_does_not_fit_is_named(packed: bytes, message: str) -> None:
    """The error names the codec, the compression or the digest."""
    with pytest.raises(ValueError, match=message):
        unpack(packed)


def test_no_bot_makes_a_record_too_large_by_its_words() -> None:
    """Notes are left out of a record that they would make too large: a match that is not stored could be bought."""
    step = RECORDS[0].steps[-1]
    assert isinstance(step, ActionStep)
    wordy = (msgspec.structs.replace(step, note="\x01" * 1000),) * (RECORD_BYTES // 6000 + 1)

    kept = unpack(pack(msgspec.structs.replace(RECORDS[0], steps=wordy)))

    assert kept.steps == unpack(pack(RECORDS[0])).steps[-1:] * len(wordy)
