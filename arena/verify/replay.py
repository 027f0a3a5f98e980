"""Jobs of a league played again, each from its start: evidence of who chose the actions.

Rule: a difference is told and is no failure. A bot may draw lots or look at the clock, and a job with a void match or
with two deaths of its worker went on with new processes in its middle, which nobody noted.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from arena.errors import ArenaError
from arena.games import load_game
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
"""Differences of a league that are told one by one."""


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
    """Play `count` random jobs of a league again and tell which actions differ. Nothing of it is a problem.

    `watch` hears again and again how many matches were played, and of how many.
    """
    if why := _obstacle(state.tournament, secrets):
        yield False, f"no process life can be played again: {why}"
        return
    try:
        whole = _whole_jobs(store, state, secrets, isolation)
        chosen = random.Random().sample(whole, min(count, len(whole)))  # noqa: S311 - other jobs each time
        kept = {each.bot.digest: bots.installed(each.bot.digest) for each in state.tournament.players}
        blocks, lost = _play_again([job.with_bots(lambda bot: kept[bot.digest]) for job in chosen], backend, watch)
    except ArenaError as error:
        yield False, f"no process life can be played again: {error}"
        return
    matches, differences = _matches(blocks), [text for block in blocks for text in _differences(store, block)]
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
    """Play jobs; return their blocks, and why some of these could not be played."""
    blocks: list[PlayedBlock] = []
    asked = sum(job.matches for job in jobs)

    def report(finished: int) -> None:
        watch(_matches(blocks) + finished, asked)

    try:
        play_jobs([iter(jobs)], backend, commit=blocks.extend, tick=report)
    except BlocksLost as error:
        return blocks, str(error)
    finally:
        report(0)
    return blocks, ""


def _matches(blocks: Sequence[PlayedBlock]) -> int:
    return sum(block.matches for block in blocks)


def _obstacle(tournament: Tournament, secrets: Sequence[Secret]) -> str:
    """The reason for which nothing of the league can be played again; empty without one."""
    now = load_game(tournament.game).rules_version
    if tournament.rules not in {"", now}:
        return f"it was played by rules {tournament.rules} of {tournament.game}; this arena plays rules {now}"
    return "" if secrets else "the secret of its luck is not here (--secret-file gives it)"


def _whole_jobs(store: MatchStore, state: LeagueState, secrets: Sequence[Secret], isolation: Isolation) -> list[Job]:
    """The jobs of which every block is stored and drawn under a secret that is at hand, as they were drawn."""
    by_commitment = {secret.commitment: secret for secret in secrets}
    found: list[Job] = []
    for planned in state.rounds:
        for job in jobs(state.tournament, {}, isolation, of=planned, secret=secrets[0]):
            blocks = [each.block for each in job.fixtures]
            if not set(blocks) <= state.finished[job.pairing.key]:
                continue
            commitments = [unpack(store.match(f"{job.pairing.key}-{block}-0").record).commitment for block in blocks]
            if all(each in by_commitment for each in commitments):
                drawn = [by_commitment[str(each)] for each in commitments]
                fixtures = (fixture(one, job.pairing, block) for one, block in zip(drawn, blocks, strict=True))
                found.append(replace(job, fixtures=tuple(fixtures), luck=False))
    return found


def _differences(store: MatchStore, block: PlayedBlock) -> Iterator[str]:
    """The first difference of each match of a block that was played again, in a sentence."""
    for match in block.results:
        then = unpack(store.match(str(match.key)).record)
        now = unpack(match.record)
        if text := _first_difference(then, now):
            yield f"match {then.match}: {text}"


def _first_difference(then: MatchRecord, now: MatchRecord) -> str:
    """The first action that is another one, or how the ends differ; empty for the same match."""
    pair = [[step for step in record.steps if isinstance(step, ActionStep)] for record in (then, now)]
    for number, (old, new) in enumerate(zip(*pair, strict=False), start=1):
        if (old.seat, old.action) != (new.seat, new.action):
            player = then.seats[old.seat].player
            return f"action {number}, by {player}, was {old.action!r:.60} and is {new.action!r:.60}"
    if then.termination != now.termination or len(pair[0]) != len(pair[1]):
        ends = [f"{one.termination} after {len(acts)} actions" for one, acts in zip((then, now), pair, strict=True)]
        return f"it ended with {ends[0]}, and now with {ends[1]}"
    return ""
