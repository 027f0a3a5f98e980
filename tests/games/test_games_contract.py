"""The contract of a game, held against every game on offer."""

import json
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
from games_play import Step, steps
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.errors import BotFault, SpecError
from arena.games import GAMES, load_game
from arena.games.api import Chance, Decision, Game, Json, Over, Seat, ranks_by_score

AnyGame = Game[Any, Any]
HOSTILE: list[Json] = [
    None,
    True,
    0,
    -1,
    1.5,
    float("nan"),
    float("inf"),
    10**30,
    10**5000,
    "",
    "roll",
    "x" * 100_000,
    [],
    [[]],
    [{}],
    {},
    {"": None},
    {"do": None},
    {"do": []},
    {"do": "x" * 100_000},
    {"do": "place"},
    {"do": "place", "dice": None},
    {"do": "place", "dice": [True]},
    {"do": "place", "dice": [None, {}]},
    {"do": "place", "dice": [10**5000]},
    {"do": "place", "dice": [-(10**30)]},
    {"do": "place", "dice": [1] * 100_000},
    {"do": "adjust", "die": 10**5000, "to": -(10**5000)},
    {"do": "joker", "card": "x" * 100_000, "nation": "x" * 100_000},
    {"do": "joker", "card": "\ud800", "nation": "\0"},
    {"heap": 0},
    {"heap": True, "count": True},
    {"heap": 10**5000, "count": 10**5000},
    {"heap": -1, "count": 1},
    {"heap": 0, "count": -1},
    {"heap": 0, "count": 0},
    {"heap": 0, "count": 1, "extra": 1},
    {"x" * 100_000: 1},
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["do", "dice", "one", "heap", "count", "card", "die", "to"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@pytest.fixture(params=sorted(GAMES))
def game(request: pytest.FixtureRequest) -> AnyGame:
    """Each game in turn."""
    return load_game(request.param)


@pytest.fixture
def play(game: AnyGame) -> list[Step]:
    """Three random plays of the game, one after the other."""
    return [step for number in range(3) for step in steps(game, f"contract {number}", Random(number))]


def decisions(play: list[Step]) -> list[tuple[Any, Seat, Any]]:
    """State, seat and action, for every action of a play."""
    return [(step.state, seat, action) for step in play for seat, action in step.actions.items()]


def changed(value: Json) -> None:
    """Spoil everything in `value` that can be."""
    if isinstance(value, dict):
        for inner in value.values():
            changed(inner)
        value.clear()
    elif isinstance(value, list):
        for inner in value:
            changed(inner)
        value.clear()
    else:
        assert not hasattr(value, "__dict__"), f"{value!r} is no plain value"


def test_a_game_knows_its_name_and_version(game: AnyGame) -> None:
    """The name is the one in the table."""
    assert load_game(game.name) is game
    assert game.rules_version
    assert game.seat_counts


def test_an_unknown_game_is_refused_with_the_known_ones() -> None:
    """And with the nearest one."""
    with pytest.raises(SpecError) as caught:
        load_game("shanghain")

    assert str(caught.value) == f'unknown game "shanghain"; known: {", ".join(GAMES)}; did you mean "shanghaien"?'


def test_an_unknown_option_is_refused_with_the_known_ones(game: AnyGame) -> None:
    """Named, not ignored."""
    with pytest.raises(SpecError, match=rf'options of {game.name}: unknown key "no_such"; known: \w+'):
        game.setup({"no_such": 1}, game.seat_counts[0])


@pytest.mark.parametrize("seats", [-1, 0, 1, 3, 1000])
def test_a_wrong_number_of_seats_is_refused(game: AnyGame, seats: int) -> None:
    """With the number found and the number wanted."""
    assert seats not in game.seat_counts

    with pytest.raises(SpecError, match=rf"{game.name} is for {game.seat_counts[0]} players, not {seats}"):
        game.setup({}, seats)


def test_only_listed_seats_decide_and_luck_has_a_key(play: list[Step]) -> None:
    """Every turn is a decision of somebody, luck with a name, or the end."""
    for step in play:
        match step.turn:
            case Decision(seats):
                assert seats
                assert set(seats) <= {0, 1}
            case Chance(key):
                assert key
            case Over():
                assert step.after is step.state


def test_legal_actions_are_different_and_sample_is_one_of_them(game: AnyGame, play: list[Step]) -> None:
    """In a fixed order: asked twice, the answer is the same."""
    for state, seat, action in decisions(play):
        legal = game.legal(state, seat)
        if legal is None:
            continue

        assert action in legal
        assert len({str(msgspec.to_builtins(one)) for one in legal}) == len(legal)
        assert game.legal(state, seat) == legal


def test_seats_that_do_not_decide_have_no_legal_action(game: AnyGame, play: list[Step]) -> None:
    """Nor can they make one up."""
    for state, seat, action in decisions(play):
        other = Seat(1 - seat)

        assert game.legal(state, other) == ()
        with pytest.raises(BotFault, match=f"seat {other} is not to move"):
            game.parse(state, other, msgspec.to_builtins(action))


def test_every_legal_action_survives_its_json_form(game: AnyGame, play: list[Step]) -> None:
    """Written as JSON and parsed it is the same action, and it can be carried out."""
    for state, seat, sampled in decisions(play):
        for action in game.legal(state, seat) or (sampled,):
            parsed = game.parse(state, seat, json.loads(msgspec.json.encode(action)))

            assert parsed == action
            assert game.turn(game.apply(state, {seat: parsed}))


def test_every_action_has_a_line_of_text(game: AnyGame, play: list[Step]) -> None:
    """`seat 0 takes 2 from heap 1`: one line, and another one for another action."""
    for state, seat, sampled in decisions(play):
        legal = game.legal(state, seat) or (sampled,)
        texts = [str(action) for action in legal]

        assert len(set(texts)) == len(texts)
        assert all(text.isprintable() and "(" not in text[:3] for text in texts)


def test_a_state_is_untouched_by_what_follows_it(game: AnyGame, play: list[Step]) -> None:
    """Applying, resolving, observing and drawing leave it as it is."""
    for step in play:
        before = repr(step.state)

        if step.actions:
            game.apply(step.state, step.actions)
        elif step.drawn:
            game.resolve(step.state, step.drawn)
        game.describe(step.state)
        game.picture(step.state)
        changed(game.observe(step.state, Seat(0)))

        assert repr(step.state) == before


def test_an_observation_is_plain_and_the_readers_own(game: AnyGame, play: list[Step]) -> None:
    """It names its seat, is the same twice, goes through JSON, and spoiling one copy does not spoil the next."""
    for step in play:
        for seat in (Seat(0), Seat(1)):
            first, second = game.observe(step.state, seat), game.observe(step.state, seat)
            text = msgspec.json.encode(first)

            assert first == second
            assert first["you"] == seat
            assert json.loads(text) == json.loads(json.dumps(first))
            changed(first)
            assert msgspec.json.encode(game.observe(step.state, seat)) == text


def test_a_state_can_be_described_and_pictured(game: AnyGame, play: list[Step]) -> None:
    """As lines without loose ends, and as an SVG document with a size."""
    for step in play:
        text = game.describe(step.state)
        drawing = ET.fromstring(game.picture(step.state))

        assert text == text.strip()
        assert all(line == line.rstrip() and len(line) < 200 for line in text.splitlines())
        assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
        assert drawing.get("viewBox") == f"0 0 {drawing.get('width')} {drawing.get('height')}"


def test_ranks_follow_from_scores(game: AnyGame, play: list[Step]) -> None:
    """The better score has the better rank, equal scores share one, the best is 0."""
    ends = [step.state for step in play if isinstance(step.turn, Over)]

    assert len(ends) == 3
    for end in ends:
        outcome = game.outcome(end)
        assert len(outcome.scores) == len(outcome.ranks) == 2
        assert outcome.ranks == ranks_by_score(outcome.scores)


@pytest.mark.parametrize(
    ("scores", "ranks"), [((7, 8), (1, 0)), ((8, 7), (0, 1)), ((5, 5), (0, 0)), ((7, 9, 7), (1, 0, 1)), ((), ())]
)
def test_ranks_by_score(scores: tuple[int, ...], ranks: tuple[int, ...]) -> None:
    """Equal scores share the better rank."""
    assert ranks_by_score(scores) == ranks


@pytest.mark.parametrize("raw", HOSTILE, ids=lambda raw: type(raw).__name__)
def test_a_hostile_action_is_the_bots_fault(game: AnyGame, raw: Json) -> None:
    """In every state; the message stays short enough to be read, and can be written to a file."""
    for state, seat, _ in decisions(list(steps(game, "hostile", Random(1)))):
        with pytest.raises(BotFault) as caught:
            game.parse(state, seat, raw)

        assert 0 < len(caught.value.message) < 600


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=JSON, number=st.integers(0, 1000))
def test_any_json_is_an_action_or_the_bots_fault(game: AnyGame, raw: Json, number: int) -> None:
    """Nothing else comes out of `parse`."""
    asked = decisions(list(steps(game, "any json", Random(2))))
    state, seat, _ = asked[number % len(asked)]

    try:
        action = game.parse(state, seat, raw)
    except BotFault:
        return
    assert action in (game.legal(state, seat) or (action,))
