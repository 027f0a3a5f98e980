"""Faults after which the game went on: told of below the leaderboard, on the player's page, and to programs."""

import csv
import io
import json

import msgspec
from support.leaderboard_made import below, league
from support.scripted_bot import only, stored_toy_match, toy_bot

from arena.errors import OutOfTime
from arena.match.results import result_of
from arena.report.leaderboard import leaderboard_page

replace = msgspec.structs.replace


def test_a_sentence_for_each_player_who_had_some() -> None:
    """How many of which kind, in how many matches; nobody else is named, and the column of forfeits is not touched."""
    found, _ = league(["ann", "bob"])
    rows = (replace(found.rows[0], pardoned={"illegal_action": 2, "timeout": 1}), found.rows[1])

    lines = below(leaderboard_page(replace(found, rows=rows), None).render("table"))

    assert [line for line in lines if "went on" in line] == [
        "ann: 3 faults in 4 matches, after which the game went on (2 illegal_action, 1 timeout)"
    ]


def test_the_worst_are_named_and_the_others_counted() -> None:
    """A league of many careless players."""
    found, _ = league(["ann", "bob"])
    rows = tuple(replace(found.rows[0], name=f"p{n}", pardoned={"timeout": n}) for n in range(1, 9))

    lines = below(leaderboard_page(replace(found, rows=rows), None).render("markdown"))

    told = [line for line in lines if "went on" in line or "such faults" in line]
    assert [line.split(":")[0] for line in told] == [
        "p8",
        "p7",
        "p6",
        "p5",
        "p4",
        "3 other players had such faults too",
    ]


def test_programs_get_them_by_kind() -> None:
    """CSV has a column for each kind, with zeros; JSON has an object."""
    found, _ = league(["ann", "bob"])
    faulty = replace(found, rows=(replace(found.rows[0], pardoned={"timeout": 3}), found.rows[1]))

    rows = list(csv.DictReader(io.StringIO(leaderboard_page(faulty, None).render("csv"))))
    document = json.loads(leaderboard_page(faulty, None).render("json"))

    assert [(row["pardoned_timeout"], row["pardoned_illegal_action"]) for row in rows] == [("3", "0"), ("0", "0")]
    assert [row["pardoned"] for row in document["standings"]["rows"]] == [{"timeout": 3}, {}]


def test_they_come_from_the_record() -> None:
    """The record has them by seat."""
    record = stored_toy_match(toy_bot(), toy_bot(odd=only(1, OutOfTime("late"))))

    assert result_of(record).pardoned == ({}, {"timeout": 1}, {})
