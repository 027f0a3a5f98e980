"""Progress on stderr: a line that is drawn over on a terminal, a line every half minute elsewhere."""

import re
import sys

import pytest
from support.cli_arena import Terminal
from support.golden import Golden
from support.store_made import fill, tournament

from arena.cli import edge
from arena.cli.edge import LINE_EVERY_S, TerminalLine, show_events
from arena.league.progress import RunProgress, duration_text, steps_of
from arena.operations import events
from arena.operations.events import Counted


class Clock:
    """Seconds that pass only when told."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def test_a_pipe_gets_a_line_every_half_minute(capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe gets a line every half minute: matches done, their total and the time left, without escape codes."""
    clock = Clock()
    progress = RunProgress(total=7200, clock=clock)

    with show_events(words=lambda step: step.counts.words(), is_left=True, clock=clock) as on:
        for _ in range(200):  # twice a second
            on(Counted.of(progress.counts))
            clock.now_s += 0.5
            progress.add(1, 0)

    assert LINE_EVERY_S == 30
    assert capsys.readouterr().err.splitlines() == [
        "60/7200 matches, 2.0/s, 59m30s left",
        "120/7200 matches, 2.0/s, 59m00s left",
        "180/7200 matches, 2.0/s, 58m30s left",
    ]


@pytest.mark.parametrize(("columns", "bar"), [("200", 30), ("60", 28), ("46", 14), ("36", 0), ("10", 0)])
def test_a_drawn_line_fits_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str, bar: int
) -> None:
    """A line that wraps leaves its first half standing each time."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", columns)

    monkeypatch.setattr(edge, "_DRAW_EVERY_S", 0.0)
    TerminalLine(lambda _: "6/12 matches, 2.0/s, 3s left").show(events.Progress("matches", 6, 12))

    drawn = capsys.readouterr().err.removeprefix("\r").removesuffix("\x1b[K")
    assert len(drawn) < int(columns)
    assert drawn.count("#") == drawn.count(".") - 1 == bar // 2 if bar else "[" not in drawn


def test_a_league_that_goes_on_does_not_say_0_s_left(golden: Golden) -> None:
    """Before the first match of a run nobody knows."""
    progress = RunProgress(total=100, done=40, clock=Clock())

    golden(progress.counts.words())


def test_finished_matches_are_told_apart_from_stored_ones() -> None:
    """A stop loses those of lives that are not over; they count for the rate and the time that is left."""
    clock = Clock()
    progress = RunProgress(total=100, done=40, clock=clock)
    clock.now_s += 10.0

    progress.finished = 20
    shown = progress.counts.words(), progress.counts.done
    progress.add(20, 0)

    assert shown == ("60/100 matches (40 stored), 2.0/s, 20s left", 60)
    assert (progress.counts.words(), progress.counts.done) == ("60/100 matches, 2.0/s, 20s left", 60)


@pytest.mark.parametrize(
    ("seconds", "told"), [(42.9, "42s"), (187, "3m07s"), (3720, "1h02m"), (86_399, "23h59m"), (183_600, "2d03h")]
)
def test_durations(seconds: float, told: str) -> None:
    """Two units at most."""
    assert duration_text(seconds) == told


@pytest.mark.process
def test_commands_that_play_tell_their_progress_in_a_pipe(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """`league run`, `compare`, `match` with many blocks, and `verify` with the batches that it plays again."""
    monkeypatch.setattr(edge, "LINE_EVERY_S", 0.0)
    monkeypatch.setattr(edge, "_DRAW_EVERY_S", 0.0)
    assert not sys.stderr.isatty()

    league = terminal.league()
    verified = terminal.arena("verify test --replay 1")
    compared = terminal.arena("compare random random --game nim --blocks 20 --batch 8 --workers 2")
    met = terminal.arena("match random random --game nim --blocks 11")

    assert re.search(r"^4/4 matches, \d", league.err, re.MULTILINE), league.err
    assert "test: 0/4 matches" in verified.err
    assert "test, played again: 4/4 matches" in verified.err
    assert re.search(r"blocks, LLR .*(left|cap)", compared.err), compared.err
    assert "22/22 matches" in met.err


def test_a_long_task_shows_its_steps_and_leaves_no_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal: drawn at most five times a second, and wiped at the end."""
    clock = Clock()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)

    with show_events(clock=clock) as on:
        for _ in steps_of(range(2500), "test: matches read", 2500, lambda *step: on(events.Progress(*step))):
            clock.now_s += 0.001

    drawn = capsys.readouterr().err
    assert re.findall(r"test: matches read: (\d+) of 2500", drawn) == ["500", "1000", "1500", "2000"]
    assert drawn.endswith("\r\x1b[K")


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("site build --to site --matches none", {"test: matches read", "test: pages"}),
        ("site build --to site --matches all", {"test: matches read", "test: pages", "test: matches replayed"}),
        ("league matches --format csv", {"matches"}),
    ],
)
def test_commands_that_read_all_matches_tell_how_far_they_are(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, command: str, parts: set[str]
) -> None:
    """Commands that read all matches show progress; a site of a million matches took a silent minute."""
    fill(terminal.results, tournament("ann", "bob", cycles=2))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("arena.cli.edge._DRAW_EVERY_S", 0.0)

    found = terminal.arena(command)

    assert found.code == 0
    assert all(re.search(rf"{part}: 0 of \d+", found.err) for part in parts)
