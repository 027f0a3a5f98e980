"""The section on Riff Raff: whatever a bot of this game can meet is described, and its examples work."""

import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import product
from statistics import NormalDist
from typing import Any

import msgspec
import pytest
from support.protocol_pages import RIFFRAFF, Block, marked, only, section_of
from support.scripted_bot import ScriptedBot, answer, match_of, seated

from arena.errors import BotFault, IllegalAction
from arena.games import load_game
from arena.games.api import Chance, Decision, Json, Seat
from arena.games.luck import draw
from arena.games.riffraff import standard
from arena.games.riffraff.actions import Reason
from arena.games.riffraff.state import Phase, State
from arena.games.riffraff.table import SIGMAS, to_noise
from arena.match.replay import replay

SECTION = section_of("## Messages", RIFFRAFF)
GAME: Any = load_game("riffraff")
SEATS = 4
LOAD: dict[str, Json] = {"kind": "crate", "face": "flat", "u_mm": 0, "v_mm": 55, "yaw_deg": 90}


@cache
def states() -> tuple[State, ...]:
    """Every position of a match of four in which the function of the section, pasted as it stands, acts for all."""
    scope: dict[str, Any] = {}
    exec(only("python riffraff"), scope)
    material = GAME.game_info({}, SEATS)
    bots = [ScriptedBot(plain=lambda message: answer(message, scope["act"](message, material))) for _ in range(SEATS)]
    record = match_of(*[seated(bot, game=GAME, seats=SEATS) for bot in bots], game="riffraff")
    moments = list(replay(record))
    return (*[moment.before for moment in moments], moments[-1].after)


def fields(value: Json) -> Iterator[str]:
    """The keys of objects on the first two levels, those of kinds and areas left out."""
    for key, inner in value.items():
        yield key
        for part in inner if isinstance(inner, list) else [inner]:
            if isinstance(part, dict) and key not in {"supply", "areas", "kinds"}:
                yield from part


def test_the_bot_of_the_page_loads_cargo() -> None:
    """Pasted as it stands, it plays a whole match at all seats and brings most of its pieces aboard."""
    end = states()[-1]

    assert end.phase is Phase.OVER
    assert end.placements >= 16
    assert max(GAME.outcome(end).scores) > 0


def test_every_field_of_the_view_has_its_row() -> None:
    """The view, its seats, cargo and placements have a row in the tables for each field."""
    views = [GAME.observe(state, Seat(0)) for state in states()]

    shown = {field for view in views for field in fields(view)}
    assert len(shown) > 30
    assert sorted(field for field in shown if f"`{field}`" not in SECTION) == []


def test_every_field_of_the_material_is_named() -> None:
    """The page names each field of the material, down to the parts of a piece."""
    material = GAME.game_info({}, 4)
    crate, area = material["kinds"]["crate"], material["areas"]["7"]
    shown = {*fields(material), *fields(crate), *fields(area), *fields(material["load"])}
    shown |= {*material["load"]["way_down"], *material["load"]["hands"]}

    told_elsewhere = {"flat", "u_mm", "v_mm", "yaw_deg", "drop_mm", "hands_mm", "uv_mm", "kick_rad_s"}
    missing = {field for field in shown if f"`{field}`" not in section_of("### material", RIFFRAFF)}
    assert missing - told_elsewhere == set()


def test_the_view_of_the_page_has_the_form_of_a_real_one() -> None:
    """The same fields on every level, and what it says of the cargo agrees with the poses it shows."""
    (block,) = marked("json view riffraff")
    shown = json.loads(block.text)
    views = [GAME.observe(state, Seat(0)) for state in states()]
    real = next(view for view in views if view["phase"] == "load" and view["last"] and view["cargo"])

    assert shown.keys() == real.keys()
    for part in ("seats", "cargo", "last"):
        assert shown[part][0].keys() == real[part][0].keys()
    assert [sum(seat["supply"].values()) for seat in shown["seats"]] == [seat["pieces"] for seat in shown["seats"]]
    assert all(math.isclose(math.hypot(*piece["quat"]), 1, abs_tol=1e-4) for piece in shown["cargo"])


@pytest.mark.parametrize("block", marked("json action riffraff"), ids=lambda block: block.place)
def test_actions_of_the_page_are_understood(block: Block) -> None:
    """Each has a form that some phase asks for: it is an action, or refused for its meaning and not for its form."""
    raw = json.loads(block.text)
    met = set()

    for state in states():
        for seat in GAME.turn(state).seats if isinstance(GAME.turn(state), Decision) else ():
            try:
                GAME.parse(state, seat, raw)
            except BotFault as fault:
                met.add(fault.reason)
            else:
                met.add("fine")

    assert met & {"fine", Reason.NOT_A_CHOICE, Reason.NOT_IN_HAND, Reason.NOT_IN_SUPPLY, Reason.OUTSIDE_AREA}


def test_each_kind_of_action_has_an_example() -> None:
    """Each kind of action, by its first field, has an example."""
    assert [next(iter(json.loads(block.text))) for block in marked("json action riffraff")] == [
        *("card", "seat", "seats", "pieces", "kind", "pass")
    ]


def test_reasons_and_phases_are_those_of_the_game() -> None:
    """The tables of reasons and phases have exactly the words of the game."""
    reasons = {word for name, word in vars(Reason).items() if name.isupper()}
    table = SECTION.split("| `reason` | When |")[1].split("###")[0]
    rows = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    phases = set(re.findall(r"^\| `(\w+)` \|", section_of("### Phases", RIFFRAFF), re.MULTILINE))

    assert rows == reasons | {"no_simulations_left"}
    assert phases - {"phase"} == {
        phase.value for phase in Phase if phase not in {Phase.STANDARD, Phase.NOISE, Phase.SETTLING, Phase.OVER}
    }


@pytest.mark.parametrize("card", range(1, 11))
def test_the_standard_loads_are_recomputed_from_the_page(card: int) -> None:
    """Faces, places and turns in the order of the section, with the ranges of the material; no hands."""
    state = GAME.setup({}, 2)
    cards = {Seat(0): GAME.parse(state, Seat(0), {"card": card}), Seat(1): GAME.parse(state, Seat(1), {"card": 1})}
    state = msgspec.structs.replace(GAME.apply(state, cards), phase=Phase.LOAD, order=(Seat(0), Seat(1)), turn=0)
    area = GAME.game_info({}, 2)["areas"][str(card)]
    (outer, inner), (u_first, u_second) = (
        sorted(area[name], key=lambda end: (-abs(end), -end)) for name in ("v_mm", "u_mm")
    )
    places = [
        (u, round(outer + quarter * (inner - outer) / 4, 1))
        for quarter in range(5)
        for u in (u_first, u_second, sum(area["u_mm"]) / 2)
    ]

    expected = []
    for named in only("text standard riffraff").replace("\n", " ").split(","):
        kind, face, yaw = named.split()
        for (u, v), yaw_deg in product(places, (int(yaw), 90 - int(yaw))):
            with suppress(IllegalAction):
                load = {"kind": kind, "face": face, "u_mm": u, "v_mm": v, "yaw_deg": yaw_deg}
                expected.append(GAME.parse(state, Seat(0), load))

    assert list(standard.list_loads(state)) == expected


def test_the_weather_is_recomputed_from_the_page() -> None:
    """Key, dice, normal quantile, deviation, rounding, as the page says them."""
    seed, key = "000102030405060708090a0b0c0d0e38", "noise/3/2/0"
    state = next(each for each in states() if isinstance(GAME.turn(each), Chance))
    turn = GAME.turn(state)
    dice = draw(seed, Chance(key=key, kind=turn.kind))
    z = [NormalDist().inv_cdf((face - 0.5) / 1_000_000) for face in dice]

    blown = to_noise(dice, SIGMAS["breeze"])

    assert re.fullmatch(r"noise/1/\d/0", turn.key)
    assert (turn.kind.count, turn.kind.faces) == (5, 1_000_000)
    assert [blown.u_mm, blown.v_mm, blown.yaw_deg] == [round(z[0] * 1.5, 2), round(z[1] * 1.5, 2), round(z[2] * 3, 2)]
    assert [blown.roll_rad_s, blown.pitch_rad_s] == [round(z[3] * 0.05, 4), round(z[4] * 0.05, 4)]


def test_every_field_of_an_answer_of_the_simulator_is_named() -> None:
    """The section names what comes back from a question."""
    reply = GAME.simulator.what_if(GAME.setup({}, 2), Seat(0), {"load": LOAD, "area": 5})

    described = section_of("### What to ask the simulator", RIFFRAFF)
    assert [field for field in reply if f"`{field}`" not in described] == []
