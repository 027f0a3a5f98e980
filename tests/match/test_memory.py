"""The referee and its bot players keep nothing of a match that is over: a worker plays millions of them."""

import gc
import sys
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from support.scripted_bot import RandomBot, seated, spec_for

from arena.games import bundled_names, load_game
from arena.match.record import pack
from arena.match.referee import play_match
from arena.match.results import result_of
from arena.process.scripted import Reply

MATCHES = 10
WINDOWS = 5


class ForgetfulBot(RandomBot):
    """A bot that keeps no line."""

    def _respond(self, line: bytes) -> Iterable[Reply]:
        replies = super()._respond(line)
        self.heard.clear()
        self.channels[-1].sent.clear()
        return replies


@pytest.mark.parametrize("name", sorted(set(bundled_names()) - {"riffraff"}))  # of which a match takes seconds
def test_a_match_that_is_over_leaves_no_object_behind(name: str) -> None:
    """The same matches are played again and again, so that caches are soon full of them."""
    game = load_game(name)
    players = [seated(ForgetfulBot(), keep_transcript=False, game=game) for _ in range(2)]

    def play(number: int) -> Any:
        spec = spec_for(name, None, seed=f"{number:064x}", match=f"test-{number}-0")
        record = play_match(spec, players)
        return result_of(record), pack(record)

    sizes = []
    for _ in range(WINDOWS):
        for number in range(MATCHES):
            play(number)
        gc.collect()
        sizes.append(sys.getallocatedblocks())

    assert min(after - before for before, after in pairwise(sizes)) < MATCHES, sizes
