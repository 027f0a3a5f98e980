"""A worker's tables: which process plays which matches."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.bot_source import bot_script
from support.golden import Golden
from support.league_made import ROOT, match, players_of
from support.made_matches import RECORD, tournament
from support.threads import make_void, play_whole_job

from arena.errors import SpecError
from arena.league import worker
from arena.league.exhibition import play_here
from arena.league.schedule import Job, jobs
from arena.league.tournament import Player
from arena.league.worker import fits_one_core, play_job
from arena.match.columns import PlayedBlock
from arena.match.record import ActionStep, MatchRecord, unpack
from arena.match.results import MatchKey
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings, confine
from arena.process.limits import Limits
from arena.process.manifest import BotSpec, read_bot

WITNESS = bot_script(note="str(os.getpid())")


def processes(block: PlayedBlock) -> list[set[str]]:
    """Return, for each match, the processes that played it, as they noted it themselves."""
    return [processes_of(unpack(match.record)) for match in block.results]


def processes_of(record: MatchRecord) -> set[str]:
    return {step.note for step in record.steps if isinstance(step, ActionStep) and step.note}


@pytest.mark.process
def test_no_process_meets_the_luck_of_a_block_twice(tmp_path: Path) -> None:
    """A bot that stayed for the other match of a block would know what comes; for the next block it stays."""
    league = tournament(players=players_of(tmp_path, WITNESS), cycles=2, options={"heaps": [2, 2]}, chunk_blocks=2)
    (job,) = jobs(league, {}, "none")

    first, second = map(processes, play_whole_job(job))

    assert [len(match) for match in first] == [2, 2]
    assert not first[0] & first[1]
    assert second == first


@pytest.mark.process
def test_an_exhibition_has_the_lives_of_a_league(tmp_path: Path) -> None:
    """Although one process plays all matches, a bot that learns plays the same as in a league."""
    league = tournament(players=players_of(tmp_path, WITNESS), cycles=3, options={"heaps": [2, 2]}, chunk_blocks=2)

    matches = [
        (result.key.block, processes_of(record)) for record, result in play_here(league, Secret.public("1"), "none")
    ]

    blocks, found = zip(*matches, strict=True)
    assert blocks == (0, 1, 0, 1, 2, 2)
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert len(set.union(*found)) == 8


def test_a_life_that_nobody_wants_to_the_end_ends_its_bots(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker whose pipe breaks stops in the middle: no process is left."""
    (job,) = jobs(tournament("ann", "bob", cycles=2, chunk_blocks=2), {}, "none")
    table = [_Closing(), _Closing()]
    monkeypatch.setattr(worker, "_REPORT_EVERY_S", 0.0)
    monkeypatch.setattr(worker, "_make_bots", lambda *_, **__: table)
    monkeypatch.setattr(worker, "_play_at_table", lambda *_: (None, match(MatchKey("p", 0, 0), ("ann", "bob"), (1, 0))))
    monkeypatch.setattr(worker, "pack", lambda _: RECORD)

    def break_off(_: int) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        play_job(job, break_off)

    assert [each.closed for each in table] == [1, 1]


class _Closing:
    """A player that counts how often it is closed."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self, *, grace_s: float) -> None:
        assert grace_s == 0.0
        self.closed += 1


@pytest.mark.process
def test_a_block_that_is_void_three_times_costs_the_others_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It comes back with the last reason and without matches; each attempt is logged; the next block is played."""
    league = tournament(players=players_of(tmp_path, WITNESS), cycles=2, options={"heaps": [2, 2]}, chunk_blocks=2)
    (job,) = jobs(league, {}, "none")
    make_void(monkeypatch, job.fixtures[0].match_id(1), 3)

    first, second = play_whole_job(job)

    assert (first.matches, first.void) == (0, "void 3 times, the last time because all was quiet")
    assert (second.matches, second.void) == (2, "")
    attempts = [record.getMessage().partition(" is void, ")[2] for record in caplog.records]
    assert attempts == [f"attempt {number}: all was quiet" for number in (1, 2, 3)]


def job_of(bots: list[BotSpec], clock: ClockSettings, game: str) -> Job:
    """Return a job with these bots at the table."""
    players = tuple(Player(name=f"p{number}", bot=bot) for number, bot in enumerate(bots))
    (job,) = jobs(tournament(players=players, cycles=1, options={}, clock=clock), {}, "none")
    return msgspec.structs.replace(job, settings=msgspec.structs.replace(job.settings, game=game))


@pytest.mark.parametrize(
    ("manifest", "clock", "game", "does"),
    [
        ({}, {}, "nim", True),
        ({"cores": 1}, {}, "shanghaien", True),
        ({"cores": 2}, {}, "nim", False),
        ({"processes": True}, {}, "nim", False),
        ({}, {"decides": "wall"}, "nim", False),
        ({}, {"ponder": True}, "nim", False),
        ({}, {}, "riffraff", False),
    ],
)
def test_one_core_is_enough_where_one_runs_at_a_time(
    manifest: dict[str, Any], clock: dict[str, Any], game: str, does: bool
) -> None:
    """No process waits for a second core then; a clock of real time would count the wait."""
    bot = read_bot(ROOT / "bots" / "random")
    other = msgspec.structs.replace(bot, manifest=msgspec.structs.replace(bot.manifest, **manifest))

    assert fits_one_core(job_of([bot, other], ClockSettings(**clock), game)) is does


def test_a_bot_that_uses_more_cores_than_it_may_have_threads_is_refused(golden: Golden) -> None:
    """The error names both numbers."""
    bot = read_bot(ROOT / "bots" / "random")
    wide = msgspec.structs.replace(bot, manifest=msgspec.structs.replace(bot.manifest, cores=65))

    with golden.raises(SpecError):
        confine(wide, Limits(), ClockSettings(), "sandbox")
