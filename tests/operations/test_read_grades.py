"""The grades of a league: authors by submission, and numbers that matrix, leaderboard and coach have too."""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal
from support.course_made import hand_in, play_course
from support.golden import Golden
from support.tampering import delete_match

from arena.errors import SpecError
from arena.operations.coach_league import CoachLeague, coach_league
from arena.operations.events import Event, Warned
from arena.operations.grades import ReadGrades, read_grades
from arena.standings.grades import Grade

pytestmark = pytest.mark.process
KINDS = ("illegal_action", "malformed_reply", "protocol_violation", "timeout", "crash")


@pytest.fixture
def course(terminal: Terminal) -> Terminal:
    terminal.made("course", lambda: play_course(terminal))
    return terminal


def graded(**choices: object) -> dict[str, Grade]:
    grades = read_grades(ReadGrades(**{"yardstick": "random", **choices}))  # type: ignore[arg-type]
    return {grade.row.name: grade for grade in grades.players}


def lines(terminal: Terminal, command: str) -> dict[str, dict[str, str]]:
    return {row["player"]: row for row in csv.DictReader(io.StringIO(terminal.arena(command).out))}


def test_the_author_is_the_owner_of_the_bot_that_played(course: Terminal) -> None:
    """Not of a namesake: a bundled bot and one that was not submitted have no author, nor has a withdrawn one."""
    assert {name: grade.author for name, grade in graded().items()} == {
        "ada": "ada",
        "ben": "ben",
        "random": "",
        "guest": "",
    }
    newer = hand_in("ada", bot_script(note="'newer'"))
    assert course.arena("submit --game nim --seed 1 --replace", newer).code == 0
    assert graded()["ada"].author == "ada"
    course.arena("withdraw ben")
    assert graded()["ben"].author == ""

    shutil.copytree("handed-in/ada", "namesake")
    Path("namesake/bot.py").write_text(bot_script(note="'of a namesake'"))
    assert course.league(name="other", players=[{"bot": "./namesake"}, {"bot": "random"}], cycles=1).code == 0
    assert {name: grade.author for name, grade in graded(league="other").items()} == {"ada": "", "random": ""}


def test_every_number_is_that_of_another_page(course: Terminal, golden: Golden) -> None:
    """Rank and faults are those of the leaderboard, score and `better` of the matrix, costs of the coach."""
    rows = lines(course, "grades --yardstick random")
    assert all(row["cost"] == row["judged"] == row["judge"] == "" for row in rows.values())
    course.arena("coach --league test --by ./judge.py --workers 2")

    rows = lines(course, "grades test --yardstick random")
    board = lines(course, "leaderboard --format csv")
    meetings = json.loads(course.arena("matrix --players all --format json").out)["meetings"]
    costs = {
        one["name"]: one
        for one in json.loads(course.arena("coach --league test --by ./judge.py --format json").out)["players"]
    }
    against = {meeting["player"]: meeting for meeting in meetings if meeting["opponent"] == "random"}

    assert [*rows] == [*board]
    for name, row in rows.items():
        assert [row[column] for column in ("rank", "bot", "version", "hash")] == [
            board[name][column] for column in ("rank", "bot", "version", "hash")
        ]
        kinds = [f"faults_{kind}" for kind in KINDS]
        assert (int(row["faults"]) > 0) == (name == "ben")
        assert [row[kind] for kind in kinds] == [board[name][kind] for kind in kinds]
        assert int(row["faults"]) == sum(int(row[kind]) for kind in kinds)
        assert float(row["cost"]) == costs[name]["cost"]["value"]
        assert row["judged"] == str(costs[name]["matches"]) == "12"
        golden(row["judge"])
        if name != "random":
            ends = ("score", "score_low", "score_high")
            assert [float(row[end]) for end in ends] == [against[name][end] for end in ends]
            assert row["better"] == str(int(against[name]["is_better"]))
    assert rows["random"]["score"] == rows["random"]["better"] == ""


@pytest.mark.usefixtures("course")
def test_the_costs_are_those_of_the_latest_judge_of_all_players() -> None:
    """A judge who has not seen matches of all is left out, and a file that is no judge; nothing is judged for it."""
    assert graded()["ada"].mistakes is None
    coach_league(CoachLeague(by=("./judge.py",), workers=2))
    first = graded()["ada"].mistakes
    coach_league(CoachLeague(by=("./judge.py",), budget_ms=200.0, matches=2, workers=1))
    Path("results/coach/notes.txt").write_text("no judge")
    partial, full = sorted(
        filter(Path.is_dir, Path("results/coach").iterdir()), key=lambda judge: len([*judge.iterdir()])
    )
    before = {path: path.read_bytes() for path in Path("results/coach").rglob("*.json")}

    assert len([*partial.iterdir()]) == 2
    assert first is not None
    assert graded()["ada"].mistakes == first
    for path in full.iterdir():
        path.unlink()
    assert graded()["ada"].mistakes is None
    assert {path: path.read_bytes() for path in partial.iterdir()}.items() <= before.items()


def test_an_incomplete_league_is_a_warning(course: Terminal, golden: Golden) -> None:
    """On stderr, so that a mark book gets the table alone."""
    events: list[Event] = []
    read_grades(ReadGrades(yardstick="random"), events.append)
    assert events == []
    delete_match(Path("results"), lambda match: match.key.block == 0)

    read_grades(ReadGrades(yardstick="random"), events.append)
    assert events == [Warned("league test is incomplete: 12 of 24 matches")]
    golden(course.arena("grades --yardstick random").err)


def test_unknown_names_are_refused(course: Terminal, golden: Golden) -> None:
    """The known players are listed; the yardstick has no default."""
    with golden.raises(SpecError):
        graded(yardstick="rnadom")
    with golden.raises(SpecError):
        graded(league="other")
    golden(course.arena("grades test").err)


def test_people_get_a_table_with_its_meanings(course: Terminal, golden: Golden) -> None:
    """Below it stands what scores are against, and whose judgements the costs are."""
    plain = course.arena("grades --yardstick random --format table").out
    wide = course.arena("grades --yardstick random --format table --columns all").out
    page = course.arena("grades --yardstick random --format markdown --columns author,faults").out

    assert [line.split()[1] for line in plain.splitlines()[3:7] if "ad" in line] == ["ada"]
    golden(plain)
    assert "Holm's correction" in wide
    golden(page)


def test_no_spreadsheet_computes_the_name_of_an_author(terminal: Terminal) -> None:
    """The owner is a text of the person who takes bots in, and may come from a list of names."""
    submitted = terminal.arena("submit --game nim --seed 1 --owner", "=1+1", hand_in("ada", bot_script()))
    assert submitted.code == 0, submitted
    assert terminal.league(players=[{"bot": "ada"}, {"bot": "random"}]).code == 0

    assert {row["author"] for row in lines(terminal, "grades --yardstick random").values()} == {"'=1+1", ""}
