"""The state of a league: replayed once, it goes on with what is committed, and is the same as computed anew."""

from collections.abc import Mapping
from hashlib import sha256
from random import Random
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from support.league_ledger import NAMES, Ledger, by_luck, every_schedule, league_of
from support.made_matches import bot, tournament

from arena.league.schedule import KEY_LENGTH, jobs, pairings
from arena.league.state import ScheduleRunner, state_of
from arena.league.tournament import Player, Tournament, luck_origin
from arena.match.results import PairingRanks
from arena.match.settings import ClockSettings


@every_schedule
@settings(max_examples=3)
@given(seed=st.integers(0, 10**6))
def test_a_replay_that_goes_on_is_where_a_new_one_begins(kind: str, seed: int) -> None:
    """That holds after each commit, with blocks in any order and some stored before by another league."""
    rng = Random(seed)
    league = league_of(kind, seed=str(seed), chunk_blocks=1)
    ledger = Ledger()
    for job in jobs(tournament(*NAMES, seed=str(seed), cycles=2), {}):
        if rng.random() < 0.3:
            ledger.commit(by_luck(job))
    runner = ScheduleRunner(league, ledger.ranks)

    while not runner.state.is_complete:
        state = runner.state
        left = list(jobs(league, state.finished, round_=state.rounds[-1]))
        for job in rng.sample(left, len(left)):
            ledger.commit(by_luck(job))
            runner.add(by_luck(job))
            assert runner.state == state_of(league, ledger.ranks)

    assert runner.state.stored == runner.state.scheduled


@every_schedule
def test_a_replay_asks_for_each_round_once(kind: str) -> None:
    """However many blocks are committed, it asks only about the pairings of the round that begins."""
    league, ledger = league_of(kind, chunk_blocks=1), Ledger()
    asked: list[dict[str, int]] = []

    def stored(blocks: Mapping[str, int]) -> dict[str, PairingRanks]:
        asked.append(dict(blocks))
        return ledger.ranks(blocks)

    runner = ScheduleRunner(league, stored)
    while not runner.state.is_complete:
        state = runner.state
        for job in jobs(league, state.finished, round_=state.rounds[-1]):
            ledger.commit(by_luck(job))
            runner.add(by_luck(job))

    assert asked == [
        {pairing.key: first + planned.blocks for pairing, first in zip(planned.pairings, planned.first, strict=True)}
        for planned in runner.state.rounds
    ]


def test_a_block_without_one_of_its_matches_completes_no_round() -> None:
    """The store is damaged: the round stays open, and the state says how much is there."""
    league = league_of("swiss")
    ledger = Ledger()
    ledger.play(league, by_luck)
    whole = ledger.state(league)
    (key, block), played = next(iter(ledger.blocks.items()))

    def damaged(blocks: Mapping[str, int]) -> dict[str, PairingRanks]:
        found = ledger.ranks(blocks)
        if key in found:
            one = found[key]
            found[key] = PairingRanks(one.players, one.blocks, f"{one.ranks[:2]}--{one.ranks[4:]}")
        return found

    state = state_of(league, damaged)

    assert (played.block, block) == (0, 0)
    assert len(state.rounds) == 1 < len(whole.rounds)
    assert not state.is_complete
    assert state.stored == state.rounds[0].matches - 1


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@settings(max_examples=60)
@given(
    names=st.lists(st.text('abc{}[]"\\,:é𝄞 ', min_size=1, max_size=6), min_size=3, max_size=5, unique=True),
    arguments=st.lists(TEXT, max_size=3),
    options=st.dictionaries(st.sampled_from(["players", "misere", "é", "]}"]), st.booleans()),
    seats=st.sampled_from([2, 3]),
)
def test_a_key_is_the_hash_of_the_whole_identity(
    names: list[str], arguments: list[str], options: dict[str, Any], seats: int
) -> None:
    """The parts that pairings share are encoded once, and the bytes are as if each was encoded as a whole."""
    field = tuple(Player(name=name, bot=bot(name), arguments=tuple(arguments)) for name in names)
    league = tournament(players=field, options=options, seats=seats, rules="1", seed='"]}')

    for pairing in pairings(league):
        text = identity(league, sorted(pairing.players, key=lambda one: one.name))
        assert pairing.key == sha256(text).hexdigest()[:KEY_LENGTH]


def identity(league: Tournament, players: list[Player]) -> bytes:
    """Return the whole identity as one text, keys in their order."""
    whole: dict[str, Any] = {
        "format": league.format,
        "game": league.game,
        "rules": league.rules,
        "options": league.options,
        "players": [[one.name, one.bot.digest, list(one.arguments)] for one in players],
    }
    whole |= {"clock": league.clock, "limits": league.limits, "commitment": luck_origin(league).commitments[0]}
    return msgspec.json.encode(whole, order="deterministic")


def test_known_keys() -> None:
    """These pairings lie in stored leagues: a key that changes loses their matches."""
    league = tournament("ann", "bob", "cid", seed="1", clock=ClockSettings(move_ms=50.0), rules="1")
    three = tournament("ann", "bob", "cid", "dot", seats=3, commitments=("c" * 64,), seed=None, rules="2")

    found = [[(pairing.key, *pairing.names) for pairing in pairings(each)] for each in (league, three)]

    assert found == KNOWN


KNOWN = [
    [("81af5861351b", "bob", "cid"), ("d5f4b5ad219e", "ann", "cid"), ("f3848704f32e", "ann", "bob")],
    [
        ("49e92d5d0fce", "ann", "cid", "bob"),
        ("0d8326e3cc2b", "ann", "dot", "bob"),
        ("f410a96420b0", "ann", "dot", "cid"),
        ("cd178c15a3d3", "bob", "cid", "dot"),
    ],
]
