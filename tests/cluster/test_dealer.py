"""Exactly once on a cluster, whatever dies: the driver with workers and a network in virtual time."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from support.fake_cluster import IDENTITY, Died, FakeCluster, VirtualLoop, run
from support.golden import Golden
from support.league_made import all_blocks, played_block
from support.made_matches import tournament

from arena.cluster.messages import Report, decode_message, encode_message
from arena.errors import HarnessFault, MachineFault, SpecError
from arena.league.driver import BlocksLost, play_jobs
from arena.league.schedule import Fixture, Job, jobs
from arena.match.columns import Machine, PlayedBlock


def test_every_block_is_played_once_and_little_is_dealt_ahead() -> None:
    """Of three workers each plays, and has at most two jobs of 8 s at once."""
    league, cluster = tournament(cycles=60, chunk_blocks=20), FakeCluster()

    run(league, cluster)

    assert set(cluster.started.values()) == {1}
    assert {each.most_lives for each in cluster.found.values()} <= {1, 2}
    assert all(each.sessions == 1 for each in cluster.found.values())


def test_short_lives_are_dealt_by_the_time_that_they_take() -> None:
    """A worker gets dozens of jobs of 10 ms, enough for some seconds, and at most 64."""
    league, cluster = tournament(cycles=60, chunk_blocks=1), FakeCluster()

    run(league, cluster, workers=2, w0={"block_s": 0.01}, w1={"block_s": 0.01})

    assert 4 < max(each.most_lives for each in cluster.found.values()) <= 64


def test_each_block_tells_its_machine() -> None:
    """A block has the name and the speed that its worker sent; an impossible speed becomes 0."""
    league, cluster = tournament(cycles=60, chunk_blocks=20), FakeCluster()

    run(league, cluster, w0={"speed": 20.04}, w1={"speed": float("nan")}, w2={"host": "h" * 1000})

    assert cluster.machines == {Machine("host", 20.0), Machine("host", 0.0), Machine("h" * 64, 1.0)}


def later(*acts: tuple[float, Callable[[FakeCluster], object]]) -> Callable[[FakeCluster], Any]:
    """Return a script of actions, each after so many seconds."""

    async def script(cluster: FakeCluster) -> None:
        for seconds, act in acts:
            await asyncio.sleep(seconds)
            act(cluster)

    return script


def cut(cluster: FakeCluster) -> None:
    """Cut the way to the scheduler."""
    cluster.is_cut = True


def mend(cluster: FakeCluster) -> None:
    """Mend it."""
    cluster.is_cut = False


def test_a_dead_worker_costs_what_it_had_not_sent() -> None:
    """Its job goes elsewhere as a new attempt; what the driver holds is not played again."""
    league, cluster = tournament(cycles=40, chunk_blocks=20), FakeCluster()
    cluster.script = later((6.0, lambda it: it.kill("w1")))

    run(league, cluster)

    assert cluster.killed == ["w1"]
    assert 0 < sum(count == 2 for count in cluster.started.values()) <= 20


@pytest.mark.parametrize("seconds", [1.0, 8.0])
def test_lost_answers_cost_nothing(seconds: float) -> None:
    """The worker got the message and its answer was lost: the exchange is repeated, and no job begins twice."""
    league, cluster = tournament(cycles=40, chunk_blocks=20), FakeCluster()
    cluster.script = later((3.0, lambda it: it.deaf.add("w0")), (seconds, lambda it: it.deaf.clear()))

    run(league, cluster)

    assert set(cluster.started.values()) == {1}


def test_a_worker_that_is_cut_off_ends_its_matches_before_others_play_them() -> None:
    """The scheduler still knows it: its lease is over before its block is dealt again; it comes back afterwards."""
    league, cluster = tournament("ann", "bob", cycles=1), FakeCluster()
    cluster.script = later(
        (4.0, lambda it: it.unreachable.update(it.running)), (60.0, lambda it: it.unreachable.clear())
    )

    run(league, cluster, workers=2, w0={"block_s": 70.0}, w1={"block_s": 70.0})

    assert list(cluster.started.values()) == [2]  # and never two at the same time, as `run` asserts


@pytest.mark.parametrize(
    ("seconds", "is_new", "is_costly"), [(6.0, False, False), (60.0, False, True), (4.0, True, True)]
)
def test_the_scheduler_may_be_gone_for_a_while(seconds: float, is_new: bool, is_costly: bool) -> None:
    """A short cut costs nothing, a long one or another scheduler what was in flight; no block is blamed for it."""
    league, cluster = tournament(cycles=20, chunk_blocks=20), FakeCluster()

    def change(it: FakeCluster) -> None:
        it.scheduler += " anew" * is_new

    cluster.script = later(*[(3.0, cut), (seconds, change), (0.0, mend)] * 4)
    run(league, cluster, w0={"block_s": 5.0}, w1={"block_s": 5.0}, w2={"block_s": 5.0})

    assert (max(cluster.started.values()) > 1) == is_costly


def poison(key: tuple[str, int], error: type[Exception]) -> Callable[[Job, Fixture], PlayedBlock]:
    """Return a function that plays blocks and raises `error` for one of them."""

    def play(job: Job, fixture: Fixture) -> PlayedBlock:
        if (fixture.pairing, fixture.block) == key:
            raise error("poison")
        return played_block(fixture, job.pairing.names)

    return play


@pytest.mark.parametrize("error", [Died, HarnessFault])
def test_a_block_that_kills_three_workers_is_named_and_no_longer_dealt(error: type[Exception]) -> None:
    """All others count once, and none of them is blamed: after two deaths each block goes out alone."""
    league = tournament(cycles=20, chunk_blocks=10)
    key = sorted(all_blocks(league))[13]
    cluster = FakeCluster(poison(key, error))
    cluster.returns_after_s = 5.0

    with pytest.raises(BlocksLost, match=rf"1 block could not be played, league test, {key[0]} block {key[1]} "):
        run(league, cluster)

    assert cluster.started[key] == 3
    assert Counter(cluster.committed) == Counter(all_blocks(league) - {key})
    assert cluster.said == []


def test_a_worker_on_which_everything_fails_is_left_out() -> None:
    """It is left out after three jobs in a row, with a sentence; the others play all."""
    league, cluster = tournament(cycles=60, chunk_blocks=5), FakeCluster()

    def fail(_job: Job, _fixture: Fixture) -> PlayedBlock:
        raise HarnessFault("the disk is full")

    run(league, cluster, w1={"play": fail})

    assert cluster.said == ["worker w1 is left out: it failed 3 times in a row, at last: the disk is full"]


def test_a_worker_whose_machine_lacks_room_is_left_out_at_once(golden: Golden) -> None:
    """No job was tried by that, and the others play all; where there is no other one, the sentence ends the league."""
    league, cluster, alone = tournament(cycles=100, chunk_blocks=5), FakeCluster(), FakeCluster()

    def lack(_job: Job, _fixture: Fixture) -> PlayedBlock:
        raise MachineFault("a match may use 1056 MiB of memory, and 9 MiB are free")

    run(league, cluster, w1={"play": lack})
    with golden.raises(MachineFault):
        run(league, alone, workers=1, w0={"play": lack})

    assert cluster.attempts == {1}
    assert cluster.said == ["worker w1 is left out: a match may use 1056 MiB of memory, and 9 MiB are free"]


def test_a_worker_that_dies_again_and_again_is_left_out() -> None:
    """It is so even if another process of the same name replaces it each time."""
    league, cluster = tournament(cycles=100, chunk_blocks=5), FakeCluster()
    cluster.returns_after_s = 3.0

    async def script(it: FakeCluster) -> None:
        while True:
            await asyncio.sleep(0.2)
            if "w1" in it.found and it.found["w1"].queue:
                it.kill("w1")

    cluster.script = script
    run(league, cluster)

    assert len(cluster.killed) == 3
    assert cluster.said == ["worker w1 is left out: it failed 3 times in a row, at last: the scheduler has lost it"]


def test_a_worker_with_other_rules_is_refused(golden: Golden) -> None:
    """With a sentence that says what differs; alone it ends the league, and what is stored is safe."""
    league = tournament(cycles=10)
    other, alone = FakeCluster(), FakeCluster()
    identity = replace(IDENTITY, arena="0.9")

    run(league, other, w2={"identity": identity})
    with golden.raises(MachineFault):
        run(league, alone, workers=1, w0={"identity": identity})

    assert other.said == ["worker w2 is left out: it has arena 0.9 (here 1); install the same on all machines"]


def test_a_worker_that_plays_for_another_driver_is_asked_again() -> None:
    """No worker plays two matches at once."""
    league, cluster = tournament(cycles=200, chunk_blocks=5), FakeCluster()

    run(league, cluster, workers=2, w1={"is_busy_until_s": 30.0})

    assert cluster.found["w1"].sessions == 1
    assert cluster.said == ["worker w1: it plays for somebody; it is asked again when that is over"]


@pytest.mark.parametrize(
    "forge",
    [lambda blocks: blocks * 2, lambda blocks: tuple(replace(each, block=each.block + 1000) for each in blocks)],
    ids=["twice", "others"],
)
def test_blocks_that_were_not_asked_for_count_nothing(
    forge: Callable[[tuple[PlayedBlock, ...]], tuple[PlayedBlock, ...]],
    golden: Golden,
) -> None:
    """Their worker is left out, and the league continues."""
    league, cluster = tournament(cycles=20), FakeCluster()
    exchange = cluster.exchange

    async def forging(address: str, dispatch: bytes) -> bytes:
        report = decode_message(await exchange(address, dispatch), Report)
        if cluster.at(address).name == "w0":
            forged = {key: replace(one, blocks=forge(one.blocks)) for key, one in report.attempts.items()}
            report = replace(report, attempts=forged)
        return encode_message(report)

    cluster.exchange = forging  # type: ignore[method-assign]
    run(league, cluster)

    golden(cluster.said[0])


def test_a_cluster_without_workers_is_given_up_after_a_while(golden: Golden) -> None:
    """A sentence names the reason."""
    with golden.raises(MachineFault):
        run(tournament(cycles=10), FakeCluster(), workers=0)


def test_a_stop_ends_all_sessions() -> None:
    """After Ctrl-C every worker gets a message and plays nothing."""
    league, cluster = tournament(cycles=100), FakeCluster()

    def halt(_: list[PlayedBlock]) -> None:
        raise KeyboardInterrupt

    cluster.released.set()

    with pytest.raises(KeyboardInterrupt):
        play_jobs([jobs(league, {})], cluster.backend(3), commit=halt)

    assert sorted(cluster.parted) == ["w0", "w1", "w2"]


@pytest.mark.parametrize("seed", range(12))
def test_every_block_counts_once_whatever_happens(seed: int) -> None:
    """Workers die and return, networks are cut, answers are lost, schedulers change, at random."""
    chance = random.Random(seed)
    league, cluster = tournament(cycles=80, chunk_blocks=7), FakeCluster()
    cluster.returns_after_s = 4.0

    async def script(it: FakeCluster) -> None:
        for number in range(25):
            await asyncio.sleep(chance.uniform(0.5, 12.0))
            kind = chance.choice(["kill", "cut", "deaf", "scheduler", "unreachable"])
            name = chance.choice(sorted(it.found) or ["w0"])
            if kind == "kill" and name in it.found and number < 6:
                it.kill(name)
            elif kind in ("deaf", "unreachable"):
                own: set[str] = getattr(it, kind)
                own.add(name)
                await asyncio.sleep(chance.choice([1.0, 9.0, 50.0]))
                own.clear()
            elif kind in ("cut", "scheduler"):
                it.is_cut = True
                await asyncio.sleep(chance.choice([1.0, 9.0, 50.0]))
                it.is_cut = False
                it.scheduler = f"scheduler {number}" if kind == "scheduler" else it.scheduler

    cluster.script = script
    run(league, cluster, workers=4)


def test_one_unfit_worker_does_not_shorten_the_patience_with_the_scheduler() -> None:
    """It is gone for a minute, as when it is started anew."""
    league, cluster = tournament(cycles=60), FakeCluster()
    cluster.script = later((5.0, cut), (60.0, mend))

    run(league, cluster, w2={"identity": replace(IDENTITY, arena="0.9")})


def test_a_mistake_of_the_link_ends_the_league(golden: Golden) -> None:
    """It ends with a sentence, because nothing would look for workers any more."""
    cluster = FakeCluster()

    async def workers() -> tuple[str, dict[str, str]]:
        raise ValueError("no such scheme")

    cluster.workers = workers  # type: ignore[method-assign]

    with golden.raises(MachineFault):
        run(tournament(cycles=1), cluster)


def test_no_word_of_a_worker_steers_the_terminal() -> None:
    """Terminal escapes are printed as text."""
    league, cluster = tournament(cycles=10), FakeCluster()

    run(league, cluster, w0={"refusal": "\x1b[2Jgone"})

    assert cluster.said == ["worker w0 is left out: \\x1b[2Jgone"]


def test_a_league_that_is_played_ends_well_whatever_becomes_of_the_cluster() -> None:
    """A worker does not hear that it is over, and the link does not close; nothing else is left open for that."""
    league, cluster, closed = tournament(cycles=10), FakeCluster(), list[str]()

    async def part(_: str, __: str) -> None:
        await asyncio.Event().wait()

    async def close() -> None:
        closed.append("link")
        raise RuntimeError("no event loop")

    cluster.part, cluster.close = part, close  # type: ignore[method-assign,assignment]
    run(league, cluster)

    assert closed == ["link"]


@pytest.mark.parametrize("seconds", [25.0, 60.0, 1000.0])
def test_a_driver_that_stood_still_goes_on(seconds: float) -> None:
    """As one that was stopped, or on a laptop that slept: leases ended meanwhile, and no block is blamed for that."""
    league, cluster = tournament(cycles=40, chunk_blocks=20), FakeCluster()

    def stand_still(it: FakeCluster) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        loop.now_s += seconds
        it.end_expired()

    cluster.script = later(*[(3.0, stand_still)] * 5)
    run(league, cluster)

    assert cluster.said == []
    assert cluster.attempts == {1}


def test_a_bot_that_cannot_be_sent_ends_the_league(golden: Golden) -> None:
    """Its files were changed, for example: one sentence says so, and no worker is blamed."""
    league, cluster = tournament(cycles=20), FakeCluster()

    def changed(digest: str) -> bytes:
        raise SpecError(f"{digest} is not what was submitted")

    cluster.archive_of = changed
    lacking = {"missing": tuple(each.bot.digest for each in league.players)}
    with golden.raises(MachineFault):
        run(league, cluster, w0=lacking, w1=lacking, w2=lacking)

    assert cluster.said == []


def test_a_worker_that_hangs_is_left_out() -> None:
    """The scheduler still knows it, and it never answers: others play; without any the league ends."""
    league, some, alone = tournament(cycles=40), FakeCluster(), FakeCluster()
    some.hanging.add("w0")
    alone.hanging.add("w0")
    told = "worker w0 is left out: it failed 3 times in a row, at last: it does not answer"

    run(league, some, w1={"block_s": 5.0}, w2={"block_s": 5.0})
    with pytest.raises(MachineFault, match=told):
        run(league, alone, workers=1)

    assert some.said == alone.said == [told]


def test_bots_are_sent_one_after_the_other() -> None:
    """One message with all bots of a match of six would have a gigabyte."""
    league, cluster = tournament(cycles=20), FakeCluster()
    digests = tuple(each.bot.digest for each in league.players)

    run(league, cluster, workers=1, w0={"missing": digests})

    assert sorted(cluster.sent) == sorted([(digest,) for digest in digests])
