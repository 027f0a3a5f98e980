"""The contract of a game, held against every game on offer, for every number of seats."""

import json
from functools import cache
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
from games_play import Step, scripted_simulator, steps
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import BotFault, SpecError
from arena.games import GAMES, load_game
from arena.games.api import (
    Chance,
    Decision,
    Game,
    Json,
    Over,
    Seat,
    Simulation,
    fault_policy_of,
    game_info_of,
    is_simultaneous,
    observer_of,
    ranks_by_score,
)

AnyGame = Game[Any, Any]
TABLES = [(name, seats) for name in sorted(GAMES) for seats in load_game(name).seat_counts]
NAN, INF = float("nan"), float("inf")
LONG = "x" * 100_000
BAD_DICE: list[Json] = [None, [True], [None, {}], [10**5000], [-(10**30)], [1] * 100_000]
BAD_SEATS: list[Json] = [[], [[0]], [0, 0, 1], [0] * 100_000]
LOAD: dict[str, Json] = {"kind": "crate", "face": "flat", "u_mm": 0, "v_mm": 30}
HOSTILE: list[Json] = [
    *(None, True, 0, -1, 1.5, NAN, INF, 10**30, 10**5000, "", "roll", LONG, [], [[]], [{}], {}, {"": None}, {LONG: 1}),
    {"do": []},
    *({"do": do} for do in (None, LONG, "place")),
    *({"do": "place", "dice": dice} for dice in BAD_DICE),
    {"do": "adjust", "die": 10**5000, "to": -(10**5000)},
    *({"do": "joker", "card": card, "nation": nation} for card, nation in ((LONG, LONG), ("\ud800", "\0"))),
    {"heap": 0},
    *({"heap": heap, "count": count} for heap, count in ((True, True), (10**5000, 10**5000), (-1, 1), (0, -1), (0, 0))),
    {"heap": 0, "count": 1, "extra": 1},
    *({"card": card} for card in (0, 11, True, "7", 10**5000)),
    {"card": 7, "cards": 7},
    *({"seat": seat} for seat in (-1, 2**63 - 1)),
    *({"seats": seats} for seats in BAD_SEATS),
    *({"pieces": pieces} for pieces in (0, 3, 2.5)),
    *({"pass": word} for word in (False, 1)),
    {"pass": True, "kind": "crate"},
    {"kind": "crate"},
    *(LOAD | {"u_mm": u, "v_mm": v} for u, v in ((NAN, 0), (0, -INF), (1e308, 1e-308), (10**5000, 0), ("0", None))),
    *(LOAD | {"kind": kind, "face": face} for kind, face in ((LONG, LONG), ("\ud800", "\0"))),
    *(LOAD | {"hands_mm": hands} for hands in ([[0, 0]] * 2_000, [[NAN, 0]], [[0, 0, 0]])),
    *(LOAD | more for more in ({"yaw_deg": 1e9}, {"drop_mm": -1})),
]
KEYS = (
    *("do", "dice", "one", "heap", "count", "card", "die", "to"),
    *("seat", "seats", "pieces", "pass", "kind", "face", "u_mm", "v_mm", "yaw_deg", "drop_mm", "hands_mm"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["crate", "flat"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)


@pytest.fixture(params=TABLES, ids=lambda table: f"{table[0]}-{table[1]}")
def table(request: pytest.FixtureRequest) -> tuple[str, int]:
    """Each game with each number of seats, in turn."""
    name, seats = request.param
    return name, seats


@pytest.fixture
def game(table: tuple[str, int]) -> AnyGame:
    """The game of the table."""
    return load_game(table[0])


@pytest.fixture
def seats(table: tuple[str, int]) -> int:
    """The number of seats at the table."""
    return table[1]


@pytest.fixture
def play(table: tuple[str, int]) -> list[Step]:
    """Three random plays of the game, one after the other."""
    return [step for number in range(3) for step in played(*table, number)]


@cache
def played(name: str, seats: int, number: int) -> tuple[Step, ...]:
    """One random play; its states are values, so that every test may look at the same."""
    return tuple(steps(load_game(name), f"contract {number}", Random(number), seats=seats))


def decisions(play: list[Step]) -> list[tuple[Step, Seat, Any]]:
    """Step, seat and action, for every action of a play."""
    return [(step, seat, action) for step in play for seat, action in step.actions.items()]


def drawn_from(play: list[Step]) -> list[Step]:
    """All of a play, or, where there is a ship to be drawn, which takes its time, every eleventh step and the end."""
    has_simulator = any(isinstance(step.turn, Simulation) for step in play)
    return [*play[::11], play[-1]] if has_simulator else play


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


def test_bots_get_the_view_as_it_is_observed(game: AnyGame, seats: int, play: list[Step]) -> None:
    """A game that has a faster way to write it writes the same bytes."""
    sent = observer_of(game)

    for step in drawn_from(play):
        for seat in map(Seat, range(seats)):
            assert msgspec.json.encode(sent(step.state, seat)) == msgspec.json.encode(game.observe(step.state, seat))


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


def test_an_unknown_option_is_refused_with_the_known_ones(game: AnyGame, seats: int) -> None:
    """Named, not ignored."""
    with pytest.raises(SpecError, match=rf'options of {game.name}: unknown key "no_such"; known: \w+'):
        game.setup({"no_such": 1}, seats)


@pytest.mark.parametrize("found", [-1, 0, 1, 3, 5, 1000])
def test_a_wrong_number_of_seats_is_refused(game: AnyGame, found: int) -> None:
    """With the number found and the number wanted."""
    least, most = min(game.seat_counts), max(game.seat_counts)
    wanted = str(least) if least == most else f"{least} to {most}"
    if found in game.seat_counts:
        assert game.setup({}, found)
        return

    with pytest.raises(SpecError, match=rf"^{game.name} is for {wanted} players, not {found}$"):
        game.setup({}, found)


def test_only_listed_seats_decide_and_luck_has_a_key(game: AnyGame, play: list[Step], seats: int) -> None:
    """Every turn is a decision of somebody, luck or a simulation with a name that does not come again, or the end.

    A game in which several seats decide at once says so.
    """
    keys: set[str] = set()
    for step in play:
        match step.turn:
            case Decision(movers):
                assert movers
                assert is_simultaneous(game) or len(movers) == 1
                assert len(set(movers)) == len(movers)
                assert set(movers) <= set(range(seats))
            case Chance(key) | Simulation(key):
                assert key
                assert key not in keys
                keys.add(key)
            case Over():
                assert step.after is step.state
                keys.clear()


def test_legal_actions_are_different_and_sample_is_one_of_them(game: AnyGame, play: list[Step]) -> None:
    """In a fixed order: asked twice, the answer is the same."""
    for step, seat, action in decisions(play):
        legal = game.legal(step.state, seat)
        if legal is None:
            continue

        assert action in legal
        assert len({str(msgspec.to_builtins(one)) for one in legal}) == len(legal)
        assert game.legal(step.state, seat) == legal


def test_seats_that_do_not_decide_have_no_legal_action(game: AnyGame, play: list[Step], seats: int) -> None:
    """Nor can they make one up."""
    for step, _, action in decisions(play):
        for other in map(Seat, set(range(seats)) - set(step.actions)):
            assert game.legal(step.state, other) == ()
            with pytest.raises(BotFault, match=f"seat {other} is not to move"):
                game.parse(step.state, other, msgspec.to_builtins(action))


def test_every_legal_action_survives_its_json_form(game: AnyGame, play: list[Step]) -> None:
    """Written as JSON and parsed it is the same action, and it can be carried out."""
    for step, seat, sampled in decisions(play):
        for action in game.legal(step.state, seat) or (sampled,):
            parsed = game.parse(step.state, seat, json.loads(msgspec.json.encode(action)))

            assert parsed == action
            assert game.turn(game.apply(step.state, {**step.actions, seat: parsed}))


def test_every_action_has_a_line_of_text(game: AnyGame, play: list[Step]) -> None:
    """`seat 0 takes 2 from heap 1`: one line, and another one for another action."""
    for step, seat, sampled in decisions(play):
        legal = game.legal(step.state, seat) or (sampled,)
        texts = [str(action) for action in legal]

        assert len(set(texts)) == len(texts)
        assert all(text.isprintable() and "(" not in text[:3] for text in texts)


def test_a_state_is_untouched_by_what_follows_it(game: AnyGame, play: list[Step]) -> None:
    """Applying, resolving, simulating and observing leave it as it is."""
    simulator = scripted_simulator(game)
    for step in play:
        before = repr(step.state), msgspec.json.encode(game.observe(step.state, Seat(0)))

        if step.actions:
            game.apply(step.state, step.actions)
        elif step.drawn:
            game.resolve(step.state, step.drawn)
        elif simulator is not None and isinstance(step.turn, Simulation):
            simulator.apply_result(step.state, simulator.simulate(step.state))
        changed(game.observe(step.state, Seat(0)))

        assert (repr(step.state), msgspec.json.encode(game.observe(step.state, Seat(0)))) == before


def test_an_observation_is_plain_and_the_readers_own(game: AnyGame, play: list[Step], seats: int) -> None:
    """It names its seat, is the same twice, goes through JSON, and spoiling one copy does not spoil the next."""
    for step in play:
        for seat in map(Seat, range(seats)):
            first, second = game.observe(step.state, seat), game.observe(step.state, seat)
            text = msgspec.json.encode(first)

            assert first == second
            assert first["you"] == seat
            assert json.loads(text) == json.loads(json.dumps(first))
            changed(first)
            assert msgspec.json.encode(game.observe(step.state, seat)) == text


def test_a_state_can_be_described_and_pictured(game: AnyGame, play: list[Step]) -> None:
    """As lines without loose ends, and as an SVG document with a size; the state is as before."""
    for step in drawn_from(play):
        before = repr(step.state)

        text = game.describe(step.state)
        drawing = ET.fromstring(game.picture(step.state))

        assert text == text.strip()
        assert all(line == line.rstrip() and len(line) < 200 for line in text.splitlines())
        assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
        assert drawing.get("viewBox") == f"0 0 {drawing.get('width')} {drawing.get('height')}"
        assert repr(step.state) == before


def test_ranks_follow_from_scores(game: AnyGame, play: list[Step], seats: int) -> None:
    """The better score has the better rank, equal scores share one, the best is 0."""
    ends = [step.state for step in play if isinstance(step.turn, Over)]

    assert len(ends) == 3
    for end in ends:
        outcome = game.outcome(end)
        assert len(outcome.scores) == len(outcome.ranks) == seats
        assert outcome.ranks == ranks_by_score(outcome.scores)


@pytest.mark.parametrize(
    ("scores", "ranks"), [((7, 8), (1, 0)), ((8, 7), (0, 1)), ((5, 5), (0, 0)), ((7, 9, 7), (1, 0, 1)), ((), ())]
)
def test_ranks_by_score(scores: tuple[int, ...], ranks: tuple[int, ...]) -> None:
    """Equal scores share the better rank."""
    assert ranks_by_score(scores) == ranks


def test_what_stands_in_for_a_refused_answer_is_legal(game: AnyGame, play: list[Step]) -> None:
    """In every state; a game without a fault policy forfeits instead."""
    fault_policy = fault_policy_of(game)
    for step, seat, _ in decisions(play):
        if fault_policy is None:
            continue
        action = fault_policy.fallback_action(step.state, seat)

        assert game.parse(step.state, seat, msgspec.to_builtins(action)) == action
        assert game.turn(game.apply(step.state, {**step.actions, seat: action}))


def test_a_simulation_is_plain_and_can_be_applied_again(game: AnyGame, play: list[Step]) -> None:
    """The same state gives the same result; read back from JSON it leads to the same state, and is told in a line."""
    simulator = scripted_simulator(game)
    for step in play:
        if simulator is None or not isinstance(step.turn, Simulation):
            continue
        text = msgspec.json.encode(step.result)
        again = json.loads(text)

        assert msgspec.json.encode(simulator.simulate(step.state)) == text
        assert simulator.apply_result(step.state, again) == step.after
        assert simulator.tell(step.state, again, step.after).isprintable()
        assert simulator.distance(step.state, again, step.result) == ""
        assert simulator.budget(step.state) == 0


@pytest.mark.parametrize("result", [None, 0, "rest", [], {}, {"id": "k01"}], ids=str)
def test_a_result_that_no_simulation_gave_is_a_value_error(game: AnyGame, play: list[Step], result: Json) -> None:
    """So that a record which was changed is told apart from a fault of the program."""
    simulator = scripted_simulator(game)
    waiting = [step.state for step in play if isinstance(step.turn, Simulation)]
    if simulator is None:
        assert not waiting
        return

    for state in waiting:
        with pytest.raises(ValueError, match="result"):
            simulator.apply_result(state, result)


def test_material_is_plain(game: AnyGame, seats: int) -> None:
    """The same twice, and goes through JSON; most games have none."""
    found = game_info_of(game, {}, seats)

    assert json.loads(msgspec.json.encode(found)) == json.loads(json.dumps(found))
    assert game_info_of(game, {}, seats) == found


@pytest.mark.parametrize("raw", HOSTILE, ids=lambda raw: type(raw).__name__)
def test_a_hostile_action_is_the_bots_fault(table: tuple[str, int], raw: Json) -> None:
    """In every state; the message stays short enough to be read, and can be written to a file."""
    game = load_game(table[0])
    for step, seat, _ in decisions(list(played(*table, 1))):
        with pytest.raises(BotFault) as caught:
            game.parse(step.state, seat, raw)

        assert 0 < len(caught.value.message) < 600


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table[0]}-{table[1]}")
@settings(max_examples=200)
@given(raw=JSON, number=st.integers(0, 1000))
def test_any_json_is_an_action_or_the_bots_fault(table: tuple[str, int], raw: Json, number: int) -> None:
    """Nothing else comes out of `parse`."""
    game = load_game(table[0])
    asked = decisions(list(played(*table, 2)))
    step, seat, _ = asked[number % len(asked)]

    try:
        action = game.parse(step.state, seat, raw)
    except BotFault:
        return
    assert action in (game.legal(step.state, seat) or (action,))
