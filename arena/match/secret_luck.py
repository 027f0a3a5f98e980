"""Secret luck: all that is drawn for a block follows from a secret, by HMAC under a label of its own.

Rule: the secret S stays in the process that draws blocks. A `Secret` has no text form but `reveal`, cannot be pickled,
and shows its commitment instead; a worker gets a `BlockDraw`, of which nothing leads back to S or to other blocks.

Source: the recipes are published in protocol.md under "Luck":

    commitment    = SHA-256("arena/commitment" || S), in hex
    S of a seed   = SHA-256("arena/public seed/" || seed), for a public seed
    block luck    = the first 32 hex digits of HMAC-SHA256(S, "block/<fixture>")
    bot_seed      = the first 13 hex digits of HMAC-SHA256(S, "bot/<fixture>/<seat>"), as a number
    id on the wire = the first 16 hex digits of HMAC-SHA256(S, "match/<fixture>/<rotation>")
    order         = HMAC-SHA256(S, "order/<fixture>") as a number, modulo n!, is the place of the order of the n
                    rotations among all their orders, sorted; that of the first block counts for all blocks played by
                    the same processes

A fixture is `<pairing>-<block>`.
"""

import hmac
import math
import secrets
from hashlib import sha256
from typing import Any, Final, NoReturn

import msgspec
from msgspec import UNSET, UnsetType

from arena.errors import SpecError

LEAST_BYTES: Final = 16
"""128 bits, which cannot be guessed."""
_DRAWN_BYTES: Final = 32
LUCK_DIGITS: Final = 32
_BOT_SEED_DIGITS: Final = 13
"""52 bits, which every JSON reader takes for the same number."""
_WIRE_DIGITS: Final = 16


class Secret:
    """The secret S of a league; `seed` is the public seed it stands for, if any.

    Secrets with the same commitment are equal.
    """

    __slots__ = ("_keyed", "_value", "commitment", "seed")

    def __init__(self, value: bytes, seed: str | None = None) -> None:
        if len(value) < LEAST_BYTES:
            raise ValueError(f"a secret of luck has at least {LEAST_BYTES} bytes, found {len(value)}")
        self._value = value
        self._keyed = hmac.new(value, digestmod=sha256)  # a copy of it costs half as much as `hmac.digest`
        self.seed = seed
        self.commitment: str = sha256(b"arena/commitment" + value).hexdigest()

    @classmethod
    def random(cls) -> "Secret":
        """Draw a new secret from the system's source of randomness."""
        return cls(secrets.token_bytes(_DRAWN_BYTES))

    @classmethod
    def public(cls, seed: str) -> "Secret":
        """Return the secret of a public seed, which anybody can compute."""
        return cls(sha256(b"arena/public seed/" + seed.encode()).digest(), seed)

    @classmethod
    def read(cls, text: str, place: str) -> "Secret":
        """Read the secret in the text of a secret file: one line of hex digits, and comments that begin with `#`.

        SpecError names `place` and never quotes the text.
        """
        lines = [line for line in map(str.strip, text.splitlines()) if line and not line.startswith("#")]
        try:
            value = bytes.fromhex(lines[0]) if len(lines) == 1 else b""
        except ValueError:
            value = b""
        if len(value) < LEAST_BYTES:
            raise SpecError(
                f"{place}: this is no secret file: expected one line of at least {2 * LEAST_BYTES} hex digits, as"
                f" `arena league reveal` prints it"
            )
        return cls(value)

    def reveal(self) -> str:
        """Return the secret itself, in hex: for its file, and for everybody when it is never used again."""
        return self._value.hex()

    def derive(self, label: str) -> str:
        """Return 64 hex digits that follow from the secret and the label. They reveal nothing about other labels."""
        code = self._keyed.copy()
        code.update(label.encode())
        return code.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self.commitment == other.commitment

    def __hash__(self) -> int:
        return hash(self.commitment)

    def __repr__(self) -> str:
        return f"Secret(commitment={self.commitment!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret of luck stays in its process: hand on a BlockDraw")


class LuckOrigin(msgspec.Struct, frozen=True):
    """The origin of the luck of a league: the commitments of its secrets, the first one first, and a public seed."""

    commitments: tuple[str, ...] = ()
    public_seed: str | None = None


UNKNOWN_ORIGIN: Final = LuckOrigin()


class BlockDraw(msgspec.Struct, frozen=True):
    """The draw of one block.

    `commitment` is that of the secret. `luck` is a text of 32 hex digits from which every die of the block follows.
    `bot_seeds` are by seat, the same in all matches of the block; `wire_ids` by rotation. `order`: the rotations in the
    order in which a job plays them that begins with this block. `opening` begins all matches of the block.
    """

    commitment: str
    luck: str
    bot_seeds: tuple[int, ...]
    wire_ids: tuple[str, ...]
    order: tuple[int, ...]
    opening: dict[str, Any] | UnsetType = UNSET


def draw_block(secret: Secret, fixture: str, seats: int) -> BlockDraw:
    """Draw luck, bot seeds, ids and order of the block `fixture`, which is `<pairing>-<block>`, for that many seats."""
    places = range(seats)
    return BlockDraw(
        commitment=secret.commitment,
        luck=secret.derive(f"block/{fixture}")[:LUCK_DIGITS],
        bot_seeds=tuple(int(secret.derive(f"bot/{fixture}/{seat}")[:_BOT_SEED_DIGITS], 16) for seat in places),
        wire_ids=tuple(secret.derive(f"match/{fixture}/{rotation}")[:_WIRE_DIGITS] for rotation in places),
        order=_order(int(secret.derive(f"order/{fixture}"), 16), seats),
    )


def _order(number: int, count: int) -> tuple[int, ...]:
    """Return the order at place `number` modulo count! among all orders of 0..count-1, sorted."""
    left = list(range(count))
    return tuple([left.pop(number // math.factorial(size - 1) % size) for size in range(count, 0, -1)])
