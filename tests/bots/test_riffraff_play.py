"""shipmate plays whole matches of Riff Raff in each of its three ways, and its tidiness is worth something."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from support.bots_driver import Bot, Prepare, hello
from support.bots_riffraff import SEAT, SHIPMATE, match, plain, position, scores, view_of
from support.golden import Golden

from arena.cli import cli
from arena.games.riffraff import GAME
from arena.games.riffraff.actions import Load
from arena.games.riffraff.scene import KINDS
from arena.match.participant import LookAhead
from arena.match.record import ActionStep, MatchRecord
from arena.operations.new_bot import GAME_TEMPLATES
from arena.protocol import messages as m
from arena.site.replay import match_data

pytestmark = pytest.mark.process
WAYS = ("lookahead", "tidy", "random")
LANGUAGES_OF_RIFFRAFF = [each.removesuffix("-riffraff") for each in GAME_TEMPLATES]


@pytest.fixture(scope="module")
def record() -> MatchRecord:
    """Return the record of a match of one bot of each kind, on a calm sea."""
    return match(WAYS, seed="calm sea", weather="calm", simulations=6)


@pytest.mark.slow
def test_every_way_plays_a_match_to_its_end(record: MatchRecord) -> None:
    """No fault ends it, and those who look before they load are refused nothing that they could have known."""
    faults = {seat.player: dict(seat.faults) if isinstance(seat.faults, dict) else {} for seat in record.seats}
    assert str(record.termination) == "normal"
    assert record.scores is not None
    assert sum(faults["lookahead"].values()) <= 1
    assert sum(faults["tidy"].values()) <= 2
    assert all(set(each) <= {"illegal_action"} for each in faults.values())


@pytest.mark.slow
def test_all_but_the_simulations_takes_little_time(record: MatchRecord) -> None:
    """The clock of a league, 100 ms for each answer, is hardly begun; here with room for a busy machine."""
    assert max(seat.slowest_ms for seat in record.seats) < 100


@pytest.mark.slow
def test_equal_seeds_give_equal_matches(record: MatchRecord) -> None:
    """Weather and bots' seeds decide a match, not the processes."""
    again = match(WAYS, seed="calm sea", weather="calm", simulations=6)

    assert _actions(again) == _actions(record)
    assert again.scores == record.scores


def _actions(record: MatchRecord) -> list[Any]:
    return [plain(step) for step in record.steps if isinstance(step, ActionStep)]


def _asked(bot: Bot, state: Any, simulations: int = 0) -> Any:
    """The bot's action in a position; what it asks the simulator meanwhile is answered."""
    state = replace(state, options=replace(state.options, simulations=simulations))
    look_ahead = LookAhead(GAME.simulator, state, SEAT)
    request = m.Request(
        id=1,
        match="m1",
        view=view_of(state),
        events=(),
        legal=GAME.legal(state, SEAT),
        clock=m.TimeLeft(move_ms=100, bank_ms=1000),
        simulations=simulations,
    )
    said = bot.ask(request)
    while isinstance(said, m.Simulate):
        assert look_ahead.left, "one question too many"
        said = bot.ask(look_ahead.answer(said))
    return said.action


def _aboard(folder: Path, arguments: tuple[str, ...]) -> Bot:
    """Return a bot that is ready for a match of four."""
    bot = Bot(folder, arguments)
    bot.ask(msgspec.structs.replace(hello("riffraff"), material=GAME.game_info({}, 4)))
    bot.start_match(game="riffraff")
    return bot


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("area", [2, 7, 10])
def test_a_load_is_legal(way: str, area: int) -> None:
    """On deck and yards of a ship with cargo, without any simulation: what numbers can tell is respected."""
    state = position(8, area)
    with _aboard(SHIPMATE, (way,)) as bot:
        action = GAME.parse(state, SEAT, _asked(bot, state))

    assert type(action).__name__ == "Load"


def test_the_lookahead_stays_within_its_budget() -> None:
    """The bot asks no more than the request allows, and its load has room and support."""
    state = position(8, 8)
    with _aboard(SHIPMATE, ()) as bot:
        action = GAME.parse(state, SEAT, _asked(bot, state, simulations=3))

    GAME.simulator.require(state, SEAT, action)


@pytest.mark.parametrize("way", WAYS)
def test_nobody_passes_who_can_load(way: str) -> None:
    """On a ship so full that no tidy place is left, each still gives a load, as the referee's would be worse."""
    state = position(14, 9)
    with _aboard(SHIPMATE, (way,)) as bot:
        action = GAME.parse(state, SEAT, _asked(bot, state, simulations=20))

    assert isinstance(action, Load)


def test_a_weaker_lookahead_asks_less() -> None:
    """One place in one weather is one question; the load is played even if something would fall."""
    state = position(8, 8)
    with _aboard(SHIPMATE, ("lookahead", "candidates=1", "weathers=1")) as bot:
        action = GAME.parse(state, SEAT, _asked(bot, state, simulations=1))

    GAME.simulator.require(state, SEAT, action)


@pytest.mark.parametrize("wrong", ["weathers=0", "weathers", "wind=3", "weathers=-1"])
def test_a_number_that_is_none_is_said_to_be_one(wrong: str) -> None:
    """A wrong number is refused, else a league plays with another strength than its author believes."""
    with Bot(SHIPMATE, ("lookahead", wrong)) as bot:
        code = bot.exit_code()

        assert code == 1
        assert f"{wrong!r} is no number of lookahead; known: candidates, weathers" in bot.stderr()


def test_an_unknown_way_is_said_to_be_one(golden: Golden) -> None:
    """The bot ends before the first line, with the ways it knows."""
    with Bot(SHIPMATE, ("wild",)) as bot:
        code = bot.exit_code()

        assert code == 1
        golden(bot.stderr())


@pytest.mark.parametrize("language", LANGUAGES_OF_RIFFRAFF)
def test_a_new_bot_for_riffraff_plays_at_once(prepare: Prepare, language: str) -> None:
    """Made from the template of this game, it loads what the rules allow, and does not pass where it may not ask."""
    state = position(8, 7)
    with _aboard(prepare(f"templates/{language}-riffraff"), ()) as bot:
        loaded = _asked(bot, state, simulations=60)
        untried = _asked(bot, state)

    GAME.simulator.require(state, SEAT, GAME.parse(state, SEAT, loaded))
    assert untried["kind"] in KINDS


@pytest.mark.parametrize("language", LANGUAGES_OF_RIFFRAFF)
def test_a_new_bot_whose_question_is_overtaken_goes_on(prepare: Prepare, language: str) -> None:
    """The bot answers the request that came instead; after a match that ends meanwhile it plays the next."""
    state = position(8, 7)
    clock = m.TimeLeft(move_ms=100, bank_ms=1000)
    load = m.Request(4, "m1", view_of(state), (), None, clock, simulations=5)
    card = m.Request(5, "m1", {"phase": "card"}, (), ({"card": 3}, {"card": 3}), clock)
    with _aboard(prepare(f"templates/{language}-riffraff"), ()) as bot:
        asked, instead = bot.ask(load), bot.ask(card)
        asked_again = bot.ask(msgspec.structs.replace(load, id=6))
        bot.start_match("m2", "riffraff")
        bot.ask(msgspec.structs.replace(load, id=7))
        bot.end_input()

        assert (bot.exit_code(), bot.stderr()) == (0, "")
    assert (asked.id, asked_again.id) == (4, 6)
    assert instead.action in ({"card": 3}, 0, 1)


def test_a_new_bot_for_riffraff_is_in_a_language_with_a_template(tmp_path: Path, golden: Golden) -> None:
    """A template that picks from a list of actions would be no use here."""
    folder = tmp_path / "mine"

    made = CliRunner().invoke(cli, ["new-bot", "x", "--game", "riffraff", "--lang", "perl", "--to", str(folder)])

    assert made.exception is not None
    golden(made.exception)
    assert not folder.exists()


@pytest.mark.slow
def test_tidy_is_better_than_random() -> None:
    """In 20 matches for two it keeps fewer pieces on average; 11 fewer were measured, and the band is wide."""
    played = [scores(match(("tidy", "random"), seed=f"tidy {number}", simulations=0)) for number in range(20)]

    tidy, at_random = (sum(each[way] for each in played) / len(played) for way in ("tidy", "random"))

    assert tidy > at_random + 4


@pytest.mark.slow
def test_the_movements_of_a_match_are_small_enough_for_a_page() -> None:
    """All simulations of a match of four, made anew and packed as the page has them: 0.6 MB at most."""
    record = match((*WAYS, "passes"), seed="frames", simulations=6)

    data = match_data(record)

    assert any("motion" in step for step in data["steps"])
    assert 1000 < len(data["motions"]) <= 600_000


@pytest.mark.slow
def test_to_give_no_load_is_worse_than_any() -> None:
    """The referee's loads are no gift: in 8 matches for two 15 pieces more were kept than at random."""
    played = [scores(match(("passes", "random"), seed=f"passes {number}", simulations=0)) for number in range(8)]

    passes, at_random = (sum(each[way] for each in played) / len(played) for way in ("passes", "random"))

    assert passes < at_random - 5


@pytest.mark.slow
def test_skill_shows_at_a_table_of_four() -> None:
    """In 8 matches, each twice in each seat: who looks ahead among all pieces keeps fewer than by eye.

    The league of docs/riffraff.md tells the weaker look-aheads apart as well, in 160 matches.
    """
    ways = ("lookahead", "lookahead candidates=2", "lookahead candidates=1", "tidy")
    played = [scores(match(ways[seat % 4 :] + ways[: seat % 4], seed=f"skill {seat}")) for seat in range(8)]

    mean = {way: sum(each[way] for each in played) / len(played) for way in ways}

    assert mean["lookahead"] > mean["tidy"] + 1
    assert min(mean[way] for way in ways[:3]) > mean["tidy"]
