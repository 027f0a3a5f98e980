"""Jobs of a league played again, each from its start: evidence of who chose the actions.

Rule: a difference is reported and is no failure. A bot may use random numbers or the clock, and a job with a void match
or with two deaths of its worker went on with new bot processes in its middle, which is not recorded.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from arena.errors import ArenaError, SpecError
from arena.games import load_game
from arena.games.api import BOOK
from arena.league.driver import Backend, BlocksLost, play_jobs
from arena.league.schedule import Job, fixture, jobs
from arena.league.state import LeagueState
from arena.league.tournament import Tournament
from arena.match.columns import PlayedBlock
from arena.match.record import ActionStep, MatchRecord, unpack
from arena.match.secret_luck import Secret
from arena.process.limits import Isolation
from arena.store.bots import BotStore
from arena.store.matches import MatchStore
from arena.text import counted
from arena.verify.history import AuditLine

_DIFFERENCES_SHOWN: Final = 20
"""The most differences of a league to report one by one."""


def audit_by_replay(
    store: MatchStore,
    bots: BotStore,
    state: LeagueState,
    secrets: Sequence[Secret],
    count: int,
    isolation: Isolation,
    backend: Backend,
    watch: Callable[[int, int], object] = lambda *_: None,
) -> Iterator[AuditLine]:
    """Play up to `count` random jobs of a league again and report actions that differ, never as a problem.

    An error that prevents it is reported in the same way. `watch` is called repeatedly with the number of matches
    played and of all.
    """
    try:
        _require_replayable(state.tournament, secrets)
        gone = bots.removed().intersection(bots.find_changed({one.bot.digest for one in state.tournament.players}))
        whole = [
            job
            for job in _whole_jobs(store, state, secrets, isolation)
            if gone.isdisjoint(player.bot.digest for player in job.pairing.players)
        ]
        chosen = random.Random().sample(whole, min(count, len(whole)))  # noqa: S311 - other jobs each time
        installed = [job.with_bots(lambda bot: bots.read_installed(bot.digest)) for job in chosen]
        blocks, lost = _play_again(installed, backend, watch)
    except ArenaError as error:
        yield False, f"no process life can be played again: {error}"
        return
    matches, differences = _count_matches(blocks), [text for block in blocks for text in _differences(store, block)]
    yield from ((False, f"played again, {text}") for text in differences[:_DIFFERENCES_SHOWN])
    if (more := len(differences) - _DIFFERENCES_SHOWN) > 0:
        yield False, f"... and {counted(more, 'match', 'matches')} more"
    if lost:
        yield False, f"played again, {lost}"
    what = f"{counted(len(chosen), 'process life', 'process lives')} of {len(whole)} played again"
    same = str(matches - len(differences)) if differences else "all"
    yield False, f"{what}, {counted(matches, 'match', 'matches')}: {same} with the actions that are stored"


def _play_again(
    jobs: Sequence[Job], backend: Backend, watch: Callable[[int, int], object]
) -> tuple[list[PlayedBlock], str]:
    """Play jobs and close the backend; return the blocks, and the reason why some are missing (empty if none is)."""
    blocks: list[PlayedBlock] = []
    asked = sum(job.matches for job in jobs)

    def report(finished: int) -> None:
        watch(_count_matches(blocks) + finished, asked)

    try:
        play_jobs([iter(jobs)], backend, commit=blocks.extend, tick=report)
    except BlocksLost as error:
        return blocks, str(error)
    finally:
        report(0)
    return blocks, ""


def _count_matches(blocks: Sequence[PlayedBlock]) -> int:
    return sum(block.matches for block in blocks)


def _require_replayable(tournament: Tournament, secrets: Sequence[Secret]) -> None:
    """Raise SpecError with the reason if nothing of the league can be played again."""
    now = load_game(tournament.game).rules_version
    if tournament.rules not in {"", now}:
        played = f"it was played by rules {tournament.rules} of {tournament.game}"
        raise SpecError(f"{played}; this arena plays rules {now}")
    if not secrets:
        raise SpecError("the secret of its luck is not here (--secret-file gives it)")
    if BOOK in tournament.options and not tournament.book:
        raise SpecError("its book of openings is not here")


def _whole_jobs(store: MatchStore, state: LeagueState, secrets: Sequence[Secret], isolation: Isolation) -> list[Job]:
    """Return the jobs with every block stored and drawn under a known secret, with the luck of those draws."""
    by_commitment = {secret.commitment: secret for secret in secrets}
    whole: list[Job] = []
    for planned in state.rounds:
        for job in jobs(state.tournament, {}, isolation, round_=planned, secret=secrets[0]):
            blocks = [planned_block.block for planned_block in job.fixtures]
            if not set(blocks) <= state.finished[job.pairing.key]:
                continue
            commitments = [unpack(store.match(f"{job.pairing.key}-{block}-0").record).commitment for block in blocks]
            if all(commitment in by_commitment for commitment in commitments):
                drawn = [by_commitment[str(commitment)] for commitment in commitments]
                fixtures = (
                    fixture(secret, job.pairing, block, state.tournament.book)
                    for secret, block in zip(drawn, blocks, strict=True)
                )
                whole.append(replace(job, fixtures=tuple(fixtures), luck=False))
    return whole


def _differences(store: MatchStore, block: PlayedBlock) -> Iterator[str]:
    """Yield the first difference of each match of a block that was played again, in a sentence."""
    for match in block.results:
        then = unpack(store.match(str(match.key)).record)
        now = unpack(match.record)
        if text := _first_difference(then, now):
            yield f"match {then.match}: {text}"


def _first_difference(then: MatchRecord, now: MatchRecord) -> str:
    """Return the first action that differs, or how the ends differ, in words; empty if neither does.

    Luck is the same in both, and scores follow from the actions: neither is compared.
    """
    pair = [[step for step in record.steps if isinstance(step, ActionStep)] for record in (then, now)]
    for number, (old, new) in enumerate(zip(*pair, strict=False), start=1):
        if (old.seat, old.action) != (new.seat, new.action):
            player = then.seats[old.seat].player
            return f"action {number}, by {player}, was {old.action!r:.60} and is {new.action!r:.60}"
    if then.termination != now.termination or len(pair[0]) != len(pair[1]):
        ends = [f"{run.termination} after {len(acts)} actions" for run, acts in zip((then, now), pair, strict=True)]
        return f"it ended with {ends[0]}, and now with {ends[1]}"
    return ""
