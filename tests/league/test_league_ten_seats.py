"""Tables of ten, the largest: balanced seats, and exact scores that are fractions."""

from collections import Counter
from collections.abc import Iterator
from itertools import permutations

import pytest
from support.league_ledger import Ledger
from support.lottery import Lottery, lottery_on_offer
from support.made_matches import tournament
from support.scripted_bot import ScriptedBot, answer, played_block, seated

from arena.games import load_game
from arena.league.schedule import Job, match_count
from arena.match.columns import PlayedBlock
from arena.match.record import unpack
from arena.match.replay import problems

NAMES = tuple(f"p{number}" for number in range(10))


@pytest.fixture(autouse=True)
def _lottery() -> Iterator[None]:
    with lottery_on_offer():
        yield


def played(job: Job) -> list[PlayedBlock]:
    """The job, played by scripted bots: player pN buys N mod 3 + 1 tickets."""
    game, names = load_game(job.settings.game), [each.name for each in job.pairing.players]
    seats = [
        seated(buying(int(name[1:]) % 3), job.settings.clock, game=game, options={}, seats=len(names), player=name)
        for name in names
    ]
    return [played_block(job, fixture, seats) for fixture in job.fixtures]


def buying(index: int) -> ScriptedBot:
    return ScriptedBot(plain=lambda message: answer(message, index))


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    """Two blocks of ten matches."""
    found = Ledger()
    with lottery_on_offer():
        found.play(tournament(*NAMES, game=Lottery.name, seats=10, cycles=2), played)
    return found


def test_a_block_of_ten_seats_everybody_everywhere(ledger: Ledger) -> None:
    """Once in each seat, with exact scores; the luck of a block is one, by weights."""
    league = tournament(*NAMES, game=Lottery.name, seats=10, cycles=2)
    results = ledger.results(league)

    assert len(results) == match_count(league) == 20
    sat = Counter((player, seat) for one in results for seat, player in enumerate(one.players))
    assert (len(sat), set(sat.values())) == (100, {2})
    met = Counter((one, other) for result in results for one, other in permutations(result.players, 2))
    assert set(met.values()) == {20}
    assert any(score.denominator > 1 for one in results for score in one.scores or ())
    assert all(max(one.ranks) <= 9 for one in results)
    stored = [unpack(each.record) for block in ledger.blocks.values() for each in block.matches]
    assert [problems(record) for record in stored] == [[]] * 20
