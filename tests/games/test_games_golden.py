"""A transcript of one random play of each game, to be read by people and kept by the test.

A full table plays, and a simulator is scripted, so that the same lines come out on every machine. Run
with ARENA_REGOLD=1 to write the transcripts anew, and read the difference.
"""

from random import Random

import pytest
from games_transcript import kept, transcript

from arena.games import GAMES, load_game


@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_random_play_reads_as_before(name: str) -> None:
    """Rules, luck, texts and the order of legal actions: any change shows here."""
    game = load_game(name)
    seats = max(game.seat_counts)

    found = transcript(game, "000102030405060708090a0b0c0d0e0f", Random(name), seats=seats)

    assert found == kept(name, found)
