"""Secret luck: each value under a label of its own, recomputed in a shell, and a secret that does not leave."""

import copy
import hashlib
import hmac
import json
import math
import pickle
from itertools import permutations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.golden import Golden

from arena.errors import SpecError
from arena.match import secret_luck
from arena.match.secret_luck import BlockDraw, Secret, draw_block

VALUE = bytes(range(32))
FIXTURE = "5f0c1d7e2a94-7"


def by_hand(label: str) -> str:
    return hmac.new(VALUE, label.encode(), hashlib.sha256).hexdigest()


def test_every_value_has_a_label_of_its_own() -> None:
    """The values of a table of three are those of the recipes in protocol.md."""
    drawn = draw_block(Secret(VALUE), FIXTURE, 3)

    assert drawn == BlockDraw(
        commitment=hashlib.sha256(b"arena/commitment" + VALUE).hexdigest(),
        luck=by_hand(f"block/{FIXTURE}")[:32],
        bot_seeds=tuple(int(by_hand(f"bot/{FIXTURE}/{seat}")[:13], 16) for seat in range(3)),
        wire_ids=tuple(by_hand(f"match/{FIXTURE}/{rotation}")[:16] for rotation in range(3)),
        order=sorted(permutations(range(3)))[int(by_hand(f"order/{FIXTURE}"), 16) % 6],
    )


def test_a_public_seed_is_a_secret_that_everybody_has() -> None:
    """Its secret is a hash of the seed, and is used like any other."""
    secret = Secret.public("2026")

    assert secret == Secret(hashlib.sha256(b"arena/public seed/2026").digest())
    assert secret.seed == "2026"
    assert Secret(VALUE).seed is None


def test_secrets_are_long_and_never_the_same(golden: Golden) -> None:
    """They have at least 128 bits from the system."""
    found = {Secret.random().reveal() for _ in range(100)}

    assert len(found) == 100
    assert {len(bytes.fromhex(each)) for each in found} == {32}
    with golden.raises(ValueError):
        Secret(bytes(15))


@given(st.text(max_size=5), st.text(max_size=5), st.integers(2, 4))
def test_blocks_share_nothing(one: str, other: str, seats: int) -> None:
    """Every value differs between two blocks, and within a block."""
    drawn = [draw_block(Secret(VALUE), fixture, seats) for fixture in {one, other}]

    values = [value for each in drawn for value in (each.luck, *each.bot_seeds, *each.wire_ids)]
    assert len(set(values)) == len(values)
    assert all(sorted(each.order) == list(range(seats)) for each in drawn)


def test_orders_of_ten_are_numbered_as_sorted() -> None:
    """The first, the second, the last and a middle one of 3 628 800 orders are checked."""
    places = tuple(range(10))

    assert secret_luck._order(0, 10) == places
    assert secret_luck._order(1, 10) == (*places[:8], 9, 8)
    assert secret_luck._order(math.factorial(10) - 1, 10) == places[::-1]
    assert [secret_luck._order(number, 4) for number in range(24)] == sorted(permutations(range(4)))


@pytest.mark.parametrize("leak", [pickle.dumps, copy.copy, copy.deepcopy, msgspec.json.encode, json.dumps])
def test_a_secret_cannot_be_sent_anywhere(leak: object) -> None:
    """It cannot be pickled for a worker, or encoded as JSON for a page."""
    with pytest.raises(TypeError):
        leak(Secret(VALUE))  # type: ignore[operator]


def test_a_secret_shows_its_commitment_only() -> None:
    """That holds in a traceback, a log and an f-string."""
    secret = Secret(VALUE)

    shown = f"{secret} {secret!r} {[secret]} {vars(type(secret)).get('__dict__')}"
    assert secret.commitment in shown
    assert VALUE.hex() not in shown
    assert repr(VALUE) not in shown


@pytest.mark.parametrize("text", ["", "zz" * 32, "ab" * 15, f"{VALUE.hex()}\n{VALUE.hex()}", f"{VALUE.hex()} x"])
def test_what_is_no_secret_file_is_refused_without_quoting_it(text: str, golden: Golden) -> None:
    """The text may be a secret with a typing error."""
    with golden.raises(SpecError) as caught:
        Secret.read(text, "here.secret")

    assert VALUE.hex() not in str(caught.value)
    assert caught.value.__context__ is None or VALUE.hex() not in str(caught.value.__context__)


def test_a_secret_file_may_have_remarks() -> None:
    """Lines that begin with # are left out."""
    assert Secret.read(f"# of a league\n\n  # indented\n{VALUE.hex()}\n", "x") == Secret(VALUE)
