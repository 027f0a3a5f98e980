"""`arena league run FILE --plan`: the answer comes in time, and nothing of the league is touched."""

import hashlib
import re
from pathlib import Path

import pytest
from msgspec import structs
from support.bot_source import bot_script
from support.cli_arena import Terminal
from support.golden import Golden

from arena.cluster import survey
from arena.cluster.survey import SurveyedWorker
from arena.league.forecast import SampleTimes
from arena.operations import plan_league

pytestmark = pytest.mark.process


def content(folder: Path) -> dict[str, str]:
    """The hash of each file below the folder; an empty log of SQLite is one that somebody only read with."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".db-shm"]
    found = {str(path): path.read_bytes() for path in files}
    return {path: hashlib.sha256(text).hexdigest() for path, text in found.items() if text or "-wal" not in path}


def lines(text: str) -> dict[str, str]:
    """A plan by its labels, with the lines of each joined."""
    found: dict[str, str] = {}
    label = ""
    for line in text.splitlines():
        label = line[:18].strip() or label
        found[label] = f"{found.get(label, '')} {line[18:]}".strip()
    return found


def test_a_plan_before_the_first_match(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample of each pairing; no results folder is made, and 80 columns are enough."""
    monkeypatch.setattr(plan_league, "TIMES", SampleTimes(begin_s=60, end_s=90, pairing_s=0.0))

    monkeypatch.setenv("COLUMNS", "80")
    said = terminal.league("random", "random", "random", cycles=50, chunk_blocks=50, flags="--plan", seed=None)

    told = lines(said.out)
    assert said.code == 0, said.err
    assert told["matches"] == "300"
    assert re.match(r"3 matches of 3 of 3 pairings in \d+ s; none of it is stored", told["sample"])
    assert re.match(r"\S+ s on one core: from \S+ s \(p\d v p\d\) to ", told["time a match"])
    assert re.match(r"about \S+ with 2 workers on this machine", told["time left"])
    assert "100 blocks of each player" in told["difference"]
    assert max(map(len, said.out.splitlines())) <= 80
    assert not terminal.results.exists()


def test_a_plan_for_a_cluster(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """The speeds of the workers that can play are summed; without any a sentence tells what to do."""
    monkeypatch.setattr(plan_league, "TIMES", SampleTimes(begin_s=60, end_s=90, pairing_s=0.0))
    here = structs.replace(survey.report(), speed=10.0, sandbox="")
    bare = SurveyedWorker("w4", structs.replace(here, sandbox="no bubblewrap"))
    fit = [
        SurveyedWorker(f"w{number}", structs.replace(here, host=f"node{number // 2}", speed=20.0))
        for number in (0, 1, 2)
    ]
    workers = [*fit, bare, SurveyedWorker("w5", why="no answer")]
    monkeypatch.setattr(survey, "report", lambda: here)
    monkeypatch.setattr(survey, "survey", lambda _: workers)
    flags = "--plan --cluster tcp://127.0.0.1:1 --trust-network"

    terminal.league(flags="--plan")
    said = terminal.arena(f"league run league.yaml {flags}")
    del workers[:3]
    none = terminal.arena(f"league run league.yaml {flags} --isolation sandbox")

    assert said.code == 0, said.err
    told = lines(said.out)["time left"]
    golden(told)
    assert none.code == 5
    golden(none.err)


def test_a_league_that_has_begun(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its database, its secret and its bots stay byte for byte; the matches left are those of the file."""
    monkeypatch.setattr(plan_league, "TIMES", SampleTimes(begin_s=60, end_s=90, pairing_s=60.0))
    terminal.league("random", "random", cycles=2, seed=None)
    before = content(terminal.results)

    said = terminal.league("random", "random", cycles=10, seed=None, flags="--plan")

    told = lines(said.out)
    assert told["matches"] == "20, 16 of them left"
    assert told["sample"].startswith("20 matches of 1 of 1 pairing")
    assert content(terminal.results) == before
    terminal.played("random", "random", cycles=2, seed=None)


def test_bots_that_are_slow_or_fail(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample ends on time in the middle of a match, and a lower bound is told; forfeits are named."""
    monkeypatch.setattr(plan_league, "TIMES", SampleTimes(begin_s=1, end_s=3))
    Path("slow.py").write_text(bot_script(start="import time", asked="time.sleep(1000)"))
    Path("bad.py").write_text(bot_script("99"))
    clock = {"decides": "wall", "move_ms": 600_000, "bank_ms": 600_000}

    slow = lines(terminal.league("./slow.py", "random", cycles=600, clock=clock, flags="--plan").out)
    bad = lines(terminal.league("./bad.py", "random", cycles=2, flags="--plan").out)

    assert re.match(r"no match ended within [34] s", slow["time a match"])
    assert re.match(r"more than \d+m\d\ds with 2 workers", slow["time left"])
    assert "as of chance alone" in slow["difference"]
    assert re.search(r"in the sample \d: \d by p0; `arena check` tells why", bad["forfeits"])


def test_a_bot_that_cannot_be_built(terminal: Terminal) -> None:
    """A bot that cannot be built ends `--plan` with the error that would end the league."""
    terminal.arena("new-bot mine")
    with Path("mine/bot.yaml").open("a") as file:
        file.write("build:\n  - [sh, -c, 'echo no compiler; exit 1']\n")

    said = terminal.league("./mine", "random", flags="--plan")

    assert said.code == 2
    assert "no compiler" in said.err
