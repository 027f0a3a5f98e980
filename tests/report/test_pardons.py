"""Faults after which the game went on: told of below the leaderboard, on the player's page, and to programs."""

import csv
import io
import json

import msgspec
from support.leaderboard_made import below, league

from arena.report.leaderboard import leaderboard_page

replace = msgspec.structs.replace


def test_the_worst_are_named_and_the_others_counted() -> None:
    """How many faults of which kind a player had, in how many matches; who had none is not named."""
    found, _ = league(["ann", "bob"])
    faults = [{"illegal_action": 7, "timeout": 1}, {}, *({"timeout": count} for count in range(1, 7))]
    rows = tuple(replace(found.rows[0], name=f"p{8 - place}", pardoned=each) for place, each in enumerate(faults))

    lines = below(leaderboard_page(replace(found, rows=rows), None).render("markdown"))

    told = [line for line in lines if "went on" in line or "such faults" in line]
    assert told[0] == "p8: 8 faults in 4 matches, after which the game went on (7 illegal_action, 1 timeout)"
    assert [line.split(":")[0] for line in told[1:]] == ["p1", "p2", "p3", "p4", "2 other players had such faults too"]


def test_programs_get_them_by_kind() -> None:
    """CSV has a column for each kind, with zeros; JSON has an object."""
    found, _ = league(["ann", "bob"])
    faulty = replace(found, rows=(replace(found.rows[0], pardoned={"timeout": 3}), found.rows[1]))

    rows = list(csv.DictReader(io.StringIO(leaderboard_page(faulty, None).render("csv"))))
    document = json.loads(leaderboard_page(faulty, None).render("json"))

    assert [(row["pardoned_timeout"], row["pardoned_illegal_action"]) for row in rows] == [("3", "0"), ("0", "0")]
    assert [row["pardoned"] for row in document["standings"]["rows"]] == [{"timeout": 3}, {}]
