"""The rules of {{name}}: the contract of every game, and the positions that matter in this one."""

import pytest
from arena.conformance.game import CHECKS, findings
from arena.conformance.play import played_table
from arena.games import load_game

GAME = load_game("{{name}}")


@pytest.mark.parametrize("seats", GAME.seat_counts)
@pytest.mark.parametrize("title", CHECKS)
def test_the_contract(title: str, seats: int) -> None:
    assert findings(CHECKS[title], played_table(GAME, seats)) == ()


def test_a_play_ends_with_a_score_for_each_seat() -> None:
    end = played_table(GAME, GAME.seat_counts[0], plays=1).plays[0][-1].state

    assert len(GAME.outcome(end).scores) == GAME.seat_counts[0]
