"""Schedules that depend on results, in a league: the same rounds whoever is faster and however often it is stopped."""

from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.league_ledger import NAMES, SCHEDULES, Ledger, by_luck, every_schedule, league_of
from support.made_matches import tournament

from arena.league.schedule import Job, is_open_ended, jobs, match_count, pairings
from arena.league.schedules.settings import Gauntlet, RoundRobin
from arena.league.tournament import Tournament
from arena.match.columns import PlayedBlock


def finished(league: Tournament) -> Ledger:
    ledger = Ledger()
    ledger.play(league, by_luck)
    return ledger


@every_schedule
def test_every_block_is_played_once(kind: str) -> None:
    """What is committed is what the spans say, each block once; it is as many matches as are counted afterwards."""
    league = league_of(kind)

    ledger = finished(league)

    results = ledger.results(league)
    state = ledger.state(league)
    there = {(span.pairing.key, block) for span in state.spans for block in range(span.blocks)}
    assert len(ledger.commits) == len(set(ledger.commits))
    assert set(ledger.commits) == there
    assert len(results) == 2 * len(there) == state.stored == state.scheduled
    assert len({(one.key.block, one.players) for one in results}) == len(results)
    assert state.is_complete
    assert state.scheduled <= match_count(league)
    assert is_open_ended(league) or state.scheduled == match_count(league)


@every_schedule
def test_the_number_of_workers_and_their_order_change_nothing(kind: str) -> None:
    """One worker, or many with small jobs handed back half played, give equal results in equal order."""
    league = league_of(kind)

    def slowly(job: Job) -> list[PlayedBlock]:
        return by_luck(job)[:1]

    one, many = Ledger(), Ledger()
    states = [one.play(league, by_luck, slots=1), many.play(league, slowly, slots=7)]

    assert one.results(league) == many.results(league)
    assert states[0] == states[1] == one.state(league)


@pytest.mark.slow
@settings(max_examples=40)
@given(kind=st.sampled_from(list(SCHEDULES)), seed=st.integers(0, 10**6), stops=st.lists(st.integers(0, 5), max_size=6))
def test_after_any_stops_the_league_is_the_same(kind: str, seed: int, stops: list[int]) -> None:
    """Stopped after any number of jobs, any number of times, it has the same blocks, none played twice."""
    league = league_of(kind, seed=str(seed), chunk_blocks=1)
    stopped = Ledger()

    for most in stops:
        try:
            stopped.play(league, by_luck, most_chunks=most)
        except KeyboardInterrupt:
            continue
    stopped.play(league, by_luck)

    assert stopped.results(league) == finished(league).results(league)
    assert len(stopped.commits) == len(set(stopped.commits))


@every_schedule
def test_no_round_begins_before_the_one_before_is_complete(kind: str) -> None:
    """While a single block is missing the next round is unknown, and nothing beyond belongs to the league."""
    league = league_of(kind, seed="4")
    whole = finished(league)
    reached = whole.state(league).rounds
    for number, each in enumerate(reached, start=1):
        lacking = Ledger()
        lacking.blocks = dict(whole.blocks)
        del lacking.blocks[each.pairings[-1].key, each.first[-1] + each.blocks - 1]

        state = lacking.state(league)

        assert state.rounds == reached[:number]
        assert not state.is_complete


@settings(max_examples=15)
@given(
    kind=st.sampled_from(["cycles", "gauntlet"]),
    seats=st.sampled_from([2, 3, 4]),
    before=st.integers(5, 8),
    seed=st.integers(0, 10**6),
)
def test_a_newcomer_replays_nothing(kind: str, seats: int, before: int, seed: int) -> None:
    """Wherever they join the file, with any number of seats: all stored blocks stay, and only their tables are new."""
    names = [f"p{number}" for number in range(before)]
    schedule = RoundRobin() if kind == "cycles" else Gauntlet(challengers=("p1",))
    old = tournament(*names, schedule=schedule, seats=seats, seed=str(seed))
    ledger = finished(old)
    stored = set(ledger.commits)
    joined = list(names)
    joined.insert(Random(seed).randint(0, before), "new")

    ledger.commits.clear()
    ledger.play(tournament(*joined, schedule=schedule, seats=seats, seed=str(seed)), by_luck)

    with_new = {pair.key for pair in pairings(tournament(*joined, schedule=schedule, seats=seats, seed=str(seed)))}
    assert {key for key, _ in stored} < with_new
    assert not stored & set(ledger.commits)
    assert {key for key, _ in ledger.commits} == with_new - {key for key, _ in stored}


def test_a_newcomer_to_a_decided_league_replays_nothing() -> None:
    """Blocks beyond the cycles that are asked for again are there already."""
    ledger = finished(league_of("decided", *NAMES[:4]))
    stored = set(ledger.commits)

    ledger.commits.clear()
    ledger.play(league_of("decided", *NAMES[:5]), by_luck)

    assert ledger.commits
    assert not stored & set(ledger.commits)


@pytest.mark.parametrize("kind", ["decided", "knockout"])
def test_chunks_of_a_round_are_its_own_blocks(kind: str) -> None:
    """Each round plays on where the pairing stopped, cut at multiples of the job's size."""
    league = league_of(kind, chunk_blocks=4)
    ledger = finished(league)

    for each in ledger.state(league).rounds:
        planned = {(one.pairing, one.block) for job in jobs(league, {}, round_=each) for one in job.fixtures}
        assert planned == {
            (pairing.key, first + block)
            for pairing, first in zip(each.pairings, each.first, strict=True)
            for block in range(each.blocks)
        }
        for job in jobs(league, {}, round_=each):
            assert len({one.block // 4 for one in job.fixtures}) == 1


@every_schedule
def test_who_can_meet(kind: str) -> None:
    """A pairing of a gauntlet has exactly one challenger; those of the other schedules are all pairs."""
    met = {frozenset(player.name for player in pair.players) for pair in pairings(league_of(kind))}

    challengers = getattr(SCHEDULES[kind][0], "challengers", None)
    pairs = set(map(frozenset, combinations(NAMES, 2)))
    assert met == {pair for pair in pairs if challengers is None or len(pair & set(challengers)) == 1}
