"""Reports for the authors of a league: each has all of its author's bots, and nothing private of anybody else."""

import csv
import io
import re
import stat
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal
from support.course_made import PRIVATE, hand_in, play_course
from support.golden import Golden

from arena.errors import SpecError
from arena.operations.coach_league import CoachLeague, coach_league
from arena.operations.grades import ReportAuthors, report_authors

pytestmark = pytest.mark.process


@pytest.fixture
def course(terminal: Terminal) -> Terminal:
    terminal.made("course", lambda: play_course(terminal))
    return terminal


def reported(folder: str = "reports") -> dict[str, str]:
    """Write the reports; return the texts of the folder's files by name."""
    report_authors(ReportAuthors(out=Path(folder)))
    return {path.name: path.read_text() for path in Path(folder).iterdir() if path.name != "made-by-arena.txt"}


@pytest.mark.usefixtures("course")
def test_no_report_has_a_private_text_of_another_author() -> None:
    """Not of matches of the two, nor of a fault in them. The author's own fault is there."""
    coach_league(CoachLeague(by=("./judge.py",), workers=2))
    texts = reported()

    assert sorted(texts) == ["ada.html", "ada.md", "ben.html", "ben.md"]
    for name, text in texts.items():
        own, other = ("ada", "ben") if name.startswith("ada") else ("ben", "ada")
        assert f"{own} in test" in text
        assert [secret for secret in PRIVATE if secret.format(other) in text] == []
        assert "stderr of ada" not in text
        assert ("stderr of ben" in text) == (own == "ben")
        assert f'"field_of_{own}"' in text.replace("&quot;", '"').replace("\\_", "_")
        assert f"source of {own}" not in text
        assert text.replace("\n", "").isprintable()
    assert "    start of ben\n    </pre>\\x1b[2J stderr of ben" in texts["ben.md"]
    assert "<pre>start of ben\n&lt;/pre&gt;\\x1b[2J stderr of ben</pre>" in texts["ben.html"]


def test_a_report_has_the_numbers_of_the_other_pages(course: Terminal) -> None:
    """The head of `stats`, faults with their matches, and the mistakes of the coach with theirs."""
    assert "The costliest decisions" not in "".join(reported().values())
    coach_league(CoachLeague(by=("./judge.py",), workers=2))
    texts = reported()
    rows = {row["player"]: row for row in csv.DictReader(io.StringIO(course.arena("grades --yardstick random").out))}
    faults = [line.split()[0] for line in course.arena("league matches --faults").out.splitlines() if "by ben" in line]

    for author in ("ada", "ben"):
        text = texts[f"{author}.md"]
        assert course.arena(f"stats {author} --format markdown").out.rpartition("\n\n")[0] in text
        (cost,) = re.findall(
            r"^Mean cost of a decision in 12 matches, in percent of a win: (\d+\.\d\d) ", text, re.MULTILINE
        )
        assert cost == f"{100 * float(rows[author]['cost']):.2f}"
        decisions = re.findall(r"^(\w+-\d-\d), step \d+: .*better by 100\.0 %", text, re.MULTILINE)
        assert 0 < len(decisions) <= 5
        assert all(author in course.arena(f"show {match}").out for match in decisions)
    assert int(rows["ben"]["faults"]) == len(faults) > 3
    assert len([match for match in faults if f"\nFault in {match}: crash: " in texts["ben.md"]]) == 3
    assert "Faults: none; " in texts["ada.md"]


def test_the_folder_keeps_what_is_not_a_report(course: Terminal) -> None:
    """A report of somebody who is no author any more goes; a folder with other files is refused, and a file in it."""
    reported()
    assert stat.S_IMODE(Path("reports").stat().st_mode) == 0o700
    Path("reports/notes.md").write_text("mine")
    course.arena("withdraw ben")
    assert sorted(reported()) == ["ada.html", "ada.md", "notes.md"]

    assert course.arena("submit --game nim --seed 1 handed-in/ben").code == 0
    Path("reports/ben.md").write_text("mine, too")
    Path("other").mkdir()
    Path("other/thesis.txt").write_text("mine")
    for folder, found in (
        ("reports", "found ben.md, which"),
        ("other", "found other files"),
        ("guest.py", "other files"),
    ):
        with pytest.raises(SpecError, match=f"--to {folder}: .*{found}"):
            reported(folder)
    assert course.arena("site build --to reports").code == 2
    assert (Path("reports/ben.md").read_text(), [*Path("other").iterdir()]) == ("mine, too", [Path("other/thesis.txt")])
    assert course.arena("report --to guest.py").code == 2


def test_the_file_of_any_author_is_in_the_folder(terminal: Terminal) -> None:
    """A name that is no safe name of a file gets a digest, also that of this user, which has a slash."""
    owners = ["..", "a b", "日本" * 50, "=1+1<b>", "-rf"]
    for number, owner in enumerate(owners):
        bot = hand_in(f"bot{number}", bot_script())
        assert terminal.arena("submit --game nim --seed 1 --owner", owner, bot).code == 0
    Path("single.py").write_text(bot_script())
    assert terminal.arena("submit --game nim --seed 1 ./single.py").code == 0
    players = [{"bot": f"bot{number}"} for number in range(len(owners))]
    assert terminal.league(players=[*players, {"bot": "single"}], cycles=1).code == 0

    said = terminal.arena("report --to reports")

    assert said.code == 0, said
    files = sorted(path.name for path in Path("reports").iterdir() if path.suffix == ".md")
    assert len(files) == len(owners) + 1 == len(said.out.splitlines())
    assert all(re.fullmatch(r"\w{1,40}~[0-9a-f]{12}\.md", file) for file in files), files
    assert not list(Path().glob("*.md"))


def test_a_league_without_authors_has_no_report(terminal: Terminal, golden: Golden) -> None:
    """The sentence says what an author is; no folder is made."""
    terminal.played()

    with golden.raises(SpecError):
        reported()
    assert not Path("reports").exists()
