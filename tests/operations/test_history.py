"""A league of submitted bots: each run takes the newest versions, and what was before stays in the history."""

import csv
import io
import json
import re
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace
from support.bot_source import bot_script
from support.cli_arena import Terminal
from support.golden import Golden
from support.store_made import tournament, writing
from support.tampering import execute_sql, opened

from arena.errors import DamagedStore, Interrupted, SpecError
from arena.league.history import EndedRun
from arena.league.state import state_of
from arena.league.tournament import TournamentFile
from arena.operations.events import Counted, Event
from arena.operations.leagues import league_table
from arena.operations.read_history import ReadHistory, read_history
from arena.operations.read_standings import ReadStandings, read_standings
from arena.operations.run_league import RunLeague, VersionsChanged, run_league
from arena.operations.verify_leagues import Found, VerifyLeagues, verify_leagues
from arena.site.leagues import key_of
from arena.standings.table import standings_json
from arena.store import database
from arena.store.bots import BotStore
from arena.store.times import Moment
from arena.yaml_file import read_yaml

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("terminal")]
TABLE = "leaderboard --no-timing --format csv"


def hand_in(author: str, action: str, *, game: str = "nim", at: datetime | None = None) -> str:
    """Put a bot that takes this action on the list, without an examination; return its hash."""
    folder = Path("handed-in", author)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bot.py").write_text(bot_script(action))
    (folder / "bot.yaml").write_text(f"name: {author}\ncommand: [python3, bot.py]\ngames: [{game}]\n")
    store = BotStore(Path("results"), Path("none"))
    bot = store.install(store.find(f"./{folder}"))
    with closing(database.open_for_writing(Path("results"))) as connection:
        store.register(bot, author, connection, handed_in=None if at is None else Moment(at, "this", 0))
    return bot.digest


@pytest.fixture
def course(terminal: Terminal) -> Terminal:
    """Two hand-ins, a yardstick, and a tournament of all that is handed in."""
    hand_in("ann", "0")
    hand_in("bob", "len(m['legal']) - 1")
    content = {"name": "course", "game": "nim", "cycles": 2, "players": [{"submitted": "*"}, {"bot": "random"}]}
    Path("course.yaml").write_text(yaml.safe_dump(content))
    return terminal


def run(**choices: object) -> list[Event]:
    events: list[Event] = []
    run_league(RunLeague(tournament="course.yaml", workers=2, **choices), events.append)  # type: ignore[arg-type]
    return events


def commitments() -> tuple[str, ...]:
    return read_standings(ReadStandings()).standings.luck.commitments


def test_a_new_version_plays_its_matches_and_the_former_table_stays(course: Terminal) -> None:
    """No `--update` is needed, nothing is dropped from the store; a new author joins; each run has its own secret."""
    run()
    first, secret = course.arena(TABLE).out, commitments()
    hand_in("ann", "min(1, len(m['legal']) - 1)")
    hand_in("cid", "0")
    (changed,) = [event for event in run() if isinstance(event, VersionsChanged)]

    assert (changed.matches, len(changed.changes)) == (8, 2)
    assert commitments()[:-1] == secret
    name, (one, two) = read_history(ReadHistory())
    assert (name, one.number, two.number, one.changes) == ("course", 1, 2, ())
    assert two.changes == changed.changes
    assert (one.matches, two.matches, len(one.rows), len(two.rows)) == (12, 24, 3, 4)
    assert course.arena(f"{TABLE} course@1").out == first != course.arena(TABLE).out
    assert course.arena(f"{TABLE} course@2").out == course.arena(TABLE).out
    assert course.arena(f"{TABLE} course@{two.ended_at[:10]}").out == course.arena(TABLE).out
    assert verify_leagues(VerifyLeagues()) == ()
    assert course.arena("report course --to reports").code == 0
    standing = [line for line in Path("reports/ann.md").read_text().splitlines() if re.match(r"\| +\d \| \d{4}-", line)]
    assert [row["hash"][:8] in line for row, line in zip(_rows("ann", one, two), standing, strict=True)] == [True, True]
    assert "ended (UTC)" in Path("reports/ann.html").read_text()


def test_a_site_lists_the_hand_ins_of_a_bot_and_its_rank_in_each_run(course: Terminal) -> None:
    """A version that was withdrawn is still there, without a number; other bots have other pages."""
    old = hand_in("ann", "0")
    run()
    new = hand_in("ann", "min(1, len(m['legal']) - 1)")
    run()
    assert course.arena(f"withdraw ann@{old[:8]}").code == 0
    assert course.arena("site build course --to site --matches none").code == 0

    folder = f"site/league/{key_of('course')}"
    page = Path(folder, f"player-{key_of('ann')}.html").read_text()
    cells = re.findall(r"<t[hd][^>]*>(?:<a [^>]*>)?([^<]+)", page[page.index("Versions of the bot") :])
    assert [cell for cell in cells if cell in {"accepted", "withdrawn"}] == ["withdrawn", "withdrawn", "accepted"]
    assert [cells.count(text) for text in (f"({old[:8]})", f"1 ({old[:8]})", f"1 ({new[:8]})")] == [2, 1, 2]
    assert "Versions of the bot" not in Path(folder, f"player-{key_of('random')}.html").read_text()
    assert "run 2, ended" in Path(folder, "index.html").read_text()


def _rows(name: str, *runs: EndedRun) -> list[dict[str, Any]]:
    """The rows of a player in these runs."""
    return [row for run in runs for row in run.rows if row["player"] == name]


def test_a_version_that_comes_back_has_its_matches_and_a_run_without_work_is_none(course: Terminal) -> None:
    """The same bytes are handed in again; nothing is played, and no secret is drawn for it."""
    run()
    first, before = course.arena(TABLE).out, commitments()
    hand_in("ann", "min(1, len(m['legal']) - 1)")
    run()
    hand_in("ann", "0")
    played = [event for event in run() if isinstance(event, Counted)]
    run()

    assert {event.done for event in played} == {12}
    assert len(commitments()) == len(before) + 1
    assert [line.split(",")[:8] for line in course.arena(TABLE).out.splitlines()] == [
        line.split(",")[:8] for line in first.splitlines()
    ]
    assert [run.number for run in read_history(ReadHistory())[1]] == [1, 2, 3]


@pytest.mark.usefixtures("course")
def test_a_stopped_run_goes_on_under_its_secret_to_the_same_standings() -> None:
    """It is a part of the history when all its matches are stored, and not before."""

    stops = [KeyboardInterrupt()]

    def stop(event: Event) -> None:
        if isinstance(event, Counted) and event.done > 4 and stops:
            raise stops.pop()

    run()
    hand_in("ann", "min(1, len(m['legal']) - 1)")
    with pytest.raises(Interrupted):
        run_league(RunLeague(tournament="course.yaml", workers=1), stop)
    assert len(read_history(ReadHistory())[1]) == 1
    begun = commitments()
    run()

    assert commitments() == begun
    assert len(read_history(ReadHistory())[1]) == 2
    assert verify_leagues(VerifyLeagues()) == ()


def test_the_secret_of_a_former_run_can_be_published(course: Terminal) -> None:
    """The second run keeps its own, which is not revealed."""
    run()
    hand_in("cid", "0")
    run()
    former = course.arena("league reveal course@1")

    assert former.code == 0
    status = course.arena("league status").out
    assert [("not revealed" in line) for line in status.splitlines() if "commitment" in line] == [False, True]
    assert commitments()[0] in former.err
    hand_in("dora", "0")
    assert [len(commitments()) for _ in (run(), run())] == [3, 3]


def test_an_edited_history_is_found(course: Terminal, golden: Golden) -> None:
    """A changed row is refused by whoever reads it; standings of other matches are named by `verify`."""
    run()
    with opened(course.results) as connection:
        (whole,) = connection.execute("SELECT * FROM snapshot").fetchall()
    for column, value in (
        ("standings", b"nonsense"),
        ("standings", whole[4].replace(b"12", b"13")),
        ("tournament", b"{}"),
        ("tournament", whole[3].replace(b'"course"', b'"corsue"')),
        ("ended_at", b"\xff"),
        ("number", 2),
    ):
        for digest in (whole[5], fitting_digest(whole, column, value)):
            with opened(course.results) as connection:
                connection.execute(f"UPDATE snapshot SET {column} = ?, digest = ?", (value, digest))
            is_forged = column == "standings" and value != b"nonsense" and digest != whole[5]
            if not is_forged:  # `verify` compares it with the matches
                with golden.raises(DamagedStore):
                    read_history(ReadHistory())
            assert [problem for problem in verify_leagues(VerifyLeagues()) if "run 1" in problem]
            with opened(course.results) as connection:
                connection.execute("DELETE FROM snapshot")
                connection.execute("INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?)", whole)
    execute_sql(course.results, "DELETE FROM snapshot")
    assert [
        problem for problem in verify_leagues(VerifyLeagues()) if "the last ones of its history are gone" in problem
    ]
    golden(course.arena("league history").err)
    with opened(course.results) as connection:
        connection.execute("INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?)", whole)
    execute_sql(course.results, "UPDATE snapshot SET standings = replace(standings, '12', '13')")
    assert [problem for problem in verify_leagues(VerifyLeagues()) if "run 1 of its history" in problem]


def fitting_digest(row: tuple[Any, ...], column: str, value: Any) -> str:
    """The digest of a snapshot in which a column has that value, as one who knows the code writes it."""
    names = ("league", "number", "ended_at", "tournament", "standings")
    parts = [value if name == column else old for name, old in zip(names, row, strict=False)][2:]
    return sha256(b"\n".join(part if isinstance(part, bytes) else part.encode() for part in parts)).hexdigest()


def test_what_a_pattern_takes(course: Terminal) -> None:
    """Names that fit; not bots of other games, and nobody twice. Runs that are not there are named."""
    hand_in("only", "0", game="connect_four")
    entries = [{"submitted": "[a-o]*"}, {"bot": "ann", "name": "yardstick"}, {"bot": "random"}]
    content = {"name": "course", "game": "nim", "cycles": 1, "players": entries}
    Path("course.yaml").write_text(yaml.safe_dump(content))
    run()

    (ended,) = read_history(ReadHistory(league="course"))[1]
    assert {row["player"] for row in ended.rows} == {"ann", "bob", "yardstick", "random"}
    for league, said in (("course@2", 'no run "2"; known: 1 '), ("course@2020-01-01", "no run"), ("other@1", "other")):
        with pytest.raises(SpecError, match=said):
            read_standings(ReadStandings(league=league))
    for players, said in (("none", "players"), ([{"name": "x"}], 'the key "bot" is missing'), ("submitted", "")):
        Path("other.yaml").write_text(yaml.safe_dump({**content, "name": "other", "players": players}))
        other = course.arena("league run other.yaml --workers 2")
        assert (other.code == 0) == (players == "submitted"), other
        assert said in other.err


def test_the_page_of_a_history(course: Terminal) -> None:
    """As a table, as CSV with a line a run and player, and as JSON; a league without a run that ended has none."""
    run()
    page, table = course.arena("league history"), course.arena("league history course --format csv")
    data = json.loads(course.arena("league history course --format json").out)

    assert (page.code, page.err) == (0, "")
    assert page.out.startswith("course\nrun 1, ended 20")
    assert [line.split(",")[0] for line in table.out.splitlines()] == ["run", "1", "1", "1"]
    assert {row["player"] for row in data["runs"][0]["rows"]} == {"ann", "bob", "random"}
    assert [found for found in _findings() if "standings of 1 run are those of the matches" in found]


def _findings() -> list[str]:
    events: list[Event] = []
    verify_leagues(VerifyLeagues(), events.append)
    return [event.sentence for event in events if isinstance(event, Found)]


def test_a_history_of_twenty_runs_of_sixty_players_is_read_in_less_than_a_second(tmp_path: Path) -> None:
    """CPU time of this process, for a database with the tables of all runs."""
    league = tournament(*(f"player{number}" for number in range(60)), cycles=1)
    state = state_of(league, lambda _: {})
    with writing(tmp_path) as store:
        store.save_league(league)
        text = standings_json(league_table(store, state)[0])
        for week in range(20):
            players = (replace(league.players[0], arguments=(str(week),)), *league.players[1:])
            store.add_snapshot(
                replace(league, players=players), text, f"2026-{10 + week // 10}-{10 + week % 10}T18:00:00"
            )

    begun_s = time.process_time()
    runs = read_history(ReadHistory(results=tmp_path))[1]

    assert time.process_time() - begun_s < 1
    assert [len(run.rows) for run in runs] == [60] * 20
    assert [len(run.changes) for run in runs] == [0, *[1] * 19]


def test_a_deadline_decides_by_the_time_of_the_hand_in(course: Terminal, caplog: pytest.LogCaptureFixture) -> None:
    """The version before a late one plays, and a late author does not; a clock that goes back changes no order."""
    first, later = (datetime(2100, 11, 27, hour, 30, tzinfo=UTC) for hour in (16, 17))
    in_time = hand_in("ann", "0", at=first)
    hand_in("ann", "min(1, len(m['legal']) - 1)", at=later)
    hand_in("cid", "0", at=later)
    hand_in("dora", "0", at=first)  # after a later one: the clock has gone back
    content = yaml.safe_load(Path("course.yaml").read_text())
    Path("course.yaml").write_text(yaml.safe_dump(content) + "deadline: 2100-11-27T18:00:00+01:00\n")
    run()

    played = {row["player"]: row["hash"] for row in read_history(ReadHistory())[1][0].rows}
    assert played.keys() == {"ann", "bob", "random"}
    assert played["ann"] == in_time
    late = [record.getMessage() for record in caplog.records if "after the deadline" in record.getMessage()]
    assert [message.split("@")[0] for message in late] == ["ann", "cid", "dora"]
    hand_in("ann", "0", at=later)
    assert len(read_history(ReadHistory())[1]) == 1
    run()
    assert len(read_history(ReadHistory())[1]) == 1, "the same bytes, handed in again too late, change nothing"
    Path("course.yaml").write_text(yaml.safe_dump(content) + "deadline: 2100-11-27T18:00:00\n")
    assert "deadline" in course.arena("league run course.yaml").err


@pytest.mark.usefixtures("course")
def test_the_version_that_was_handed_in_last_plays_though_the_clock_went_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the same moment, or by years; it is the one that its name means, too."""

    class Early(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime(2020, 1, 1, tzinfo=tz)

    monkeypatch.setattr("arena.store.bots.datetime", Early)
    for action in ("0", "min(1, len(m['legal']) - 1)", "0", "len(m['legal']) - 1"):
        last = hand_in("ann", action, at=datetime(2100, 11, 27, tzinfo=UTC))
        bots = BotStore(Path("results"), Path("none"))
        assert {name: digest for _, name, digest in bots.hand_ins()}["ann"] == bots.find("ann").digest == last
    execute_sql(Path("results"), "UPDATE hand_in SET at = 'yesterday ' || at")
    with pytest.raises(DamagedStore, match="yesterday"):
        hand_in("ann", "0")


def test_the_organiser_takes_a_late_version(course: Terminal) -> None:
    """By a corrected time, which is kept with the old one and its maker; until then grades and report name it."""
    early, later = (datetime(2100, 11, 27, hour, 30, tzinfo=UTC) for hour in (16, 17))
    hand_in("ann", "0", at=early)
    digest = hand_in("ann", "min(1, len(m['legal']) - 1)", at=later)
    with Path("course.yaml").open("a") as file:
        file.write("deadline: 2100-11-27T18:00:00+01:00\n")
    run()
    assert _late(course) == {"ann": "2100-11-27T17:30:00.000000+00:00", "bob": "", "random": ""}
    course.arena("report course --to reports")
    assert "newer version, handed in 2100-11-27 17:30 UTC" in Path("reports/ann.md").read_text()
    assert "newer version" not in Path("reports/bob.md").read_text()

    corrected = course.arena("author time", f"ann@{digest[:8]}", "2100-11-27T17:59:00+01:00")
    run()

    phrase = f"hand-in of ann@{digest[:8]}: 2100-11-27 16:59 UTC, before 2100-11-27 17:30 UTC, corrected by user/"
    assert corrected.out.startswith(phrase)
    one, two = read_history(ReadHistory())[1]
    assert not any("corrected" in change for change in one.changes)
    assert [change for change in two.changes if change.startswith(phrase)]
    assert {row["player"]: row["hash"] for row in two.rows}["ann"] == digest
    assert set(_late(course).values()) == {""}
    for words, said in (
        ("bob 2100-11-27T17:59:00", "a time with its zone"),
        ("bo 2100-11-27T17:59:00Z", 'hand-in "bo"'),
    ):
        wrong = course.arena(f"author time {words}")
        assert (wrong.code, said in wrong.err) == (2, True), wrong


def _late(course: Terminal) -> dict[str, str]:
    lines = csv.DictReader(io.StringIO(course.arena("grades --yardstick random").out))
    return {row["player"]: row["late"] for row in lines}


def test_a_hand_in_while_the_clock_jumps(course: Terminal) -> None:
    """Forth and back: no time is before another one, one version is the newest, and the organiser reads of the jump."""
    noon, store = datetime(2100, 3, 27, 12, tzinfo=UTC), BotStore(course.results, Path("none"))
    times = [("0", 0), ("1", 3600), ("2", 60), ("3", 60), ("4", 7200)]
    digests = [
        hand_in("ann", f"min({action}, len(m['legal']) - 1)", at=noon + timedelta(seconds=seconds))
        for action, seconds in times
    ]
    hand_ins = [(at, digest) for at, name, digest in store.hand_ins() if name == "ann"][-5:]
    assert [digest for _, digest in hand_ins] == digests
    assert [f"{at:%H:%M:%S}" for at, _ in hand_ins] == ["12:00:00", "13:00:00", "13:00:00", "13:00:00", "14:00:00"]

    later = Moment(noon + timedelta(hours=3), "this", 61.5)
    assert [store.jump_s(later._replace(boot=boot)) for boot in ("this", "after a boot")] == [61.5, 0]
    assert store.jump_s(Moment(noon, "after a boot", 0)) == -7200
    store.correct_time(f"ann@{digests[-1]}", noon, "me")
    assert [
        store.correct_time(f"ann@{digests[-1]}", noon - timedelta(hours=hours), "me").was[:13] for hours in (1, 2)
    ] == ["2100-03-27T14"] * 2
    assert [f"{at:%H:%M:%S}" for at, _, digest in store.hand_ins() if digest == digests[-1]] == ["10:00:00"]
    hand_in("bob", "0", at=noon)
    assert [f"{at:%H:%M:%S}" for at, name, _ in store.hand_ins() if name == "bob"][-1] == "13:00:00", (
        "a correction binds none"
    )


@pytest.mark.parametrize(
    ("at", "lateness"),
    [
        ("2026-10-24T23:59:59+00:00", "before hand-ins are open"),
        ("2026-10-25T00:30:00+00:00", ""),
        ("2026-10-25T00:59:00+00:00", "after the deadline"),
        ("2026-10-25T01:45:00+00:00", "after hand-ins are closed"),
    ],
)
def test_the_hour_that_is_there_twice(at: str, lateness: str) -> None:
    """In the night in which summer time ends, 02:30 is two times; each has its zone."""
    Path("night.yaml").write_text(
        "name: night\ngame: nim\nplayers: submitted\nopens: 2026-10-25T02:00:00+02:00\n"
        "deadline: 2026-10-25T02:30:00+02:00\ncloses: 2026-10-25T02:30:00+01:00\n"
    )
    assert read_yaml(Path("night.yaml"), TournamentFile, limit=1000).lateness(datetime.fromisoformat(at)) == lateness


def test_the_table_of_submit_marks_late_bots_and_a_jump(course: Terminal) -> None:
    """The author reads of the deadline, and the organiser of the clock, too; the bots are on the list all the same."""
    hand_in("dan", "0", at=datetime.now(UTC))
    execute_sql(course.results, "UPDATE clock SET boot = '', booted_s = 0")
    for name in ("eve", "dan"):
        Path("handed-in", name).mkdir(exist_ok=True)
        Path("handed-in", name, "bot.py").write_text(bot_script("0"))
        Path("handed-in", name, "bot.yaml").write_text(f"name: {name}\ncommand: [python3, bot.py]\n")
    with Path("course.yaml").open("a") as file:
        file.write("closes: 2020-11-27T18:00:00+01:00\n")
    course.arena("submit handed-in/ann handed-in/bob --for course.yaml --replace")
    execute_sql(course.results, "UPDATE clock SET booted_s = booted_s - 3600")

    table = course.arena("submit handed-in/eve handed-in/dan --for course.yaml --replace --to texts")

    assert table.code == 0, table
    page = " ".join(table.out.split())
    assert page.count("handed in after hand-ins are closed; it plays from") == 2
    assert page.count("clock jumped by +3600 s") == 2
    texts = [Path("texts", f"{name}.txt").read_text() for name in ("eve", "dan")]
    assert [("hand-ins are closed" in text, "jumped" in text) for text in texts] == [(True, False)] * 2
    single = course.arena("submit handed-in/eve --for course.yaml --replace")
    assert "hand-ins are closed" in single.err


def stop_after(matches: int) -> None:
    """Stop a run as soon as so many matches are stored."""
    stops = [KeyboardInterrupt()]

    def stop(event: Event) -> None:
        if isinstance(event, Counted) and event.done >= matches and stops:
            raise stops.pop()

    with pytest.raises(Interrupted):
        run_league(RunLeague(tournament="course.yaml", workers=1), stop)


def test_a_run_that_is_closed_is_a_part_of_the_history(course: Terminal) -> None:
    """With the matches of then, also when the next run has played the others, under another secret."""
    assert course.arena("league close course").code == 2
    stop_after(4)
    table, closed = course.arena(TABLE).out, course.arena("league close course")
    assert re.match(r"run 1, ended .* UTC: 3 players, closed with \d+ of 12 matches\n", closed.out), closed
    assert course.arena("league close course").out == closed.out
    run()

    one, two = read_history(ReadHistory())[1]
    assert one.matches < one.scheduled == two.matches == two.scheduled == 12
    assert len(commitments()) == 2
    assert course.arena(f"{TABLE} course@1").out == table != course.arena(f"{TABLE} course@2").out
    assert course.arena(f"{TABLE} course@2").out == course.arena(TABLE).out
    listed = course.arena("league matches course@1 --format csv").out.splitlines()
    assert len(listed) == one.matches + 1
    assert verify_leagues(VerifyLeagues()) == ()


@pytest.mark.parametrize("schedule", [{"kind": "swiss", "rounds": 2}, {"kind": "knockout", "blocks_per_tie": 1}])
def test_each_run_is_a_new_tournament_of_the_versions_of_its_day(course: Terminal, schedule: dict[str, object]) -> None:
    """In a schedule that results decide: a new version, a new author, one who is withdrawn; all former runs stay."""
    players = [{"submitted": "*"}, {"bot": "random"}]
    content = {"name": "course", "game": "nim", "players": players, "schedule": schedule, "options": {"heaps": [2, 2]}}
    Path("course.yaml").write_text(yaml.safe_dump(content))
    tables = []
    for change in (
        lambda: None,
        lambda: hand_in("ann", "min(1, len(m['legal']) - 1)"),
        lambda: hand_in("cid", "0"),
        lambda: course.arena("withdraw bob"),
    ):
        change()
        run()
        tables.append(course.arena(TABLE).out)

    assert [course.arena(f"{TABLE} course@{number}").out for number in (1, 2, 3, 4)] == tables
    runs = read_history(ReadHistory())[1]
    assert [len(one.rows) for one in runs] == [3, 3, 4, 3]
    assert all(one.matches == one.scheduled for one in runs)
    assert verify_leagues(VerifyLeagues()) == ()


def test_a_copy_goes_on_where_it_has_the_secrets(course: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Made while a league runs here: a backup ends the run, a copy for others is checked and goes no further."""

    def copy(event: Event) -> None:
        if isinstance(event, Counted) and event.done >= 4 and not Path("backup").exists():
            assert course.arena("results copy public").code == 0
            assert course.arena("results backup backup").code == 0

    run_league(RunLeague(tournament="course.yaml", workers=1), copy)
    assert [Path(name, "secrets").exists() for name in ("public", "backup")] == [False, True]
    assert course.arena("results copy public").code == 2
    assert course.arena("results copy other --results nothing").code == 2
    course.results.rename("lost")
    for name, code in (("public", 2), ("backup", 0)):
        monkeypatch.setenv("ARENA_RESULTS", name)
        assert verify_leagues(VerifyLeagues(results=Path(name))) == ()
        played = course.arena("league run course.yaml --workers 2")
        assert (played.code, "is missing or not yours to read" in played.err) == (code, code == 2), played
    assert verify_leagues(VerifyLeagues(results=Path("backup"))) == ()
    assert [path.name for path in Path().iterdir() if path.name.startswith("arena-copy-")] == []


def test_finals_are_among_the_best_of_another_league(course: Terminal) -> None:
    """With the versions that played there, at the end of the run that is named; too few players are an error."""
    run()
    best = [row["player"] for row in read_history(ReadHistory())[1][0].rows[:2]]
    hand_in("ann", "min(1, len(m['legal']) - 1)")
    run()
    content = {"name": "finals", "game": "nim", "cycles": 1, "players": {"top": 2, "of": "course@1"}}
    Path("finals.yaml").write_text(yaml.safe_dump(content))
    assert course.arena("league run finals.yaml --workers 2").code == 0

    rows = read_standings(ReadStandings(league="finals")).standings.rows
    played = {row.name: row.hash for row in read_standings(ReadStandings(league="course@1")).standings.rows}
    assert {row.name: row.hash for row in rows} == {name: played[name] for name in best}
    for players, said in (
        ({"top": 9, "of": "course"}, "league course has 3 players, 9 are asked for"),
        ({"top": 2, "of": "cuorse"}, "players: of: "),
        ({"top": 1, "of": "course"}, "players.top"),
    ):
        Path("wrong.yaml").write_text(yaml.safe_dump({**content, "name": "wrong", "players": players}))
        wrong = course.arena("league run wrong.yaml")
        assert (wrong.code, said in wrong.err) == (2, True), wrong.err


def test_the_site_draws_the_ratings_from_run_to_run(course: Terminal) -> None:
    """From the second run on, with what changed; a player who was not there then has a shorter line."""
    run()
    assert course.arena("site build --to first").code == 0
    hand_in("cid", "0")
    run()
    assert course.arena("site build --to second").code == 0

    pages = [next(Path(site, "league").glob("*/index.html")).read_text() for site in ("first", "second")]
    assert [page.count("From run to run") for page in pages] == [0, 1]
    assert "player cid joined" in pages[1]
    assert len(re.findall(r'aria-label="rating at the end: [^"]*cid \d', pages[1])) == 2
