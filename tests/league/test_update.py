"""What a person is told about a changed tournament."""

from typing import Any

import pytest
from support.made_matches import bot, players, tournament

from arena.league.schedules.settings import Swiss
from arena.league.tournament import Player, without_machine_settings
from arena.league.update import describe_changes
from arena.match.settings import ClockSettings
from arena.process.limits import Limits

CASES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"workers": 3, "chunk_blocks": 7}, []),
    ({"seed": "6"}, ["seed changed from 1 to 6"]),
    ({"cycles": 2}, ["cycles changed from 4 to 2"]),
    (
        {"schedule": Swiss(rounds=1), "cycles": 0},
        ['schedule changed from {"kind":"round_robin"} to {"kind":"swiss","rounds":1}', "cycles changed from 4 to 0"],
    ),
    ({"options": {"heaps": [1]}}, ['options changed from {} to {"heaps":[1]}']),
    ({"limits": Limits(memory_mib=300)}, ["limits.memory_mib changed from 512 to 300"]),
    ({"clock": ClockSettings(move_ms=50)}, ["clock.move_ms changed from 100.0 to 50"]),
    ({"players": players("ann", "cid")}, ["player bob left", "player cid joined"]),
    (
        {"players": (Player(name="ann", bot=bot("ann", "f" * 64), arguments=("-d",)), *players("bob"))},
        ["player ann changed from ann 1 (ann00000) to ann 1 (ffffffff) -d"],
    ),
    ({"game": "shanghaien", "seed": "6"}, ["game changed from nim to shanghaien", "seed changed from 1 to 6"]),
]


@pytest.mark.parametrize(("changed", "said"), CASES)
def test_says_what_changed(changed: dict[str, Any], said: list[str]) -> None:
    """Changes have the words of the file; settings on which no match depends are left out."""
    former, now = tournament("ann", "bob"), tournament("ann", "bob", **changed)

    assert describe_changes(without_machine_settings(former), now) == said
