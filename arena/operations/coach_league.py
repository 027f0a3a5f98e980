"""Costs of the decisions of the players of a league, by match; known judgements are not made again."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from typing import TYPE_CHECKING, Annotated

import msgspec

from arena.errors import CheckFailed, HarnessFault, SpecError
from arena.league.state import LeagueState
from arena.match.analyst import JudgeFailed
from arena.match.judgement import Judgement
from arena.match.results import MatchResult, record_of
from arena.operations.coach_match import CoachRequest, Judge, choosing_judges
from arena.operations.events import OnEvent, Progress, ignore
from arena.operations.leagues import league_table, load_league
from arena.operations.playing import WorkerCount, local_workers, naming_option
from arena.process import reaper
from arena.process.workers import Window, Workers
from arena.standings.mistakes import LeagueMistakes, MistakeSums
from arena.store.folder import open_store
from arena.store.judgements import JudgementCache
from arena.store.matches import MatchStore

if TYPE_CHECKING:
    from arena.standings.rows import Row


class CoachLeague(CoachRequest, frozen=True, kw_only=True):
    """A judgement of `matches` of a league, spread over all pairings; None for all of its matches."""

    league: str | None = None
    matches: Annotated[int, msgspec.Meta(ge=1)] | None = None
    workers: WorkerCount | None = None


class _Task(msgspec.Struct, frozen=True):
    """A match to judge, in a worker process."""

    match: MatchResult
    judge: Judge


def coach_league(request: CoachLeague, on: OnEvent = ignore) -> LeagueMistakes:
    """Judge matches of a league on all cores, and keep what is new beside the results.

    SpecError if the league or the bot is unknown, if several bots are given, or if nobody judges the game. CheckFailed
    if the bot does not evaluate, or if no match could be judged.
    """
    if len(request.by) > 1:
        raise SpecError("--by: found several bots, expected one with --league")
    with open_store(request.results) as store:
        with naming_option("--league"):
            state = load_league(store, request.league)
        rows = league_table(store, state)[0].rows
        chosen = _choose_blocks(state, request.matches)
        matches = _read_blocks(store, chosen)
        tally = _Tally(len(chosen) * state.tournament.seats, on)
        with choosing_judges(request, state.tournament.game) as (judge,):
            workers = local_workers(request.workers, judge.limits * state.tournament.seats, on)
            _judge_all(store.judgements, judge, matches, workers, tally.add)
    if not tally.judged:
        reason = next(iter(tally.failures), "no match is stored")
        raise CheckFailed(f"league {state.tournament.name}: no match was judged: {reason}")
    return tally.mistakes(state, rows)


def kept_mistakes(store: MatchStore, state: LeagueState, rows: "Sequence[Row]") -> LeagueMistakes | None:
    """Add up the kept judgements of a league by the latest judge who judged matches of all players who have any.

    None without such a judge. `rows` are those of the standings. No match is judged, and no process is started.
    """
    for judge in store.judgements.judges():
        tally = _Tally(0, ignore)
        for match in _read_blocks(store, _choose_blocks(state, None)):
            if (judgement := store.judgements.read(match, judge)) is not None:
                tally.add(match, judgement)
        mistakes = tally.mistakes(state, rows)
        if all(player.matches for player, row in zip(mistakes.players, rows, strict=True) if row.matches):
            return mistakes
    return None


class _Tally:
    """Sums over the matches judged so far, of `total`."""

    def __init__(self, total: int, on: OnEvent) -> None:
        self.sums, self.failures, self.judged, self.by = MistakeSums(), Counter[str](), 0, ""
        self._total, self._on = total, on

    def add(self, match: MatchResult, judgement: Judgement | str) -> None:
        """Add the judgement of a match, or the reason why there is none, and report the progress."""
        if isinstance(judgement, str):
            self.failures[judgement] += 1
        else:
            self.sums.add(match, judgement)
            self.judged, self.by = self.judged + 1, judgement.by
        self._on(Progress("matches", self.judged + self.failures.total(), self._total))

    def mistakes(self, state: LeagueState, rows: "Iterable[Row]") -> LeagueMistakes:
        """Return the mistakes of the players of these rows of the standings."""
        return LeagueMistakes(
            league=state.tournament.name,
            by=self.by,
            judged=self.judged,
            stored=state.stored,
            players=self.sums.players(rows),
            failures=dict(self.failures),
        )


def _choose_blocks(state: LeagueState, matches: int | None) -> set[tuple[str, int]]:
    """Return the blocks to judge, by pairing and number: all that are stored whole, or enough for `matches` matches.

    The latter are the lowest numbers of all pairings.
    """
    stored = {(number, key) for key, numbers in state.finished.items() for number in numbers}
    torn = {(number, pairing.key) for pairing, number in state.torn}
    most = None if matches is None else -(-matches // state.tournament.seats)
    return {(key, number) for number, key in sorted(stored - torn)[:most]}


def _read_blocks(store: MatchStore, blocks: Collection[tuple[str, int]]) -> Iterator[MatchResult]:
    """Yield the matches of these blocks with their records."""
    spans = {key: number + 1 for key, number in sorted(blocks)}
    return (match for match in store.matches(spans) if (match.key.pairing, match.key.block) in blocks)


def _judge_all(
    cache: JudgementCache,
    judge: Judge,
    matches: Iterable[MatchResult],
    workers: int,
    take: Callable[[MatchResult, Judgement | str], None],
) -> None:
    """Hand each match to `take` with its judgement, known or new, or with the reason why there is none.

    New ones are kept in `cache`; matches come in the order in which they are ready. JudgeFailed if the judge fails,
    HarnessFault if a worker process dies.
    """
    key = judge.key

    def unjudged() -> Iterator[_Task]:
        """Yield a task for each match without a judgement; hand the others to `take`."""
        for match in matches:
            if (judgement := cache.read(match, key)) is None:
                yield _Task(match, judge)
            else:
                take(match, judgement)

    tasks = unjudged()
    with Workers(workers, preload=__name__) as pool:
        window = Window[_Task, Judgement | str](lambda task: pool.submit(_judge_match, task), lambda: 2 * workers)
        while window.fill(tasks):
            for task, future in window.collect():
                try:
                    judgement = future.result()
                except BrokenExecutor as error:
                    raise HarnessFault(f"a process that judged {task.match.key} died: {error}; try again") from error
                if isinstance(judgement, Judgement):
                    cache.keep(task.match, key, judgement)
                take(task.match, judgement)


def _judge_match(task: _Task) -> Judgement | str:
    """Judge a match in a worker process, and kill the bots; return the reason if it cannot be judged.

    Raises JudgeFailed.
    """
    try:
        return task.judge.judge(record_of(task.match))
    except JudgeFailed:
        raise
    except CheckFailed as error:
        return str(error)
    finally:
        reaper.kill_descendants()
