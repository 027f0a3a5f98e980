"""A bot that wants to know the luck beforehand, by guessing the seed from all that it hears and all that is public."""

import json
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from support.made_matches import tournament
from support.threads import play_whole_job

from arena.league.schedule import jobs
from arena.league.tournament import FORMAT, Player, Tournament
from arena.match.record import ActionStep, MatchRecord, unpack
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings
from arena.process.manifest import read_bot

pytestmark = pytest.mark.process
BOTS = Path(__file__).parent / "bots"
BUNDLED = Path(__file__).parents[2] / "bots"


def league(seer_arguments: tuple[str, ...] = ()) -> Tournament:
    """The seer against the simplest of the bundled bots; one block."""
    players = (
        Player(name="random", bot=read_bot(BUNDLED / "random")),
        Player(name="seer", bot=read_bot(BOTS / "seer.py"), arguments=seer_arguments),
    )
    return tournament(
        name="seers",
        game="shanghaien",
        players=players,
        seed=None,
        cycles=1,
        chunk_blocks=1,
        clock=ClockSettings(startup_ms=60_000.0, move_ms=1000.0),
        rules="2",
        luck=False,
    )


def facts() -> str:
    """What a student knows of the league: the file of the tournament, the bots of the others, and the own one."""
    found = league()
    (random, seer) = found.players
    identity = {
        "format": FORMAT,
        "game": found.game,
        "rules": found.rules,
        "options": found.options,
        "clock": found.clock,
        "limits": found.limits,
        "commitment": "COMMITMENT",
        "players": "PLAYERS",
    }
    known = {
        "name": "seer",
        "digest": seer.bot.digest,
        "others": [[random.name, random.bot.digest, []]],
        "identity": msgspec.json.encode(identity, order="deterministic").decode(),
    }
    return json.dumps(known)


def predicted(secret: Secret) -> list[tuple[int, int]]:
    """Of each match of a block: how many public rolls the seer knew beforehand, and how many there were."""
    found = replace(league((facts(),)), seed=secret.seed, commitments=() if secret.seed else (secret.commitment,))
    (job,) = jobs(found, {}, "none", secret=secret)
    (block,) = play_whole_job(job)
    return [_last_note(unpack(match.record)) for match in block.results]


def _last_note(record: MatchRecord) -> tuple[int, int]:
    notes = [step.note for step in record.steps if isinstance(step, ActionStep) and step.note]
    words = notes[-1].split()
    return int(words[1]), int(words[3])


def test_a_public_seed_is_guessed_and_every_roll_predicted() -> None:
    """The attack is a real one: a seed that a person typed is found in no time, and then nothing is left to chance."""
    for known, rolls in predicted(Secret.public("2026")):
        assert known == rolls > 20


def test_a_secret_is_not_guessed() -> None:
    """The same bot with the same knowledge predicts nothing: nobody guesses 256 random bits."""
    for known, rolls in predicted(Secret.random()):
        assert known == 0
        assert rolls > 20
