"""The forecast of a league from a sample of its matches: the time it will take, and the difference it can show.

Rule: a sample is of throw-away luck, ends on time however slow the bots are, and stores nothing.
"""

import contextlib
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from functools import cached_property, partial

import msgspec
from msgspec.structs import replace

from arena.errors import MachineFault, SpecError
from arena.league.schedule import Job, jobs, most_blocks
from arena.league.tournament import Tournament
from arena.league.worker import PlayedMatch, SeatedBots, play_rotations
from arena.match.results import MatchResult
from arena.match.secret_luck import Secret
from arena.process import reaper
from arena.process.limits import Isolation
from arena.process.manifest import BotSpec
from arena.process.sandbox import self_test
from arena.process.workers import Window, Workers

PrepareBot = Callable[[BotSpec], BotSpec]
"""Returns the installed copy of a bot."""


class SampleTimes(msgspec.Struct, frozen=True):
    """The times of a sample, in seconds: after `begin_s` no pairing is begun, at `end_s` all play is broken off.

    A pairing is left for the next one after `pairing_s`, when a match ends.
    """

    begin_s: float = 25.0
    end_s: float = 45.0
    pairing_s: float = 5.0


class SampledMatch(msgspec.Struct, frozen=True):
    """A match of a pairing and the time of its worker since the match before; without a result, the end of the bots.

    `is_start`: new processes began with it. `job_blocks`: the blocks that a league plays with the same processes.
    """

    pairing: str
    seconds: float
    result: MatchResult | None
    is_start: bool = False
    job_blocks: int = 1


class LeagueSample(msgspec.Struct, frozen=True, dict=True):
    """The matches that were played, within `wall_s` seconds; `failures` are the reasons of jobs that broke off."""

    matches: tuple[SampledMatch, ...]
    wall_s: float
    failures: tuple[str, ...]

    @cached_property
    def results(self) -> list[MatchResult]:
        """The results of the matches."""
        return [match.result for match in self.matches if match.result is not None]

    @cached_property
    def seconds(self) -> dict[str, float]:
        """Estimate the seconds a match in the league, by pairing key; pairings without a result are left out.

        Bots start less often there than in the sample.
        """
        by_pairing: defaultdict[str, list[SampledMatch]] = defaultdict(list)
        for match in self.matches:
            by_pairing[match.pairing].append(match)
        return {
            key: _estimate_match_s(matches)
            for key, matches in by_pairing.items()
            if any(match.result for match in matches)
        }

    @property
    def mean_s(self) -> float | None:
        """Seconds a match on one core; each pairing counts once, as all play as many matches. None without a match."""
        return math.fsum(self.seconds.values()) / len(self.seconds) if self.seconds else None


class ShownDifference(msgspec.Struct, frozen=True):
    """The smallest difference of two players' scores that 95 % intervals separate, in points of score, and in Elo.

    `blocks` are those of each player, `elo` is None beyond all bounds. `is_measured`: by the spread of sampled blocks,
    otherwise by that of matches that are won or lost by chance.
    """

    blocks: int
    points: float
    elo: float | None
    is_measured: bool


class Capacity(msgspec.Struct, frozen=True):
    """The workers that play: of this machine, or of so many `machines` of a cluster, of which `unfit` cannot play.

    `cores` of this machine are as quick as all of them together.
    """

    workers: int
    cores: float
    machines: int = 0
    unfit: int = 0


class LeagueForecast(msgspec.Struct, frozen=True):
    """A tournament, `stored` of whose matches are played, and the forecast of the others from a sample."""

    tournament: Tournament
    stored: int
    sample: LeagueSample
    difference: ShownDifference
    capacity: Capacity


def take_sample(
    tournament: Tournament,
    prepare: PrepareBot,
    isolation: Isolation,
    workers: int,
    times: SampleTimes,
    tick: Callable[[int], object] = lambda _: None,
) -> LeagueSample:
    """Play as much of the first round as the time allows, pairing after pairing; `tick` gets the number of matches.

    SpecError if a bot cannot be built; MachineFault if nothing can be played, HarnessFault if bots cannot be isolated.
    """
    self_test.require_isolation(isolation)
    start_s = time.monotonic()
    matches: list[SampledMatch] = []
    left = _first_round_jobs(tournament, isolation)
    play = partial(play_for, prepare, times.pairing_s)
    failures: list[str] = []
    with Workers(workers, preload=__name__) as pool:
        window = Window[Job, None](lambda job: pool.submit(play, job, matches.append), lambda: workers)
        while window.fill(left if time.monotonic() - start_s < times.begin_s else iter(())):
            failures += [failure for _, future in window.collect() if (failure := _failure_of(future))]
            tick(len(matches))
            if time.monotonic() - start_s >= times.end_s:
                pool.close(is_interrupted=True)
                break
    return LeagueSample(tuple(matches), time.monotonic() - start_s, tuple(failures))


def play_for(prepare: PrepareBot, most_s: float, job: Job, report: Callable[[SampledMatch], None]) -> None:
    """Play matches of a job for `most_s` seconds, and report each by `report`, at the end also the end of the bots.

    The blocks are played in jobs of 1, 2, 4, ... blocks: so most are complete whenever the time is up. All processes
    below this one are killed between them. `prepare` gives the installed copy of a bot.
    """
    job = job.with_bots(prepare)
    start_s = last_s = time.monotonic()
    seated: list[SeatedBots] = []
    with contextlib.closing(_play_growing_jobs(job, seated.append)) as matches:
        for _, result in matches:
            now_s = time.monotonic()
            report(SampledMatch(job.pairing.key, now_s - last_s, result, bool(seated), len(job.fixtures)))
            seated.clear()
            last_s = now_s
            if now_s - start_s >= most_s:
                break
    report(SampledMatch(job.pairing.key, time.monotonic() - last_s, None))


def _play_growing_jobs(job: Job, watch: Callable[[SeatedBots], object]) -> Generator[PlayedMatch, None, None]:
    """Play the blocks of a job as jobs of 1, 2, 4, ... blocks."""
    first, size = 0, 1
    while first < len(job.fixtures):
        few = replace(job, fixtures=job.fixtures[first : first + size])
        yield from play_rotations(few, watch=watch, sweep=reaper.kill_descendants)
        first, size = first + size, 2 * size


def _estimate_match_s(matches: Sequence[SampledMatch]) -> float:
    """Estimate the seconds a match in the league, where fewer matches begin with a start of bots than in a sample."""
    starts = [match for match in matches if match.is_start]
    others = [match.seconds for match in matches if not match.is_start and match.result is not None]
    starts_s = math.fsum(match.seconds for match in matches if match.is_start or match.result is None) / len(starts)
    match_s = math.fsum(others) / len(others) if others else starts_s
    return match_s + max(0.0, starts_s - match_s) / starts[0].job_blocks


def shown_difference(tournament: Tournament, results: Sequence[MatchResult]) -> ShownDifference:
    """Estimate the difference in per cent that the league can show, if all blocks spread as the sampled ones do.

    With too few of them the variance of independent matches without draws is assumed, and the result says so.

    Two of P players who meet equally often: their scores over n blocks each differ with an error of
    sqrt(2 v / n * P / (P - 1)) where a block's score has the variance v, as what one wins of the other counts twice.
    A difference of d then means that one would score 1/2 + d (P - 1) / P against the other.
    """
    from arena.statistics.elo import elo_of  # noqa: PLC0415 - only a plan needs it
    from arena.statistics.interval import interval  # noqa: PLC0415 - see above

    players, seats = len(tournament.players), tournament.seats
    blocks = max(1, most_blocks(tournament) * seats // players)
    measured = _block_variance(results, seats)
    variance = 0.25 / seats if measured is None else measured
    error = math.sqrt(2.0 * variance / blocks * players / (players - 1))
    half = interval(0.0, error, degrees=blocks - 1, blocks=blocks, lowest=-1.0, highest=1.0).error
    direct = 0.5 + half * (players - 1) / players
    return ShownDifference(blocks, 100.0 * half, elo_of(direct) if direct < 1.0 else None, measured is not None)


def _block_variance(results: Sequence[MatchResult], seats: int) -> float | None:
    """Estimate the variance of a block's score about the mean of its pairing, by the function of the leaderboard.

    None without two complete blocks. In a match of two, one player is enough: the other's scores mirror theirs.
    """
    import numpy as np  # noqa: PLC0415 - numpy is for the difference only

    from arena.standings.match_table import match_table  # noqa: PLC0415 - see above
    from arena.standings.ranks import full_score  # noqa: PLC0415 - see above
    from arena.standings.scores import mean_of, scores  # noqa: PLC0415 - see above

    counts = Counter(result.key[:2] for result in results)
    table = match_table(result for result in results if counts[result.key[:2]] == seats)
    of_places = np.indices((len(table.keys), seats if seats > 2 else 1)).reshape(2, -1)
    mean = mean_of(scores(table).shares.at(*of_places), unit=full_score(seats), lowest=0.0, highest=1.0)
    return None if mean is None or mean.standard_error is None else mean.standard_error**2 * mean.blocks


def _first_round_jobs(tournament: Tournament, isolation: Isolation) -> Iterator[Job]:
    """Yield the jobs of the first round, drawn under a secret of their own, which is thrown away."""
    secret = Secret.random()
    thrown_away = replace(tournament, seed=None, commitments=(secret.commitment,))
    return jobs(thrown_away, {}, isolation, secret=secret)


def _failure_of(future: "Future[None]") -> str:
    """Return the reason why a job broke off; empty if it did not. Raises an error that would end the league."""
    error = future.exception()
    if isinstance(error, SpecError | MachineFault):
        raise error
    return "" if error is None else f"{type(error).__name__}: {error}"
