"""`arena verify --replay`: the same bots, asked again from the start of their processes, do what is stored."""

from concurrent.futures import BrokenExecutor
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal
from support.golden import Golden
from support.league_made import FakeBackend

from arena.league.schedule import Job
from arena.match.columns import PlayedBlock
from arena.match.secret_luck import Secret
from arena.operations.leagues import load_league
from arena.store.bots import BotStore
from arena.store.folder import open_store
from arena.verify.replay import audit_by_replay

pytestmark = pytest.mark.process
MOODY = bot_script("int.from_bytes(os.urandom(4), 'big') % len(m['legal'])")


def play(terminal: Terminal, *bots: str, **changes: object) -> None:
    assert (
        terminal.league(*bots, flags="--workers 1", **{"seed": None, "cycles": 4, "chunk_blocks": 2, **changes}).code
        == 0
    )


def test_a_bot_that_draws_lots_is_evidence_and_no_failure(terminal: Terminal) -> None:
    """Each match that goes otherwise is reported with its first different action; the exit code stays 0."""
    script = Path("moody.py")
    script.write_text(MOODY)
    play(terminal, "./moody.py", "random", options={"heaps": [9] * 4}, cycles=2)  # no two of so many moves are alike

    said = terminal.arena("verify --replay 2")

    assert said.code == 0
    assert "-0: action " in said.out
    assert ", by p0, was " in said.out
    assert ": 0 with the actions that are stored" in said.out


def test_without_the_secret_nothing_is_played(terminal: Terminal, golden: Golden) -> None:
    """A sentence says so, and everything else is checked."""
    play(terminal, "random", "random")
    for secret in Path("results/secrets").iterdir():
        secret.unlink()

    said = terminal.arena("verify --replay 1")

    assert said.code == 0
    golden(said.out)


def test_blocks_that_no_worker_could_play_are_no_difference(terminal: Terminal, golden: Golden) -> None:
    """Blocks that no worker could play are reported apart from differences and not counted as matches."""

    def die(_: Job) -> list[PlayedBlock]:
        raise BrokenExecutor("the worker died")

    play(terminal, "random", "random", seed=1, cycles=1, chunk_blocks=1)

    with open_store(terminal.results) as store:
        bots = BotStore(terminal.results, terminal.folder)
        league, secrets = load_league(store, None), [Secret.public("1")]
        told = [text for _, text in audit_by_replay(store, bots, league, secrets, 1, "none", FakeBackend(die))]

    assert len(told) == 2
    assert told[0].startswith("played again, ")
    golden(told[1])
