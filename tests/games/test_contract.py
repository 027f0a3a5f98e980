"""The contract of a game, held against every game on offer, for every number of seats."""

from functools import cache
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.games_play import scripted_simulator

from arena.conformance.game import CHECKS, findings
from arena.conformance.play import AnyGame, PlayedTable, played_table
from arena.errors import BotFault, SpecError
from arena.games import bundled_names, load_game
from arena.games.api import Json, Over, ranks_by_score
from arena.games.shanghaien.expansions import EXPANSIONS

TABLES = [(name, seats) for name in sorted(bundled_names()) for seats in load_game(name).seat_counts]
NAN, INF = float("nan"), float("inf")
LONG = "x" * 100_000
BAD_DICE: list[Json] = [None, [True], [None, {}], [10**5000], [-(10**30)], [1] * 100_000]
BAD_SEATS: list[Json] = [[], [[0]], [0, 0, 1], [0] * 100_000]
LOAD: dict[str, Json] = {"kind": "crate", "face": "flat", "u_mm": 0, "v_mm": 30}
HOSTILE: list[Json] = [
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
    """Return the game of the table."""
    return load_game(table[0])


@pytest.fixture
def seats(table: tuple[str, int]) -> int:
    """Return the number of seats at the table."""
    return table[1]


def test_a_game_knows_its_name_and_version(game: AnyGame) -> None:
    """The name of a game is the one in the table."""
    assert load_game(game.name) is game
    assert game.rules_version
    assert game.seat_counts


def test_an_unknown_game_is_refused_with_the_known_ones() -> None:
    """The refusal lists the known games and suggests the nearest one."""
    with pytest.raises(SpecError) as caught:
        load_game("shanghain")

    assert str(caught.value) == (
        f'unknown game "shanghain"; known: {", ".join(bundled_names())}, openspiel:NAME; did you mean "shanghaien"?'
    )


@pytest.mark.parametrize("found", [-1, 0, 1, 3, 5, 1000])
def test_a_wrong_number_of_seats_is_refused(game: AnyGame, found: int) -> None:
    """The refusal gives the number found and the numbers possible."""
    least, most = min(game.seat_counts), max(game.seat_counts)
    wanted = str(least) if least == most else f"{least} to {most}"
    if found in game.seat_counts:
        assert game.setup({}, found)
        return

    with pytest.raises(SpecError, match=rf"^{game.name} is for {wanted} players, not {found}$"):
        game.setup({}, found)


@pytest.mark.parametrize(
    ("scores", "ranks"), [((7, 8), (1, 0)), ((8, 7), (0, 1)), ((5, 5), (0, 0)), ((7, 9, 7), (1, 0, 1)), ((), ())]
)
def test_ranks_by_score(scores: tuple[int, ...], ranks: tuple[int, ...]) -> None:
    """Equal scores share the better rank."""
    assert ranks_by_score(scores) == ranks


@cache
def played(name: str, seats: int) -> PlayedTable:
    """Some random plays; their states are values, so that every test may look at the same."""
    game = load_game(name)
    simulator = scripted_simulator(game)
    return played_table(game, seats, plays=3 if simulator is None else 1, simulator=simulator)


@pytest.mark.parametrize("title", CHECKS)
def test_a_game_keeps_its_contract(table: tuple[str, int], title: str) -> None:
    """Every game passes the checks of `arena check-game`."""
    assert findings(CHECKS[title], played(*table)) == ()


@cache
def expanded() -> PlayedTable:
    """Return Shanghaien with all its expansions."""
    return played_table(load_game("shanghaien"), 2, options={"expansions": [*EXPANSIONS]}, plays=1)


@pytest.mark.parametrize("title", CHECKS)
def test_expansions_keep_the_contract_of_their_game(title: str) -> None:
    """The game keeps its contract with all expansions at once."""
    assert findings(CHECKS[title], expanded()) == ()


def test_bundled_games_tell_more_than_the_contract_asks_for(game: AnyGame, table: tuple[str, int]) -> None:
    """A view names its seat, ranks follow from scores, a picture shows all of itself, a text has no loose ends."""
    steps = list(played(*table).steps())
    for _, step in [*steps[::37], steps[-1]]:
        text, drawing = game.describe(step.state), ET.fromstring(game.picture(step.state))

        assert all(game.observe(step.state, seat)["you"] == seat for seat in played(*table).all_seats())
        assert text == text.strip()
        assert all(line == line.rstrip() and len(line) < 200 for line in text.splitlines())
        assert drawing.get("viewBox") == f"0 0 {drawing.get('width')} {drawing.get('height')}"
        if isinstance(step.turn, Over):
            outcome = game.outcome(step.state)
            assert outcome.ranks == ranks_by_score(outcome.scores)


def test_a_hostile_action_is_the_bots_fault(game: AnyGame, table: tuple[str, int]) -> None:
    """At any time of the game; the refusal has its words, and is short enough to be read."""
    asked = list(played(*table).decisions())
    for _, step, seat, _ in asked[:: 1 + len(asked) // 10]:
        for raw in HOSTILE:
            with pytest.raises(BotFault) as caught:
                game.parse(step.state, seat, raw)

            assert 0 < len(caught.value.message) < 600


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table[0]}-{table[1]}")
@given(raw=JSON, number=st.integers(0, 1000))
def test_any_json_is_an_action_or_the_bots_fault(table: tuple[str, int], raw: Json, number: int) -> None:
    """`parse` returns an action or raises the bot's fault, whatever JSON it gets."""
    game = load_game(table[0])
    asked = list(played(*table).decisions())
    _, step, seat, _ = asked[number % len(asked)]

    try:
        action = game.parse(step.state, seat, raw)
    except BotFault:
        return
    assert action in (game.legal(step.state, seat) or (action,))
