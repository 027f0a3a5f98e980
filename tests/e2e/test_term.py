"""A term: five weeks of hand-ins of forty authors, with kills, a full disk, clocks that jump, spies and broken bots."""

import csv
import io
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import time
from contextlib import closing
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from support.cli_arena import ROOT
from support.e2e_arena import Place
from support.term_made import LAST, REFUSED, shell_bot, spy, token
from support.waiting import until

pytestmark = [pytest.mark.process, pytest.mark.slow]
AUTHORS = [f"a{number:02}" for number in range(40)]
SPIES = AUTHORS[7], AUTHORS[23]
WEEKS = 5
DEADLINES = [datetime(2026, 10, 2 + 7 * week, 18, tzinfo=ZoneInfo("Europe/Berlin")) for week in range(4)]
DEADLINES.append(DEADLINES[-1] + timedelta(days=7))  # at six by the clock of the wall, an hour later: summer time ends
HOUR = timedelta(hours=1)
LONGEST_S = 900
MOVED_CLOCK = f"""
import datetime, importlib, pathlib, sys
from datetime import datetime as real
shift = real.fromisoformat(sys.argv.pop(1)) - real.now(datetime.UTC)
class Moved(real):
    @classmethod
    def now(cls, tz=None):
        return real.now(tz) + shift
root = pathlib.Path({str(ROOT)!r})
for path in (root / "arena").rglob("*.py"):
    if "datetime.now(" in path.read_text():
        importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts)).datetime = Moved
from arena.cli import main
main()
"""
"""`arena` at another time of the day, which goes on from there."""
SMALL_DISK = """
mkdir disk kept
mount -t tmpfs -o size=1g,mode=0700 small disk
cp -a results/. disk
mount -o remount,size=$(($(df --output=used disk | tail -n 1) + 300))k disk
mount --bind disk results
"$@"
code=$?
cp -a disk/. kept
exit $code
"""
"""A command with its results on a disk with room for 300 KiB; they are in `kept` afterwards."""


class Term(Place):
    """The course, and a ledger of its hand-ins by which the versions of each week are known."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.rng = random.Random(32)
        self.now = DEADLINES[0]
        self.hand_ins: list[tuple[datetime, str, str]] = []
        self.count = self.exports = 0
        self.authors = [*AUTHORS]
        self.met: set[tuple[str, str]] = set()
        self.snapshots: list[tuple[Any, ...]] = []
        self.tables: list[str] = []
        lines = [f"{name},{person(name)}_,{person(name)}@example.org,yes" for name in AUTHORS]
        (folder / "authors.csv").write_text("\n".join(["author,hand_in,address,active", *lines, ""]))
        shell_bot(folder / "yardstick", "yardstick", "token-yardstick")

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        return super().start(*arguments, program=("-c", MOVED_CLOCK, self.now.isoformat()), **options)

    def run(self, *arguments: str, exit_code: int = 0, **options: Any) -> tuple[str, str]:
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=LONGEST_S)
        assert process.returncode == exit_code, (arguments, process.returncode, out, err)
        return out, err

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Rows of the database, without the help of arena."""
        with closing(sqlite3.connect(self.results / "arena.db")) as connection:
            return connection.execute(statement).fetchall()

    def write_hand_in(self, export: Path, author: str, version: str, refused: str) -> None:
        """A folder as a platform calls it, with the bot of an author, or with what is refused."""
        place = export / f"{person(author)}_{1000 + self.count}_file_"
        place.mkdir(parents=True)
        self.count += 1
        text = token(author, version)
        if refused:
            REFUSED[refused](place, author)
        elif author in SPIES:
            spy(place, author, text, [str(self.folder), "/tmp", "."])
        else:
            shell_bot(place / "my bot", author, text, asked=LAST if self.rng.random() < 0.5 else "")

    def hand_in(self, version: str, at: datetime, authors: list[str], refused: dict[str, str], kill: float = 0) -> None:
        """Hand in an export of these authors' bots at that time of the clock; hand-in times never run backwards."""
        self.now, self.exports = at, self.exports + 1
        export = Path(f"export-{self.exports}")
        for author in authors:
            self.write_hand_in(export, author, version, refused.get(author, ""))
        if self.exports % 2:
            with tarfile.open(f"{export}.tar.gz", "w:gz") as archive:
                archive.add(export, "a folder")
            export = export.with_suffix(".tar.gz")
        words = ("submit", str(export), "--authors", "authors.csv", "--for", "course.yaml", "--to", "texts")
        if kill:
            self.kill_after(self.start(*words), kill)
        out, _ = self.run(*words, exit_code=1 if refused else 0)

        verdicts = {line.split()[1]: line.split()[0] for line in out.splitlines() if line.split()[1:2]}
        assert {author: verdicts[author] for author in authors} == {
            author: "refused" if author in refused else "accepted" for author in authors
        }, out
        noted = max([at, *(noted for noted, _, _ in self.hand_ins)])
        self.hand_ins += [(noted, author, token(author, version)) for author in authors if author not in refused]
        for author in self.authors:
            self.require_private(author, f"texts/{author}.txt")

    def correct(self, author: str, at: datetime) -> None:
        """Correct the time of an author's last hand-in."""
        self.run("author", "time", author, at.isoformat())
        ((number, entry),) = [(number, entry) for number, entry in enumerate(self.hand_ins) if entry[1] == author][-1:]
        self.hand_ins[number] = (at, *entry[1:])

    def kill_after(self, process: "subprocess.Popen[str]", wait_s: float) -> None:
        """Kill a command with SIGKILL; all that it started ends."""
        time.sleep(wait_s)  # any moment is right
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        until(lambda: not self.alive(), within_s=20, what="the end of all processes")

    def require_private(self, author: str, *files: str) -> None:
        """Check that a text for an author has nothing of others."""
        for file in files:
            text = Path(file).read_text()
            assert set(re.findall(r"token-([a-z0-9]+)_", text)) <= {author}, (file, text)
            others = [name for name in AUTHORS if name != author]
            assert not re.search("|".join(map(person, others)) + "|@example", text), (file, text)
            assert author not in SPIES or not re.search(r"arena\.db|authors\.csv", text), (file, text)

    def play(self, deadline: datetime, kills: int, *, is_disk_full: bool) -> None:
        """Run the league until all is played, through kills and a disk without room."""
        self.now = deadline + 2 * HOUR
        players = "players: [{submitted: '*'}, {bot: ./yardstick}]\ncycles: 1\nlimits: {processes: false}\n"
        heading = f"name: course\ngame: nim\noptions: {{heaps: [1, 2]}}\ndeadline: {deadline.isoformat()}\n"
        self.write_course(heading + players)
        words = ("league", "run", "course.yaml")
        for _ in range(kills):
            self.kill_after(self.start(*words), self.rng.uniform(1, 4))
        if is_disk_full:
            _, err = self.run(*words, exit_code=5, before=("unshare", "--mount", "sh", "-c", SMALL_DISK, "sh"))
            assert "room" in err
            shutil.rmtree(self.results)
            Path("kept").rename(self.results)
        self.run(*words)

    def write_course(self, text: str) -> None:
        (self.folder / "course.yaml").write_text(text)

    def versions(self, deadline: datetime) -> dict[str, str]:
        """The token of each author's newest version that was accepted and handed in before the deadline."""
        return {author: text for noted, author, text in self.hand_ins if noted <= deadline and author in self.authors}

    def remove(self, author: str) -> None:
        """Remove an author, of whom nothing but names, hashes and matches is left."""
        self.run("author", "remove", author, "authors.csv", "texts", "reports")
        self.authors.remove(author)
        for place in (self.results / "bots", Path("texts"), Path("reports"), Path("authors.csv")):
            for path in place.rglob("*") if place.is_dir() else [place]:
                assert path.stem != author
                assert path.is_dir() or not re.search(f"token-{author}_|{person(author)}", path.read_text()), path

    def require_sound(self, week: int, deadline: datetime) -> None:
        """Check all that must hold at the end of a week."""
        out, _ = self.run("verify")
        assert "PROBLEM" not in out
        snapshots = self.query("SELECT * FROM snapshot ORDER BY number")
        assert snapshots[:-1] == self.snapshots
        assert len(snapshots) == week
        self.snapshots = snapshots
        self.tables.append(self.run("leaderboard", "course", "--format", "json", "--no-timing")[0])
        for number, table in enumerate(self.tables, start=1):
            assert self.run("leaderboard", f"course@{number}", "--format", "json", "--no-timing")[0] == table
        assert len(self.query("SELECT * FROM secret")) == week, "a killed run goes on under its own secret"

        digests = {row["name"]: row["bot"]["digest"] for row in json.loads(snapshots[-1][3])["players"]}
        versions = self.versions(deadline)
        assert digests.keys() == {*versions, "yardstick"}
        for author, text in versions.items():
            sources = (self.results / "bots" / digests[author] / "source").glob("bot.*")
            assert any(text in source.read_text() for source in sources), (author, text)
        self.met |= {(min(pair), max(pair)) for pair in combinations(digests.values(), 2)}
        assert self.query("SELECT count(*) FROM record") == [(2 * len(self.met),)], "each pair of versions, once"
        standings = json.loads(self.tables[-1])["standings"]
        assert [row["matches"] for row in standings["rows"]] == [2 * len(versions)] * len(digests)

        grades = csv.DictReader(io.StringIO(self.run("grades", "course", "--yardstick", "yardstick")[0]))
        assert sorted(row["author"] for row in grades if row["rank"] and row["score"]) == sorted(versions)
        self.run("report", "course", "--to", "reports")
        assert {path.stem for path in Path("reports").glob("*.html")} == versions.keys()
        for author in versions:
            self.require_private(author, f"reports/{author}.md", f"reports/{author}.html")
        for author in versions.keys() & SPIES:
            assert versions[author] in Path("reports", f"{author}.md").read_text()


def person(author: str) -> str:
    """The name of an author as a person, which is on no page."""
    return f"Person{AUTHORS.index(author):02}"


def test_a_term(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every week the table is complete, of the right versions, and all tables before stay; nobody reads of others."""
    monkeypatch.chdir(tmp_path)
    term = Term(tmp_path)
    term.write_course("name: course\ngame: nim\noptions: {heaps: [1, 2]}\nplayers: submitted\n")
    kinds, honest = list(REFUSED), [name for name in AUTHORS if name not in (*SPIES, "a00")]
    absent: list[str] = []
    for week, deadline in enumerate(DEADLINES, start=1):
        if week == WEEKS:
            term.remove(SPIES[1])
        chosen = term.rng.sample([name for name in honest if name not in absent], 8)
        late, again, refused = chosen[:2], chosen[2:4], dict(zip(chosen[4:], kinds[week - 1 :: WEEKS], strict=True))
        early = [name for name in term.authors if name not in (*late, *absent)]
        term.hand_in(f"w{week}", deadline - 3 * HOUR, early, refused, kill=3 * (week == 2))
        jump = {3: timedelta(days=-3), 4: timedelta(days=2)}.get(week, timedelta())
        term.hand_in(f"w{week}again", deadline - 2 * HOUR + jump, again, {})
        if week == 4:  # the clock was two days ahead
            term.correct(again[0], deadline - 2 * HOUR)
        term.hand_in(f"w{week}late", deadline + HOUR, late, {})
        term.play(deadline, kills=2 * (week != 3), is_disk_full=week == 3 and os.geteuid() == 0)
        term.require_sound(week, deadline)
        absent = late

    assert term.count >= 200
    assert not [*tmp_path.rglob("outside*")]
    seen = subprocess.run(
        [sys.executable, "-c", _spy_source(term)], input="", capture_output=True, text=True, check=True
    )
    assert "token-a00" in seen.stderr, "without a sandbox a spy finds what it looks for"
    term.run("site", "build", "--to", "site")
    secrets = "|".join(path.read_text().strip() for path in (term.results / "secrets").iterdir())
    for page in (*Path("site").rglob("*"), *Path("results/tables").iterdir()):
        if page.is_file():
            assert not re.search(rf"token-|Person\d|@example|{secrets}", page.read_text(errors="replace")), page
    assert not term.alive()


def _spy_source(term: Term) -> str:
    """The source of the first spy as it was installed last."""
    ((digest,),) = term.query(f"SELECT digest FROM bot WHERE name = '{SPIES[0]}' ORDER BY submitted_at DESC LIMIT 1")
    return Path(term.results, "bots", digest, "source", "bot.py").read_text().replace("'/tmp', ", "")
