"""The record of a match: enough to replay it without its seed, and to verify it with it.

Rule: a record is a frozen value with one JSON form. It holds the events of the match; it computes nothing but sums and
its digest.
"""

import re
import zlib
from collections.abc import Collection, Sequence
from enum import StrEnum
from fractions import Fraction
from hashlib import sha256
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from arena.errors import HarnessFault
from arena.plugins import Package
from arena.protocol.messages import ClockTerms

CODEC: Final = "json+zlib"
RECORD_BYTES: Final = 8 << 20
"""The largest record, as JSON; one of Riff Raff has 0.3 MB. Compressed bytes can stand for a thousand times as many."""
_SIZE_BYTES: Final = 4
_FRACTION: Final = re.compile(r"-?[1-9][0-9]*/[1-9][0-9]*", re.ASCII)


class Termination(StrEnum):
    """The reason why play stopped. All but `NORMAL` and `VOID` are the loss of the seat at fault."""

    NORMAL = "normal"
    ILLEGAL_ACTION = "illegal_action"
    MALFORMED_REPLY = "malformed_reply"
    PROTOCOL_VIOLATION = "protocol_violation"
    TIMEOUT = "timeout"
    CRASH = "crash"
    VOID = "void"


FAULTS: Final = tuple(kind for kind in Termination if kind not in {Termination.NORMAL, Termination.VOID})
PARDONABLE: Final = (Termination.ILLEGAL_ACTION, Termination.MALFORMED_REPLY, Termination.TIMEOUT)
"""The faults after which a game with a fault policy goes on. All others, and all of other games, end the match."""

LAST_TIMEOUT: Final = 3
"""The timeout of a seat in one match that is not pardoned any more."""
KEPT_BYTES: Final = 1 << 16
"""Bytes of a bot's lines that are kept in one match, besides answers of its usual form."""
REFUSALS_KEPT: Final = 5
"""Refusals of a seat in one match that are kept with their sentences; the others are counted."""


class ActionStep(msgspec.Struct, frozen=True, tag_field="step", tag="action", omit_defaults=True):
    """An `action` of `seat`, in its JSON form; `forced` if it was the only legal one and the bot was not asked.

    `fallback_for` (JSON: `stand_in`): the code of the fault after which this fallback action was played; empty for an
    action of the bot.
    """

    seat: int
    action: Any
    forced: bool = False
    note: str = ""
    fallback_for: str = msgspec.field(name="stand_in", default="")

    @property
    def is_own(self) -> bool:
        """True if the player itself chose the action."""
        return not self.forced and not self.fallback_for


class ChanceStep(msgspec.Struct, frozen=True, tag_field="step", tag="chance"):
    """A draw of chance: the key of the chance node, and its outcome."""

    key: str
    outcome: tuple[int, ...]


class SimulationStep(msgspec.Struct, frozen=True, tag_field="step", tag="simulation"):
    """A simulation: its key, and its `result` as plain JSON values in the game's own form."""

    key: str
    result: Any


Step = ActionStep | ChanceStep | SimulationStep


class RefusedAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fault after which the match went on: its code, the game's word for it, and the sentence that the bot got.

    `step` is the number, from 1, of the step for which the seat was asked; a forfeit may have come before it.
    """

    step: int
    code: str
    message: str
    reason: str = ""


class Discarded(msgspec.Struct, frozen=True, array_like=True):
    """`count` lines of that kind (`stray`, `stale`, `early`) around a request; number 0 is the start of the match."""

    request: int
    kind: str
    count: int


class Requests(msgspec.Struct, frozen=True, omit_defaults=True):
    """The use of time by request, in the order in which the seat was asked; a refused answer's second request counts.

    Whole microseconds. `idle_us` is empty if all are 0. `stderr`: bytes that the bot's process wrote to stderr since
    the answer before, or since the match began; empty if it wrote none. `discarded`: lines that were no answers.
    """

    cpu_us: tuple[int, ...] = ()
    wall_us: tuple[int, ...] = ()
    idle_us: tuple[int, ...] = ()
    stderr: tuple[int, ...] = ()
    discarded: tuple[Discarded, ...] = ()

    def deciding_us(self, decides: str) -> tuple[int, ...]:
        """Return the time that counted by request, in microseconds."""
        return self.cpu_us if decides == "cpu" else self.wall_us


def sums_by_request(requests: Requests, decides: str) -> dict[str, Any]:
    """Return the fields of a seat that follow from its requests: times in milliseconds, and useless lines by kind."""
    ignored: dict[str, int] = {}
    for lines in requests.discarded:
        ignored[lines.kind] = ignored.get(lines.kind, 0) + lines.count
    return {
        "cpu_ms": sum(requests.cpu_us) / 1000,
        "wall_ms": sum(requests.wall_us) / 1000,
        "slowest_ms": max(requests.deciding_us(decides), default=0) / 1000,
        "idle_ms": sum(requests.idle_us) / 1000 or UNSET,
        "ignored": ignored,
    }


class Said(msgspec.Struct, frozen=True, array_like=True):
    """The lines of a bot in answer to a request, and `early` ones that lay there before it was sent.

    `request` counts from 1; 0 is `match_start`, -1 is `hello`. A line that is not UTF-8 is kept as Latin-1 after a NUL.
    """

    request: int
    lines: tuple[str, ...]
    early: tuple[str, ...] = ()


class ReportedFault(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fault in an answer to a request, as it was reported to the bot, to which `sent` lines had gone by then."""

    request: int
    code: str
    message: str
    hint: str = ""
    got: str = ""
    reason: str = ""
    sent: int = 0
    is_fatal: bool = False


class SeatLines(msgspec.Struct, frozen=True, omit_defaults=True):
    """The lines of a seat that do not follow from the steps; `arena.match.reconstruction` makes the others again.

    `startup_ms` and `line_bytes` stood in the `hello` to its process, `first_id` in the first request. `form` is what
    stands before, between and after the two numbers of an answer by index; answers of that form are not in `said`.
    `checksum`: CRC-32 over all lines both ways. `left_out` lines are not kept, because the bot said more than
    KEPT_BYTES in the match. `lost_at`: the number of the line that the process did not take any more, and was ended.
    """

    startup_ms: int
    line_bytes: int
    checksum: int
    first_id: int = 1
    is_new: bool = True
    strict: bool = False
    clock: ClockTerms | UnsetType = UNSET
    form: tuple[str, ...] = ()
    said: tuple[Said, ...] = ()
    told: tuple[ReportedFault, ...] = ()
    left_out: int = 0
    lost_at: int = 0


class StderrText(msgspec.Struct, frozen=True, array_like=True):
    """The text that a bot's process wrote to stderr between its answer before and its answer to `request`.

    `request` counts from 1; -1 is until `hello`, 0 until `ready`, and one more than there are is after the last answer.
    """

    request: int
    text: str


class SeatRecord(msgspec.Struct, frozen=True):
    """The record of a seat: its player, its use of time in milliseconds, and the lines that did not count.

    `ignored` counts lines that were no answer to an open request, by kind: `stray` (not JSON), `stale` (another id),
    `early` (before the request), and fields that arena/1 does not have, as `unknown field NAME`. `decides`: the time
    that counted for this bot, and that `slowest_ms` is of: wall time for a bot that starts processes, whatever the
    match says. `faults` counts, by their code, the answers that were refused in a game that goes on after a fault;
    `refusals` are the first few of them, if there are any.

    `startup_ms` is what `hello` and `ready` took, `idle_ms` the time in which it did nothing while it owed answers.
    `timeouts_by_load`: wall time decided, and it waited for a core for longer than it was late.

    `requests` and `lines` have the details by request; a human has neither. `stderr`, where the
    match keeps it: the beginning and the end of all that was written in the match; a cut is marked in the text.
    `stderr_digest`: the SHA-256 of a text on stderr that was removed from the stored record.
    """

    player: str
    bot: str
    moves: int
    cpu_ms: float
    wall_ms: float
    slowest_ms: float
    ignored: dict[str, int]
    decides: Literal["cpu", "wall"] = "cpu"
    faults: dict[str, int] | UnsetType = UNSET
    refusals: tuple[RefusedAnswer, ...] | UnsetType = UNSET
    startup_ms: float | UnsetType = UNSET
    idle_ms: float | UnsetType = UNSET
    timeouts_by_load: int | UnsetType = UNSET
    requests: Requests | UnsetType = UNSET
    lines: SeatLines | UnsetType = UNSET
    stderr: tuple[StderrText, ...] | UnsetType = UNSET
    stderr_digest: str | UnsetType = UNSET

    @property
    def deciding_ms(self) -> float:
        """The time that counted, in milliseconds."""
        return self.cpu_ms if self.decides == "cpu" else self.wall_ms


class Forfeit(msgspec.Struct, frozen=True):
    """The fault of a seat that ended the match, with the last lines both ways (`>` to the bot, `<` from it)."""

    seat: int
    message: str
    hint: str
    got: str
    stderr: str
    transcript: tuple[str, ...]


class MatchRecord(msgspec.Struct, frozen=True):
    """The record of a match. `scores` is None when a forfeit ended it; `ranks` by seat from 0 (best).

    In JSON a whole score is an integer, any other one a string such as `"3/2"`.

    `simulator` (JSON: `nature`) is the fingerprint of the simulation, for games that have one: only results under the
    same fingerprint can be compared.
    `seed` is the luck of the block, `bot_seeds` are by seat, and `wire_id` is the id that the bots got: drawn under the
    secret of that `commitment`. A match without a commitment has none of the three; its
    bots got `match` as the id.
    `package` is that of a game which does not come with arena.
    """

    match: str
    arena: str
    game: str
    rules: str
    options: dict[str, Any]
    seed: str
    clock: ClockTerms
    isolation: str
    seats: tuple[SeatRecord, ...]
    steps: tuple[Step, ...]
    ranks: tuple[int, ...]
    scores: tuple[Fraction, ...] | None
    termination: Termination
    fault: Forfeit | None
    simulator: dict[str, str] | UnsetType = msgspec.field(name="nature", default=UNSET)
    wire_id: str | UnsetType = UNSET
    bot_seeds: tuple[int, ...] | UnsetType = UNSET
    commitment: str | UnsetType = UNSET
    package: Package | UnsetType = UNSET

    @property
    def players(self) -> tuple[str, ...]:
        """The names of the players, by seat."""
        return tuple([entry.player for entry in self.seats])


def pack(record: MatchRecord) -> bytes:
    """Compress the record, behind a line with the codec and the digest of the JSON.

    The text on stderr lies behind the JSON, which has its digest: it can be removed without a change of the record's.
    A record above RECORD_BYTES loses its stderr and notes; HarnessFault if it is too large even so.
    """
    public, texts = _split_stderr(record)
    text = encode_record(public)
    if (
        len(text) + sum(map(len, texts)) > RECORD_BYTES
    ):  # only its stderr and its notes can make a bot's record so large
        seats = tuple(msgspec.structs.replace(seat, stderr=UNSET) for seat in record.seats)
        steps = tuple(
            msgspec.structs.replace(step, note="") if isinstance(step, ActionStep) else step for step in record.steps
        )
        public, texts = _split_stderr(msgspec.structs.replace(record, seats=seats, steps=steps))
        text = encode_record(public)
    if len(text) > RECORD_BYTES:
        raise HarnessFault(
            f"the record of match {record.match} has {len(text)} bytes, at most {RECORD_BYTES} are stored"
        )
    return join_packed(CODEC, sha256(text).hexdigest(), zlib.compress(text, 6), _compress_texts(texts))


def join_packed(codec: str, digest: str, body: bytes, stderr: bytes = b"") -> bytes:
    """Join the parts of a packed record, as `split_packed` returns them."""
    return f"{codec} {digest}\n".encode() + len(body).to_bytes(_SIZE_BYTES, "little") + body + stderr


def split_packed(packed: bytes) -> tuple[str, str, bytes, bytes]:
    """Split a packed record: its codec, the SHA-256 of its JSON, the compressed JSON, and the compressed stderr."""
    heading, _, parts = packed.partition(b"\n")
    codec, _, digest = heading.decode().partition(" ")
    end = _SIZE_BYTES + int.from_bytes(parts[:_SIZE_BYTES], "little")
    return codec, digest, parts[_SIZE_BYTES:end], parts[end:]


def unpack(packed: bytes) -> MatchRecord:
    """Read a packed record. ValueError names what does not fit: the codec, the compression, the digest, the form."""
    codec, digest, body, stderr = split_packed(packed)
    if codec != CODEC:
        raise ValueError(f"unknown codec {codec!r}, expected {CODEC!r}")
    text = _decompress(body)
    if sha256(text).hexdigest() != digest:
        raise ValueError("the stored bytes do not have the stored digest")
    try:
        record = decode_record(text)
        return _join_stderr(record, _texts_of(stderr)) if stderr else record
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(f"the stored bytes are no record of a match: {error}") from None


def without_stderr(packed: bytes, bots: Collection[str]) -> bytes:
    """Remove from a packed record the stderr of the bots with these hashes. ValueError as from `unpack`.

    The digest stays that of the JSON, which has the digest of what is removed.
    """
    codec, digest, body, stderr = split_packed(packed)
    seats = unpack(packed).seats if stderr else ()
    texts = [b"" if seat.bot in bots else text for seat, text in zip(seats, _texts_of(stderr), strict=True)]
    return join_packed(codec, digest, body, _compress_texts(texts))


def _compress_texts(texts: Sequence[bytes]) -> bytes:
    """Compress the texts on stderr, by seat; empty without any."""
    return zlib.compress(msgspec.msgpack.encode(texts), 6) if any(texts) else b""


def _texts_of(stderr: bytes) -> list[bytes]:
    """Return the texts on stderr, by seat. ValueError for a damaged part."""
    return msgspec.msgpack.decode(_decompress(stderr), type=list[bytes]) if stderr else []


def _decompress(body: bytes) -> bytes:
    """Decompress a part of a stored record. ValueError if it is damaged, or too large."""
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(body, RECORD_BYTES)
    except zlib.error as error:
        raise ValueError(f"the stored bytes cannot be decompressed: {error}") from None
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError(f"the stored bytes cannot be decompressed to one record of at most {RECORD_BYTES} bytes")
    return text


def _split_stderr(record: MatchRecord) -> tuple[MatchRecord, list[bytes]]:
    """Take the stderr out of a record; return the record with its digests, and the texts by seat as JSON."""
    fault, seats, texts = record.fault, list(record.seats), [b""] * len(record.seats)
    for number, seat in enumerate(seats):
        last = fault.stderr if fault is not None and fault.seat == number else ""
        if seat.stderr or last:
            kept = None if seat.stderr is UNSET else seat.stderr
            texts[number] = msgspec.json.encode((kept, last))
            digest = sha256(texts[number]).hexdigest()
            seats[number] = msgspec.structs.replace(seat, stderr=UNSET, stderr_digest=digest)
    fault = fault and msgspec.structs.replace(fault, stderr="")
    return msgspec.structs.replace(record, seats=tuple(seats), fault=fault), texts


def _join_stderr(record: MatchRecord, texts: Sequence[bytes]) -> MatchRecord:
    """Put the texts on stderr, by seat, back into a record. ValueError for a text that the record has no digest of."""
    seats, fault = list(record.seats), record.fault
    for number, (seat, text) in enumerate(zip(record.seats, texts, strict=True)):
        if not text:
            continue
        if sha256(text).hexdigest() != seat.stderr_digest:
            raise ValueError(f"the stored bytes of the stderr of {seat.player} do not have the digest in the record")
        kept, last = msgspec.json.decode(text, type=tuple[tuple[StderrText, ...] | None, str])
        stderr = UNSET if kept is None else kept
        seats[number] = msgspec.structs.replace(seat, stderr=stderr, stderr_digest=UNSET)
        if fault is not None and fault.seat == number:
            fault = msgspec.structs.replace(fault, stderr=last)
    return msgspec.structs.replace(record, seats=tuple(seats), fault=fault)


def encode_record(record: MatchRecord) -> bytes:
    """Encode the record as JSON."""
    return msgspec.json.encode(record, enc_hook=encode_fraction)


def decode_record(text: bytes) -> MatchRecord:
    """Decode a record from JSON. MsgspecError names what does not fit."""
    return msgspec.json.decode(text, type=MatchRecord, dec_hook=_decode_fraction)


def plain_number(value: int | Fraction) -> int | float:
    """Convert a score or margin to a number for people, bots and JSON: 3, 1.5."""
    return value.numerator if value.denominator == 1 else float(value)


def encode_fraction(value: Any) -> int | str:
    """Return a score as it stands in JSON: an integer, or a string such as `3/2`. NotImplementedError for any other."""
    if not isinstance(value, Fraction):
        raise NotImplementedError(f"expected a Fraction, found {type(value)}")
    return value.numerator if value.denominator == 1 else str(value)


def _decode_fraction(kind: type, value: Any) -> Fraction:
    """Read a score from its form in JSON. ValueError for any other value."""
    if kind is Fraction and type(value) is int:
        return Fraction(value)
    if kind is Fraction and type(value) is str and _FRACTION.fullmatch(value):
        score = Fraction(value)
        if str(score) == value:
            return score
    raise ValueError(f"expected a whole number, or a fraction in lowest terms such as 3/2, found {value!r:.80}")
