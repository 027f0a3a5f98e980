"""A league of nim between given players, played and stored as every league, in this process."""

import contextlib
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from arena.league.driver import Backend, play_jobs
from arena.league.schedule import jobs
from arena.league.state import state_of
from arena.league.tournament import Player, Tournament
from arena.match.record import MatchRecord, unpack
from arena.match.settings import ClockSettings
from arena.process.limits import Isolation
from arena.process.manifest import BotSpec, Manifest, bot_digest, read_bot
from arena.store import database
from arena.store.matches import MatchStore
from support import made_matches
from support.bot_source import bot_script
from support.league_made import FakeBackend
from support.threads import play_whole_job

QUICK: Final = ClockSettings(move_ms=120, bank_ms=0, wall_ms=300, startup_ms=5_000)
PATIENT: Final = ClockSettings(move_ms=1_500, bank_ms=0, wall_ms=3_000, startup_ms=5_000)
"""For bots that are timed by the wall, or take long for their evil deeds."""
ENDLESS: Final = ClockSettings(move_ms=60_000, startup_ms=5_000)
"""For bots that lose by what they say, however slowly the machine hears it."""
PYTHON: Final = ("python3", "-S")
"""It starts in half the time without the packages that no bot here needs."""
HONEST: Final = bot_script(
    'len(m["legal"]) // 2',
    start="think_s = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0",
    asked="time.sleep(think_s)",
)


def honest_bots(folder: Path) -> tuple[BotSpec, BotSpec]:
    """Two of them, which differ in their bytes only."""
    return _honest_bot(folder / "anna.py"), _honest_bot(folder / "bert.py")


def _honest_bot(script: Path) -> BotSpec:
    script.write_text(f"{HONEST}# {script.stem}\n", encoding="utf-8")
    manifest = Manifest(name=script.stem, command=(*PYTHON, script.name))
    return replace(read_bot(script), manifest=manifest, digest=bot_digest(script, manifest))


def honest_players(bots: tuple[BotSpec, BotSpec], think_ms: int = 0) -> tuple[Player, ...]:
    """Both as players that take so long for a move."""
    arguments = (str(think_ms / 1000),) if think_ms else ()
    return tuple(Player(name=bot.name, bot=bot, arguments=arguments) for bot in bots)


def league_of(players: tuple[Player, ...], clock: ClockSettings, *, blocks: int = 1) -> Tournament:
    """All pairings, so many blocks each."""
    return made_matches.tournament(
        name="hostile", players=players, seed="hostile", cycles=blocks, chunk_blocks=20, clock=clock
    )


def played(
    tournament: Tournament, results: Path, *, isolation: Isolation = "sandbox", backend: Backend | None = None
) -> list[MatchRecord]:
    """Play the league, by default in this process, so that nothing can grow unseen; store it, and read its records."""
    with contextlib.closing(database.open_for_writing(results)) as connection:
        store = MatchStore(connection, results)
        store.save_league(tournament)
        play_jobs([jobs(tournament, {}, isolation)], backend or FakeBackend(play_whole_job, slots=1), commit=store.save)
        return [unpack(match.record) for match in store.matches(state_of(tournament, store.ranks).blocks)]


def without(records: list[MatchRecord], player: str) -> list[MatchRecord]:
    """The matches in which that player did not sit."""
    return [record for record in records if player not in {seat.player for seat in record.seats}]


def course(records: list[MatchRecord]) -> list[tuple[object, ...]]:
    """What must not depend on who else plays in the league."""
    return [(each.match, each.steps, each.ranks, each.scores, each.termination) for each in records]
