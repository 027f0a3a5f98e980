"""The same placement gives the same bytes: again, elsewhere, side by side, after JSON, in another order.

Golden digests hold for one engine on one platform, and for one arithmetic: the last bits of sines differ between
processors under the same library. Where none are known the test says what to add to the file beside this one.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random

import msgspec
import pytest
from support.riffraff_tables import after, laden, random_load, random_noise, tidy_load, tried

from arena.games.riffraff import engine, physics
from arena.games.riffraff.actions import Load
from arena.games.riffraff.model import arithmetic, model_digest
from arena.games.riffraff.physics import distance
from arena.games.riffraff.scene import AREAS, KINDS
from arena.games.riffraff.table import EVEN_KEEL, Fall, Noise, PieceId, Rest, Result, ShipAtRest

_GOLDENS = Path(__file__).with_name("physics_goldens.json")
_Case = tuple[ShipAtRest, int, Load, Noise]
_SCRIPT = """
import sys
import msgspec
from arena.games.riffraff import physics
from arena.games.riffraff.actions import Load
from arena.games.riffraff.scene import AREAS
from arena.games.riffraff.table import Noise, ShipAtRest
cases = msgspec.json.decode(sys.stdin.buffer.read(), type=list[tuple[ShipAtRest, int, Load, Noise]])
results = [physics.place(table, AREAS[area], load, noise, "k99") for table, area, load, noise in cases]
sys.stdout.buffer.write(msgspec.json.encode(results))
"""


@cache
def _cases() -> tuple[_Case, ...]:
    """Placements on empty and laden ships, in a breeze."""
    rng = Random("determinism")
    cases: list[_Case] = []
    while len(cases) < 6:
        table, area = laden(5 * (len(cases) % 3)), rng.choice(list(AREAS))
        load, noise = random_load(rng, area, rng.choice(KINDS)), random_noise(rng)
        if tried(table, area, load, noise) is not None:
            cases.append((table, area, load, noise))
    return tuple(cases)


def _results(cases: tuple[_Case, ...]) -> bytes:
    placed = [physics.place(table, AREAS[area], load, noise, PieceId("k99")) for table, area, load, noise in cases]
    return msgspec.json.encode(placed)


def _elsewhere(cases: tuple[_Case, ...]) -> "subprocess.Popen[bytes]":
    """Another process that computes the same; it has read its input."""
    process = subprocess.Popen([sys.executable, "-c", _SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(cases))
    process.stdin.close()
    process.stdin = None
    return process


def test_the_same_placement_gives_the_same_bytes_again() -> None:
    """Twice in one process, in another order, with and without what was kept from before."""
    cases = _cases()
    first = _results(cases)

    again = _results(cases)
    engine._compile.cache_clear()
    physics._intended_pose.cache_clear()
    backwards = msgspec.json.decode(_results(cases[::-1]))

    assert again == first
    assert msgspec.json.encode(backwards[::-1]) == first


def test_threads_do_not_disturb_each_other() -> None:
    """Several seats may think ahead at the same time: side by side in threads, every result is what it is alone."""
    cases = _cases()
    expected = _results(cases)

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(_results, [cases, cases[:3], cases[3:], cases]))

    assert found[0] == found[3] == expected
    assert msgspec.json.decode(found[1]) + msgspec.json.decode(found[2]) == msgspec.json.decode(expected)


def test_two_processes_at_a_time_give_the_same_bytes() -> None:
    """Fresh processes, side by side, with tables from JSON: what they find is what was found here."""
    cases = _cases()
    expected = _results(cases)

    processes = [_elsewhere(cases), _elsewhere(cases)]
    found = [process.communicate(timeout=60)[0] for process in processes]

    assert found == [expected, expected]


def test_the_fingerprint_tells_what_results_depend_on() -> None:
    """Engine, platform, library, parameters, canary; a caller that changes its copy changes nobody else's."""
    fingerprint = physics.fingerprint()
    fingerprint["canary"] += "!"

    again = physics.fingerprint()

    assert list(again) == ["engine", "platform", "libc", "model", "canary"]
    assert again["model"] == f"sha256:{model_digest()}"
    assert len(again["canary"]) == 16


def _golden_digest() -> str:
    """Over a ship that is loaded piece by piece in a breeze: 16 tries, with falls."""
    rng = Random("golden")
    table, digests = ShipAtRest(), []
    for number in range(16):
        area = 1 + number % len(AREAS)
        load = tidy_load(rng, area, rng.choice(KINDS))
        result = tried(table, area, load, random_noise(rng))
        if result is not None:
            digests.append(result.digest)
            table = after(table, area, load, result)
    return sha256(" ".join(digests).encode()).hexdigest()[:16]


def test_results_are_what_they_were_on_a_known_platform() -> None:
    """Canary and a golden run of placements, to the bit, where they were recorded; a change of code shows here."""
    fingerprint = physics.fingerprint()
    canary = fingerprint.pop("canary")
    here = json.dumps(fingerprint | {"arithmetic": arithmetic()})
    known = json.loads(_GOLDENS.read_text(encoding="utf-8"))

    found = f"{canary} {_golden_digest()}"

    if here not in known:
        pytest.skip(f"no golden results for this platform; add {json.dumps({here: found})}")
    assert found == known[here]


_ONE = Result(
    id=PieceId("k03"),
    end="rest",
    halved=0,
    t_s=0.9,
    tilt_max_deg=1.0,
    fallen=(Fall(PieceId("k02"), 10, 20, 0.5, None),),
    roll=0.0,
    pitch=0.0,
    yards=EVEN_KEEL,
    rests=(
        Rest(PieceId("k01"), (0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0)),
        Rest(PieceId("k03"), (0.1, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0)),
    ),
    digest="0" * 16,
)


@pytest.mark.parametrize(
    ("changes", "phrase"),
    [
        ({"fallen": ()}, "fell only in the first: k02"),
        ({"fallen": (*_ONE.fallen, Fall(PieceId("k01"), 10, 20, 0.6, None))}, "fell only in the second: k01"),
        ({"roll": 0.1}, "the ship tilts 5.73 degrees differently"),
        ({"yards": (0.0, -0.1, 0.0)}, "a yard tips 5.73 degrees differently"),
        ({"rests": (Rest(PieceId("k01"), (0.0, 0.003, 0.104, 1.0, 0.0, 0.0, 0.0)),)}, "k01 is 5 mm away"),
        ({"rests": (Rest(PieceId("k01"), (0.0, 0.0, 0.1, 0.0, 0.0, 1.0, 0.0)),)}, "k01 is turned by 180 degrees"),
        ({"t_s": 1.2, "digest": "1" * 16}, "same poses, other t_s, digest"),
    ],
)
def test_the_distance_tells_how_far_two_results_are_apart(changes: dict[str, object], phrase: str) -> None:
    """Other pieces fallen, the largest shift and turn, the tilt; or what else differs."""
    other = msgspec.structs.replace(_ONE, **changes)

    assert phrase in distance(_ONE, other)
