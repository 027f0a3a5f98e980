"""The Riff Raff kit: its geometry refuses what the rules refuse, and its two simulators are one."""

import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.bots_driver import Bot, bot_on, hello
from support.bots_riffraff import SEAT, SHIPMATE, kit, material, plain, position, to_load, view_of
from support.golden import Golden

from arena.errors import BotFault
from arena.games.riffraff import GAME
from arena.games.riffraff.geometry import extents, inverse, multiply, rotate, rotation_of, ship_rotation
from arena.games.riffraff.scene import AREAS, FACES, KINDS
from arena.protocol import messages as m

ASKED = SHIPMATE / "arena_kit.py"
EMPTY = GAME.setup({}, 4)
FACE_WORDS = sorted({face for faces in FACES.values() for face in faces} | {"sideways"})


def test_no_file_of_the_bot_imports_arena_at_the_start() -> None:
    """In a match there is no such package; only the simulator for home asks for it, when it is called."""
    lines = [line for file in sorted(SHIPMATE.glob("*.py")) for line in file.read_text().splitlines()]

    imports = [line for line in lines if line.lstrip().startswith(("from arena.", "import arena."))]

    assert imports == ["    from arena.errors import BotFault", "    from arena.games.riffraff import GAME"]


@st.composite
def loads(draw: st.DrawFn) -> tuple[int, dict[str, Any]]:
    """An area and a load: most near that area and of a right face, many wrong in one way or another."""
    area = draw(st.sampled_from(sorted(AREAS)))
    u_m, v_m = AREAS[area].u_m, AREAS[area].v_m
    kind = draw(st.sampled_from(KINDS))
    load: dict[str, Any] = {
        "kind": kind,
        "face": draw(st.one_of(st.sampled_from(sorted(FACES[kind])), st.sampled_from(FACE_WORDS))),
        "u_mm": draw(st.floats(1000 * u_m[0] - 3, 1000 * u_m[1] + 3)),
        "v_mm": draw(st.floats(1000 * v_m[0] - 3, 1000 * v_m[1] + 3)),
        "yaw_deg": draw(st.one_of(st.sampled_from((0, 90, 180, 270)), st.floats(-361, 361))),
    }
    if draw(st.booleans()):
        load["drop_mm"] = draw(st.floats(-1, 21))
        hand = st.tuples(st.floats(-1001, 1001), st.just(75.0))
        load["hands_mm"] = draw(st.lists(hand, max_size=3))
    return area, load


@given(loads(), st.sets(st.sampled_from(KINDS), min_size=6))
def test_the_kit_refuses_what_the_rules_refuse(pose: tuple[int, dict[str, Any]], held: set[str]) -> None:
    """For any load the kit gives the reason that the rules give, and none where they give none."""
    area, load = pose
    supply: dict[str, int] = {kind: int(kind in held) for kind in KINDS}

    found = material().refusal(load, area, supply)

    assert found == rules_refusal(area, load, supply)


def rules_refusal(area: int, load: dict[str, Any], supply: dict[str, int]) -> str:
    """The reason for which the rules refuse the load before any physics; empty if they do not."""
    try:
        GAME.parse(to_load(EMPTY, area, supply), SEAT, plain(load))
    except BotFault as fault:
        return fault.reason
    return ""


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"u_mm": float("nan")}, "bad_number"),
        ({"v_mm": "12"}, "bad_number"),
        ({"hands_mm": [[0, 75], [0, None]]}, "bad_number"),
        ({"kind": "anchor"}, "not_in_supply"),
    ],
)
def test_what_is_no_number_or_kind_has_a_reason(change: dict[str, Any], reason: str) -> None:
    """Values that no load of the rules has get the reason that the rules would give."""
    load = {"kind": "crate", "face": "flat", "u_mm": 0, "v_mm": 40} | change

    assert material().refusal(load, 9, {"crate": 1, "rat": 0}) == reason


def test_boxes_of_cargo_are_those_of_the_geometry() -> None:
    """Wherever a piece lies and however the ship heels, its box in the frame of the ship is the same."""
    state = position(9)
    view, back = view_of(state), inverse(ship_rotation(state.table))

    boxes = {piece["id"]: material().box(piece, view["ship"]) for piece in view["cargo"]}

    assert len(boxes) >= 5
    for piece in state.table.cargo:
        x, y, z, w, i, j, k = piece.pose
        low, high = extents(piece.kind, multiply(back, (w, i, j, k)))
        at = rotate(back, (x, y, z))
        expected = [[1000 * (a + b) for a, b in zip(at, reach, strict=True)] for reach in (low, high)]
        assert boxes[piece.id][0] == pytest.approx(expected[0], abs=0.01)
        assert boxes[piece.id][1] == pytest.approx(expected[1], abs=0.01)


def test_reaches_of_loads_are_those_of_the_geometry() -> None:
    """The kit computes the reach of every kind on every face at any turn as the geometry does."""
    for kind in KINDS:
        for face in FACES[kind]:
            for yaw in (0, 37, 90, 213):
                low, high = material().reach(kind, face, yaw)

                expected = extents(kind, rotation_of(kind, face, yaw))
                assert low == pytest.approx([1000 * each for each in expected[0]], abs=1e-6)
                assert high == pytest.approx([1000 * each for each in expected[1]], abs=1e-6)


def test_the_simulator_at_home_answers_like_the_referee() -> None:
    """The simulator in a bot gives the referee's numbers from a view, with and without noise."""
    state = position(7, area=8)
    view = view_of(state)
    simulate = kit().simulator()
    for noise in (None, [1.25, -0.5, 3.0, 0.04, -0.06]):
        what: dict[str, Any] = {"load": {"kind": "rat", "face": "flat", "u_mm": 2, "v_mm": -60, "yaw_deg": 90}}
        what |= {} if noise is None else {"noise": noise}

        there = plain(GAME.simulator.what_if(state, SEAT, what))
        here = simulate(area=8, ship=view["ship"], cargo=view["cargo"], **what)

        assert plain(here["result"]) == there
        assert here["refused"] is None
        again = {"area": 3, "load": {"kind": "crate", "face": "flat", "u_mm": -50, "v_mm": 20}}
        onward = {"ship": there["ship"], "cargo": there["cargo"], **again}
        assert plain(simulate(**onward)["result"]) == plain(GAME.simulator.what_if(state, SEAT, onward))


def test_the_simulator_at_home_refuses_like_the_referee() -> None:
    """The simulator in a bot refuses with the code and the reason of the referee."""
    load = {"kind": "plank", "face": "flat", "u_mm": 0, "v_mm": 200}

    said = kit().simulator()(area=7, load=load)

    assert said["result"] is None
    assert (said["refused"]["code"], said["refused"]["reason"]) == ("illegal_action", "outside_area")


@pytest.mark.parametrize("weather", ["calm", "storm", "still"])
def test_noise_is_drawn_with_the_sigmas_of_the_weather(weather: str) -> None:
    """Five amounts around 0, in the order and units of the protocol."""
    view = view_of(GAME.setup({"weather": weather}, 2))
    kit().random.seed(1)

    amounts = list(zip(*(kit().draw_noise(view) for _ in range(2000)), strict=True))

    sigma = view["noise"]
    expected = [sigma["uv_mm"], sigma["uv_mm"], sigma["yaw_deg"], sigma["kick_rad_s"], sigma["kick_rad_s"]]
    assert [statistics.pstdev(each) for each in amounts] == pytest.approx(expected, rel=0.06, abs=1e-9)
    assert [statistics.fmean(each) for each in amounts] == pytest.approx([0] * 5, abs=0.1 * max(expected) + 1e-9)


ASKING = """
import arena_kit as kit

def choose(view, legal, clock):
    if legal:
        return 0
    first = kit.simulate(area=7, load={"kind": "rat"})
    left = kit.simulations
    second = kit.simulate(load={"kind": "rat"}, noise=[0, 0, 0, 0, 0])
    print("heard", left, kit.simulations)
    return {"first": first["result"], "second": second["refused"]["reason"]}

kit.play(choose)
"""


@contextmanager
def _aboard(folder: Path, source: str) -> Iterator[Bot]:
    """Return a bot of that source on the kit, in a match."""
    with Bot(bot_on(ASKED, folder, source)) as bot:
        bot.ask(hello("riffraff"))
        bot.start_match(game="riffraff")
        yield bot


def _request(phase: str, legal: tuple[Any, ...] | None = None, number: int = 4) -> m.Request:
    clock = m.TimeLeft(move_ms=1, bank_ms=1)
    return m.Request(id=number, match="m1", view={"phase": phase}, events=(), legal=legal, clock=clock, simulations=5)


@pytest.mark.process
def test_a_bot_asks_the_referee_and_goes_on(tmp_path: Path, golden: Golden) -> None:
    """Questions carry the id of the open request; what else comes meanwhile is no answer to them."""
    with Bot(bot_on(ASKED, tmp_path, ASKING)) as bot:
        greeting = bot.ask(hello("riffraff"))
        bot.start_match(game="riffraff")
        asked = bot.ask(_request("load"))
        bot.send({"type": "weather", "query": 1})
        other = m.Refused(code="illegal_action", reason="no_room", message="full", hint="")
        asked_again = bot.ask(m.Simulated(id=4, query=1, result={"end": "rest"}, refused=None, left=4))
        answer = bot.ask(m.Simulated(id=4, query=2, result=None, refused=other, left=3))

        assert greeting == m.BotHello(protocols=(1,), capabilities=("simulate",))
        assert asked == m.Simulate(id=4, query=1, what={"area": 7, "load": {"kind": "rat"}})
        assert asked_again == m.Simulate(id=4, query=2, what={"load": {"kind": "rat"}, "noise": [0, 0, 0, 0, 0]})
        assert answer == m.Answer(id=4, action={"first": {"end": "rest"}, "second": "no_room"})
        bot.end_input()
        assert bot.exit_code() == 0
        golden(bot.stderr())


@pytest.mark.process
def test_a_bot_that_thinks_too_long_goes_on_with_what_came_instead(tmp_path: Path) -> None:
    """A question that nobody answers any more is given up: for the next request, the end of the match, or quit."""
    with _aboard(tmp_path, ASKING) as bot:
        bot.ask(_request("load"))
        instead = bot.ask(_request("load", number=5))
        bot.send({"type": "match_end", "match": "m1", "termination": "crash"})
        bot.start_match(match="m2", game="riffraff")
        afresh = bot.ask(_request("card", ("a", "b"), number=6))
        bot.ask(_request("load", number=7))
        bot.send({"type": "quit", "reason": "done", "grace_ms": 1000})

        assert instead == m.Simulate(id=5, query=2, what={"area": 7, "load": {"kind": "rat"}})
        assert afresh == m.Answer(id=6, action=0)
        assert bot.exit_code() == 0
        assert bot.stderr() == ""
