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
    """Play `count` random process lives of a league again and tell which actions differ. Nothing of it is a problem.

    `watch` hears again and again how many matches were played, and of how many.
    """
    if why := _obstacle(state.tournament, secrets):
        yield False, f"no process life can be played again: {why}"
        return
    try:
        whole = _whole_jobs(store, state, secrets, isolation)
        chosen = random.Random().sample(whole, min(count, len(whole)))  # noqa: S311 - other jobs each time
        again = _PlayedAgain(store, sum(len(each.fixtures) for each in chosen) * state.tournament.seats, watch)
        again.play([*_seated(chosen, state.tournament, bots)], backend)
    except ArenaError as error:
        yield False, f"no process life can be played again: {error}"
        return
    for text in again.sentences():
        yield False, text
    what = f"{counted(len(chosen), 'process life', 'process lives')} of {len(whole)} played again"
    what = f"{what}, {counted(again.matches, 'match', 'matches')}"
    same = str(again.matches - len(again.differences)) if again.differences else "all"
    yield False, f"{what}: {same} with the actions that are stored"


class _PlayedAgain:
    """The jobs that are played again: the matches by now, of `asked`, their differences, and why some were lost."""

    def __init__(self, store: MatchStore, asked: int, watch: Callable[[int, int], object]) -> None:
        self._store, self._asked, self._watch = store, asked, watch
        self.matches = 0
        self.differences: list[str] = []
        self._lost = ""

    def play(self, seated: Sequence[Job], backend: Backend) -> None:
        """Play them all; blocks that could not be played are told, and fail nothing."""
        try:
            play_jobs([iter(seated)], backend, commit=self._take, tick=self._tell)
        except BlocksLost as lost:
            self._lost = str(lost)

    def sentences(self) -> Iterator[str]:
        """The first differences, how many more there are, and what was lost."""
        yield from (f"played again, {text}" for text in self.differences[:_DIFFERENCES_SHOWN])
        if (more := len(self.differences) - _DIFFERENCES_SHOWN) > 0:
            yield f"... and {counted(more, 'match', 'matches')} more"
        if self._lost:
            yield f"played again, {self._lost}"

    def _take(self, blocks: Sequence[PlayedBlock]) -> None:
        for block in blocks:
            self.matches += len(block.records)
            self.differences += _differences(self._store, block)
        self._tell(0)

    def _tell(self, finished: int) -> None:
        self._watch(self.matches + finished, self._asked)


def _seated(chosen: Sequence[Job], tournament: Tournament, bots: BotStore) -> Iterator[Job]:
    """The jobs with the bots that played, as they are kept here. SpecError if one is not."""
    kept = {each.bot.digest: bots.installed(each.bot.digest) for each in tournament.players}
    return (job.with_bots(lambda bot: kept[bot.digest]) for job in chosen)


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
    for match in block.matches:
        then = unpack(store.match(str(match.result.key)).record)
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
