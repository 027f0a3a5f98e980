"""Commands run the schedule of a league once, and hash each of its pairings once."""

from collections import Counter
from typing import Any

import pytest
from support.cli_arena import Said, Terminal

from arena.league import schedule

COMMAND_LINES = (
    "league status",
    "league matches test",
    "league matches test --format csv",
    "leaderboard test",
    "matrix test",
    "stats p0 test",
    "verify test",
    "verify test --isolation none --replay 2",
)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> "Counter[str]":
    """How often a schedule was run from its beginning, and how often the key of a pairing was computed."""
    counts: Counter[str] = Counter()

    def counting(name: str, called: Any) -> Any:
        def call(*arguments: Any) -> Any:
            counts[name] += 1
            return called(*arguments)

        return call

    for module in ("state", "schedule"):
        monkeypatch.setattr(f"arena.league.{module}.generator_of", counting("replays", schedule.generator_of))
    monkeypatch.setattr(schedule, "_draw_seating", counting("hashes", schedule._draw_seating))
    return counts


@pytest.mark.slow
@pytest.mark.process
def test_each_command_replays_once(terminal: Terminal, counted: "Counter[str]") -> None:
    """A swiss of four: two rounds of two pairings; run, run again, and each page."""
    swiss = {"schedule": {"kind": "swiss", "rounds": 2}, "cycles": None}
    field = ("random",) * 4

    def spent(line: str) -> "Counter[str]":
        counted.clear()
        said = terminal.arena(line) if line else run()
        assert said.code == 0, said
        return Counter(counted)

    def run() -> Said:
        return terminal.league(*field, flags="--isolation none", **swiss)

    once = Counter(replays=1, hashes=4)
    assert spent("") == once
    assert spent("") == once
    assert {line: spent(line) for line in COMMAND_LINES} == dict.fromkeys(COMMAND_LINES, once)
