"""A bot that tells its card to the mirror match gains nothing, by each of two protections alone."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from collusion import Hands, build_bots, play_as_ordinary_user, play_hands

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("cc") is None, reason="the bot is written in C"),
]
BLOCKS = 30


@pytest.fixture(scope="module")
def scratch() -> Iterator[Path]:
    """The bots, in a folder that every user may read; and everything imported that plays."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        build_bots(Path(folder))
        play_hands(Path(folder), 1)
        yield Path(folder)


def test_the_trick_works_where_nothing_is_against_it(scratch: Path) -> None:
    """Without this control the others would prove nothing: the second of two matches knows the other card each time."""
    (hands,) = play_as_ordinary_user(scratch, BLOCKS, beside=True, limit=False)

    assert hands.sent == hands.right == BLOCKS
    assert sum(hands.scores) > BLOCKS / 2


@pytest.mark.parametrize(("beside", "limit"), [(False, False), (True, True), (False, True)])
def test_it_gains_nothing(scratch: Path, beside: bool, limit: bool) -> None:
    """One rotation at a time, a limit on queued signals, and both."""
    assert play_as_ordinary_user(scratch, BLOCKS, beside=beside, limit=limit) == [
        Hands(2 * BLOCKS, [0.5] * BLOCKS, sent=0, right=0, saw=0)
    ]
