"""Request by request: times in a table, lines as they went."""

import msgspec
import pytest
from support.report_made import record

from arena.errors import CheckFailed
from arena.match.record import MatchRecord
from arena.match.requests import answer_steps
from arena.report.transcript import dialogue_lines, time_lines

replace = msgspec.structs.replace


def older(played: MatchRecord) -> MatchRecord:
    return replace(
        played, seats=tuple(replace(seat, requests=msgspec.UNSET, lines=msgspec.UNSET) for seat in played.seats)
    )


def test_each_request_has_its_times_and_what_did_not_count() -> None:
    """The table has a line for each answer; its bank is the value that the bot was sent."""
    played = record()
    told = list(time_lines(played))

    assert told[1].startswith("seat 0 ann, by request: ")
    assert sum(line.split()[:1] == ["1"] for line in told) == len(played.seats)
    assert sum(line[:1] == " " and line.split()[0].isdigit() for line in told) == sum(s.moves for s in played.seats)
    assert any("stray" in line for line in told)
    assert all("1000.000" in line for line in told if line.split()[:1] == ["1"])


def test_all_lines_are_told_request_by_request_and_printable() -> None:
    """Each request has its step and its time; each line has its direction."""
    told = list(dialogue_lines(record(), 0))

    assert told[0] == "m-0-0, seat 0 ann, all lines as they went over the wire:"
    assert told[2:4] == ["start", next(line for line in told if line.startswith('> {"type":"hello"'))]
    assert any(line.startswith("step 1, request 1: 0.000 ms CPU, ") for line in told)
    assert told[-1].startswith('> {"type":"match_end"')
    assert any(line.startswith("< {") for line in told)
    assert all(line.isprintable() for line in told)


def test_the_lines_of_one_step_are_those_of_its_requests() -> None:
    """Lines of the steps before and after are left out."""
    played = record()
    steps = answer_steps(played, 0)

    told = list(dialogue_lines(played, 0, steps[1]))

    assert told[2].startswith(f"step {steps[1]}, request 2: ")
    assert sum(line.startswith('> {"type":"request"') for line in told) == 1
    assert len(told) < len(list(dialogue_lines(played, 0))) / 2


def test_lines_that_are_not_those_of_the_day_say_so() -> None:
    """Other lines than those of the checksum, and lines that were not kept."""
    played = record()
    first = played.seats[0]
    assert first.lines
    other = replace(first, lines=replace(first.lines, checksum=1))
    cut = replace(first, lines=replace(first.lines, left_out=3))

    wrong, short = (
        next(iter(dialogue_lines(replace(played, seats=(each, *played.seats[1:])), 0))) for each in (other, cut)
    )

    assert wrong.endswith("all lines, but NOT as they went over the wire:")
    assert "all lines but 3 of the bot's own" in short


def test_older_records_and_other_rules_say_why_not() -> None:
    """Lines where the match cannot be played again; neither times nor lines of a record that keeps neither."""
    played = record()

    with pytest.raises(CheckFailed, match="without times by request"):
        list(time_lines(older(played)))
    with pytest.raises(CheckFailed, match="without what its lines could be made from"):
        list(dialogue_lines(older(played), 0))
    with pytest.raises(CheckFailed, match="played by rules 0 of nim"):
        list(dialogue_lines(replace(played, rules="0"), 0))
    assert list(time_lines(replace(played, rules="0"))) == list(time_lines(played))
