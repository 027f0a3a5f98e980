"""Riff Raff: what a seat may know, and what every bot is told once."""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.riffraff_play import AT_SEA, GAME, loaded, others_pass, played, raw_load, start, under_way

from arena.games.api import Seat
from arena.games.riffraff import simulator
from arena.games.riffraff.legality import DROP_MAX_MM, HANDS_MAX, ranges_mm
from arena.games.riffraff.scene import AREAS, CATCH_PLANE_M, FACES, HAND_RADIUS_M, KINDS, MASS_KG, PARTS
from arena.games.riffraff.state import CARDS, State
from arena.games.riffraff.table import DIGITS, SIGMAS, Piece, PieceId, ShipAtRest

GRID = 10**DIGITS
STOP = round(math.radians(36) * GRID)
"""The stops of the gimbal are at 35 degrees, and a little soft."""
TILT = st.integers(-STOP, STOP).map(lambda number: number / GRID)
TIP = st.floats(-0.2, 0.2).map(lambda number: round(number, DIGITS) + 0.0)
HEIGHT = st.integers(round(-0.020 * GRID), round(0.5 * GRID)).map(lambda number: number / GRID)
PLACE = st.integers(round(-0.5 * GRID), round(0.5 * GRID)).map(lambda number: number / GRID)
TURN = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda turn: math.hypot(*turn) > 0.1)


@st.composite
def tables(draw: st.DrawFn) -> ShipAtRest:
    """Draw canonical tables with anything anywhere."""
    kinds = draw(st.lists(st.sampled_from(KINDS), max_size=6))
    return ShipAtRest(
        roll=draw(TILT),
        pitch=draw(TILT),
        yards=draw(st.tuples(TIP, TIP, TIP)),
        cargo=tuple(
            Piece(
                id=PieceId(f"k{number:02d}"),
                kind=kind,
                card=draw(st.sampled_from(CARDS)),
                by=Seat(draw(st.integers(0, 3))),
                pose=(draw(PLACE), draw(PLACE), draw(HEIGHT), *unit(draw(TURN))),
            )
            for number, kind in enumerate(kinds, start=1)
        ),
    )


def unit(turn: Sequence[float]) -> tuple[float, float, float, float]:
    w, x, y, z = (round(component / math.hypot(*turn), DIGITS) + 0.0 for component in turn)
    return (w, x, y, z)


def before_reveal(state: State, hidden: dict[int, int]) -> State:
    """The position in which some seats have a card face down on the table."""
    players = [
        player
        if seat not in hidden
        else replace(player, card=hidden[seat], hand=tuple(card for card in player.hand if card != hidden[seat]))
        for seat, player in enumerate(state.players)
    ]
    return replace(state, players=tuple(players))


def test_the_whole_view_of_a_turn() -> None:
    """Every field, as docs/riffraff.md describes them."""
    state = loaded(played(start(3, weather="still"), 7, 3, 2), kind="crate", u_mm=1.5)

    view = GAME.observe(
        replace(state, table=replace(state.table, roll=-0.02443, pitch=0.00524, yards=(0.0, -0.1288, 0.0))), Seat(2)
    )

    full = dict.fromkeys(KINDS, 1)
    hand = list(CARDS)
    assert view.pop("last")[0]["id"] == "k01"
    assert view == {
        "phase": "load",
        "you": 2,
        "round": 1,
        "rounds": 10,
        "captain": 0,
        "seats": [
            {"supply": full | {"crate": 0}, "cards": [c for c in hand if c != 7], "card": 7, "removed": 0, "pieces": 7},
            {"supply": full, "cards": [c for c in hand if c != 3], "card": 3, "removed": 0, "pieces": 8},
            {"supply": full, "cards": [c for c in hand if c != 2], "card": 2, "removed": 0, "pieces": 8},
        ],
        "order": [0, 1, 2],
        "turn": 1,
        "area": 3,
        "pieces_left_to_load": 1,
        "ship": {"roll_deg": -1.3997, "pitch_deg": 0.3002, "yards_deg": [0.0, -7.3797, 0.0]},
        "cargo": [
            {
                "id": "k01",
                "kind": "crate",
                "on": 7,
                "card": 7,
                "by": 0,
                "pos_mm": [1.5, 46.0, 199.0],
                "quat": [1.0, 0.0, 0.0, 0.0],
            }
        ],
        "noise": {"uv_mm": 0.0, "yaw_deg": 0.0, "kick_rad_s": 0.0},
    }


@given(table=tables())
def test_the_view_loses_nothing_of_the_canonical_state(table: ShipAtRest) -> None:
    """The table can be computed back from mm and degrees, digit for digit, as every look-ahead does."""
    state = replace(played(start(), 7, 3, 2, 1), table=table, placements=len(table.cargo))
    view = json.loads(msgspec.json.encode(GAME.observe(state, Seat(0))))
    what = {"load": raw_load(state), "ship": view["ship"], "cargo": view["cargo"]}

    question = simulator.parse_question(state, Seat(0), what)

    assert question.table == table


@given(
    hidden=st.lists(st.dictionaries(st.integers(0, 3), st.sampled_from((4, 5, 6, 8, 9, 10))), min_size=2, max_size=2)
)
def test_cards_of_others_that_lie_face_down_change_nothing(hidden: list[dict[int, int]]) -> None:
    """Neither what they are nor whether they lie there: two positions that differ only in them give one view."""
    me = Seat(1)
    first, second = (
        before_reveal(others_pass(loaded(played(start(), 7, 3, 2, 1))), {s: c for s, c in cards.items() if s != me})
        for cards in hidden
    )

    assert GAME.observe(first, me) == GAME.observe(second, me)
    assert GAME.legal(first, me) == GAME.legal(second, me)
    assert [side["card"] for side in GAME.observe(first, me)["seats"]] == [None] * 4


def test_one_sees_the_card_that_one_has_played() -> None:
    """Nobody else sees the card before all are turned up."""
    state = before_reveal(start(), {1: 6})

    assert GAME.observe(state, Seat(1))["seats"][1]["card"] == 6
    assert GAME.observe(state, Seat(0))["seats"][1]["card"] is None
    assert GAME.observe(state, Seat(0))["seats"][1]["cards"] == list(CARDS)


@given(seat=st.integers(1, 3))
def test_all_seats_see_the_same_but_their_own_number(seat: int) -> None:
    """Once the cards are turned up, nothing is hidden."""
    state = loaded(played(start(), 7, 3, 2, 1), {"k01": AT_SEA})

    assert GAME.observe(state, Seat(seat)) == GAME.observe(state, Seat(0)) | {"you": seat}


def test_an_unsteady_hand_is_seen_only_afterwards() -> None:
    """While the dice lie there and the ship rocks, the view shows nothing of them."""
    waiting = under_way(played(start(weather="storm"), 7, 3, 2, 1))

    calm, rough = (GAME.resolve(waiting, faces) for faces in ((500_000,) * 5, (1,) * 5))

    assert calm.noise != rough.noise
    assert GAME.observe(calm, Seat(0)) == GAME.observe(rough, Seat(0))


def test_the_material_is_the_tables_of_the_game_without_loss() -> None:
    """Every area, kind, face and part; lengths in mm give back those in m."""
    told = GAME.game_info({}, 4)

    assert {int(number) for number in told["areas"]} == set(AREAS)
    for kind in KINDS:
        shown = told["kinds"][kind]
        assert list(shown["faces"]) == list(FACES[kind])
        assert shown["mass_g"] / 1000 == pytest.approx(MASS_KG[kind], abs=1e-12)
        for part, each in zip(PARTS[kind], shown["parts"], strict=True):
            assert tuple(mm / 1000 for mm in each["half_mm"]) == pytest.approx(part.half_m, abs=1e-12)
            assert tuple(mm / 1000 for mm in each["at_mm"]) == pytest.approx(part.at_m, abs=1e-12)
    assert len(msgspec.json.encode(told)) < 10_000


PAGE = (Path(__file__).parents[3] / "docs" / "riffraff.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table below that first row."""
    assert PAGE.count(heading) == 1
    lines = PAGE.split(heading, 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def numbers(text: str) -> tuple[float, ...]:
    return tuple(float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text))


def test_masses_and_faces_are_those_of_the_cargo() -> None:
    """The facts have every kind in order."""
    told = rows("| Kind | Mass | Size | Faces |")

    assert [row[0] for row in told] == list(KINDS)
    assert {row[0]: numbers(row[1]) for row in told} == {kind: (1000 * MASS_KG[kind],) for kind in KINDS}
    for kind, _, _, faces in told:
        assert re.sub(r" \(.*?\)", "", faces).split(", ") == [
            name for known in KINDS if known == kind for name in FACES[known]
        ]


def test_areas_are_where_they_are() -> None:
    """Height of the surface, ranges of u and v; two areas of a yard share a row."""
    told = {}
    for names, surface, u, v in rows("| Area | Surface at | u of the origin | v of the origin |"):
        for index, number in enumerate(numbers(names)):
            told[int(number)] = (numbers(surface)[0], numbers(u), numbers(v)[2 * index : 2 * index + 2])

    assert told == {
        number: (round(1000 * area.surface_m, 1), ranges_mm(area)["u"], ranges_mm(area)["v"])
        for number, area in AREAS.items()
    }


def test_the_weather_is_as_told() -> None:
    """The facts have the standard deviations; in still weather they are 0."""
    told = rows("| Weather | Shift along u and v | Turn | Roll and pitch rate |")

    assert {row[0].split("`")[1]: sum(map(numbers, row[1:]), ()) for row in told if "none" not in row[1]} == {
        name: (sigma.uv_mm, sigma.yaw_deg, sigma.kick_rad_s) for name, sigma in SIGMAS.items() if sigma.uv_mm
    }
    assert [row[0] for row in told if row[1:] == ["none"] * 3] == ["`still`"]


def test_hands_and_drop_are_as_told() -> None:
    """How far a hand reaches, where, how many there are, and from how high a piece may be dropped."""
    text = " ".join(PAGE.split())
    assert (
        f"a radius of {1000 * HAND_RADIUS_M:.0f} mm, in a plane {-1000 * CATCH_PLANE_M:.0f} mm below the gimbal" in text
    )
    assert HANDS_MAX == 2
    assert f"above the first contact, 0 to {DROP_MAX_MM}, rounded to 1" in text
