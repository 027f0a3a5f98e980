"""Tables of three and four: real matches of a test game, every seat equally often, ranks with ties, forfeits."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import permutations

import pytest
from support.league_ledger import Ledger
from support.lottery import Lottery, lottery_on_offer
from support.made_matches import tournament
from support.scripted_bot import STRICT, ScriptedBot, answer, played_block, seated
from support.toy_game import NAME

from arena.errors import SpecError
from arena.games import load_game
from arena.league.schedule import Job, match_count, pairings
from arena.league.schedules.settings import Gauntlet, Knockout, RoundRobin, Schedule, Swiss, with_defaults
from arena.match.columns import PlayedBlock
from arena.match.record import unpack
from arena.match.replay import problems
from arena.standings.ratings import RatingSettings, rate

pytestmark = pytest.mark.usefixtures("toy_game")
NAMES = ("ann", "bob", "cid", "dot", "eve")


def played_by(bot_of: Callable[[str], ScriptedBot], job: Job) -> list[PlayedBlock]:
    """Return the results of the job, played by scripted bots through the referee."""
    game, clock, options = load_game(job.settings.game), job.settings.clock, job.settings.options
    seats = [
        seated(bot_of(each.name), clock, game=game, options=options, seats=len(job.pairing.names), player=each.name)
        for each in job.pairing.players
    ]
    return [played_block(job, fixture, seats) for fixture in job.fixtures]


def leaning(name: str) -> ScriptedBot:
    """Play the toy game: `cheat` leans too far, `greedy` as far as a wave may wet it, all others a little."""
    mm = {"cheat": 999, "greedy": 81}.get(name, -30)
    return ScriptedBot(
        plain=lambda message: answer(message, {"mm": mm} if message["legal"] is None else len(message["legal"]) - 1)
    )


played = partial(played_by, leaning)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_seat_and_every_opponent_equally_often(seats: int) -> None:
    """Five players, one cycle: everybody sits in every seat as often as in any other, and meets all as often."""
    league = tournament(*NAMES, game=NAME, seats=seats, cycles=1)
    ledger = Ledger()

    ledger.play(league, played)

    results = ledger.results(league)
    sat = Counter((player, seat) for one in results for seat, player in enumerate(one.players))
    met = Counter((one, other) for result in results for one, other in permutations(result.players, 2))
    assert len(results) == match_count(league)
    assert {one.termination for one in results} == {"normal"}
    assert (len(sat), len(set(sat.values()))) == (5 * seats, 1)
    assert (len(met), len(set(met.values()))) == (20, 1)


def test_ranks_have_ties_and_all_matches_of_a_block_the_same_luck() -> None:
    """Three lean alike and share a rank; the waves of a block wet `greedy` in each of its matches or in none."""
    league = tournament("ann", "bob", "cid", "greedy", game=NAME, seats=4, cycles=6)
    ledger = Ledger()

    ledger.play(league, played)

    results = ledger.results(league)
    scores: dict[int, set[Fraction]] = {}
    for one in results:
        assert one.scores
        assert len(set(one.ranks)) == 2
        scores.setdefault(one.key.block, set()).add(one.scores[one.players.index("greedy")])
    assert len({one.players.index("greedy") for one in results}) == 4
    assert [len(of_block) for of_block in scores.values()] == [1] * 6
    assert len(set.union(*scores.values())) > 1
    ratings = rate([p.name for p in league.players], ((one.players, one.ranks) for one in results), RatingSettings())
    assert max(ratings, key=lambda name: ratings[name].mu) == "greedy"


def test_a_forfeit_ends_the_match_with_the_others_sharing_the_first_place() -> None:
    """The rules cannot go on without a player: the guilty one is last, between the others nothing was decided."""
    league = tournament("ann", "bob", "cheat", game=NAME, seats=3, cycles=1, clock=STRICT)
    ledger = Ledger()

    ledger.play(league, played)

    for one in ledger.results(league):
        assert one.players[one.at_fault or 0] == "cheat"
        assert one.termination == "illegal_action"
        assert sorted(one.ranks) == [0, 0, 2]
        assert one.scores is None


def test_who_sits_after_whom_is_drawn() -> None:
    """Over many tables of three both ways round occur, whatever the names; the seed draws them."""
    league = tournament(*(f"p{number}" for number in range(9)), game=NAME, seats=3)

    around = [[player.name for player in pair.players] for pair in pairings(league)]

    in_order = sum(names == sorted(names) for names in around)
    assert len(around) == 84
    assert 25 < in_order < 59
    assert [names[0] for names in around] == [min(names) for names in around]


@pytest.mark.parametrize(
    ("schedule", "cycles", "said"),
    [
        (Swiss(rounds=2), None, "schedule: a swiss is for 2 seats, not 3"),
        (Knockout(), None, "schedule: a knockout is for 2 seats, not 3"),
        (RoundRobin(until="decided"), 5, "schedule.until: `decided` is for 2 seats, not 3"),
        (Gauntlet(challengers=("ann", "bob", "cid", "dot")), 5, "expected at least 1, and 2 others for a table"),
    ],
)
def test_what_is_for_two_says_so(schedule: Schedule, cycles: int | None, said: str) -> None:
    """A swiss, a knockout and `until: decided` are errors at tables of three."""
    with pytest.raises(SpecError, match=said):
        with_defaults(schedule, players=NAMES, seats=3, cycles=cycles)


def test_a_block_of_ten_seats_everybody_everywhere() -> None:
    """At the largest table each player has each seat once, with exact scores that are fractions."""
    ledger = Ledger()
    with lottery_on_offer():
        league = tournament(*(f"p{number}" for number in range(10)), game=Lottery.name, seats=10, cycles=2)
        ledger.play(league, partial(played_by, buying))
        results = ledger.results(league)
        stored = [unpack(each.record) for block in ledger.blocks.values() for each in block.results]
        assert [problems(record) for record in stored] == [[]] * 20

    assert len(results) == match_count(league) == 20
    sat = Counter((player, seat) for one in results for seat, player in enumerate(one.players))
    assert (len(sat), set(sat.values())) == (100, {2})
    assert any(score.denominator > 1 for one in results for score in one.scores or ())


def buying(name: str) -> ScriptedBot:
    """Let player pN buy N mod 3 + 1 tickets."""
    return ScriptedBot(plain=lambda message: answer(message, int(name[1:]) % 3))
