"""Positions of Riff Raff for the pictures: tables that the physics left behind, and states around them.

The poses are results of real placements, kept as literals, so that no physics is needed to draw them.
"""

from typing import Final

from msgspec.structs import replace

from arena.games.api import Seat
from arena.games.riffraff import GAME
from arena.games.riffraff.actions import Load
from arena.games.riffraff.scene import Kind
from arena.games.riffraff.state import Fallen, Loaded, Options, Phase, Player, State
from arena.games.riffraff.table import STILL, Piece, PieceId, Pose, ShipAtRest

Row = tuple[str, Kind, int, int, Pose]
"""Id, kind, card, seat and pose of a piece."""


def tabled(roll: float, pitch: float, *rows: Row) -> ShipAtRest:
    """The ship with these pieces."""
    cargo = tuple(Piece(PieceId(name), kind, card, Seat(by), pose) for name, kind, card, by, pose in rows)
    return ShipAtRest(roll, pitch, cargo=cargo)


LISTING: Final = tabled(
    0.2918,
    0.02922,
    ("k01", "rat", 2, 0, (0.06748, -0.03133, 0.03292, 0.98924, 0.14552, 0.01383, 0.00663)),
    ("k02", "sailor", 6, 1, (0.00279, -0.05543, 0.10652, 0.98927, 0.14521, 0.01332, 0.00888)),
    ("k04", "rat", 6, 2, (0.00118, -0.10083, 0.09763, 0.09309, 0.02829, -0.14331, 0.98488)),
    ("k10", "sailor", 6, 3, (0.00511, -0.11364, 0.08897, 0.98891, 0.14476, 0.01868, -0.02732)),
    ("k13", "sailor", 8, 0, (0.00655, -0.07346, 0.17411, -0.00801, 0.01369, -0.14533, 0.98926)),
    ("k15", "sailor", 10, 1, (0.00797, -0.12194, 0.23263, -0.0008, 0.01478, -0.14519, 0.98929)),
    ("k18", "crate", 8, 2, (0.00886, -0.10191, 0.17699, 0.69054, 0.11208, -0.09378, 0.70838)),
    ("k20", "crate", 8, 3, (0.01246, -0.12906, 0.16872, -0.70825, -0.09373, -0.11212, 0.69067)),
    ("k26", "rat", 6, 0, (0.00253, -0.08162, 0.11558, -0.7173, -0.00435, -0.05271, 0.69475)),
    ("k29", "crate", 10, 1, (0.01212, -0.09933, 0.25078, 0.72067, 0.11605, -0.08882, 0.6777)),
    ("k30", "plank", 6, 2, (0.00788, -0.131, 0.08367, -0.02042, 0.01181, -0.14566, 0.98905)),
    ("k31", "bottle", 6, 3, (0.0109, -0.05919, 0.13725, 0.98558, 0.03748, 0.16398, 0.01816)),
)
"""Everything on one side: heeled by 17 degrees."""

EMPTY: Final = ShipAtRest()
ONE_CRATE: Final = tabled(0.0, 0.0, ("k01", "crate", 5, 0, (0.0, 0.06, 0.129, 1.0, 0.0, 0.0, 0.0)))
"""On area 5, where it would tip the ship; but here everything is upright, so that places are round numbers."""

TIPPED: Final = replace(
    tabled(
        -0.01481,
        -0.02886,
        ("k01", "sailor", 5, 0, (-0.00312, 0.07227, 0.10702, 0.99691, -0.07707, -0.01478, -0.00175)),
        ("k02", "rat", 6, 1, (-0.00365, -0.02589, 0.12688, 0.9969, -0.07742, -0.0142, -0.00046)),
        ("k03", "chest", 8, 2, (-0.00547, -0.0494, 0.19048, 0.99793, 0.06267, -0.0144, 0.00111)),
        ("k04", "plank", 7, 3, (-0.00554, 0.03122, 0.19156, 0.99793, 0.06261, -0.01439, 0.00111)),
        ("k05", "sailor", 10, 0, (-0.00743, -0.03632, 0.25785, 0.99989, 6e-05, -0.01475, 0.00029)),
        ("k06", "crate", 9, 1, (-0.00778, 0.02767, 0.26885, 0.9999, 6e-05, -0.01444, 0.00021)),
        ("k07", "bottle", 3, 2, (-0.05169, 0.02085, 0.05722, 0.99987, -0.00737, -0.01453, 0.0001)),
        ("k08", "rat", 5, 3, (-0.00337, 0.04325, 0.1161, 0.9969, -0.07741, -0.01423, -0.00084)),
    ),
    yards=(-0.13993, 0.14006, 0.01492),
)
"""Cargo on tipped yards and hanging from them: the lowest and the highest to port, the middle one to starboard."""

_PLAYERS: Final = (
    Player(supply=(1, 0, 2, 0, 0, 1, 1, 0), hand=(1, 2, 8, 9, 10), card=5, removed=1),
    Player(supply=(0, 1, 0, 0, 1, 0, 1, 0), hand=(2, 3, 4, 5, 6), card=8, removed=2),
    Player(supply=(1, 1, 1, 0, 0, 1, 0, 1), hand=(1, 3, 7, 8, 9), card=6),
    Player(supply=(0, 1, 1, 1, 1, 0, 1, 1), hand=(3, 4, 6, 7, 10), card=2),
)
_LOAD: Final = Load(
    kind="bottle", face="upright", u_mm=4.0, v_mm=-60.5, yaw_deg=90, drop_mm=2, hands_mm=((45.0, -75.0), (-45.0, -75.0))
)


def fallen(name: str, kind: Kind, x_mm: float, y_mm: float, hand: int | None = None) -> Fallen:
    """A piece that fell: caught for good if there is a hand, lost otherwise."""
    return Fallen(PieceId(name), kind, x_mm, y_mm, hand, "to_supply" if hand is None else "removed")


def loaded(*falls: Fallen) -> Loaded:
    """The bottle k31 of seat 2, and what fell under it."""
    return Loaded(Seat(2), PieceId("k31"), "bottle", 6, _LOAD, STILL, "rest", 1.312, 17.42, falls, "0" * 16)


def fresh(table: ShipAtRest = EMPTY, *, seats: int = 4) -> State:
    """The first round, with that on the ship."""
    return replace(GAME.setup({}, seats), table=table)


AT_SEA: Final = State(
    options=Options(),
    players=_PLAYERS,
    phase=Phase.LOAD,
    round=5,
    captain=Seat(1),
    order=(Seat(1), Seat(2), Seat(0), Seat(3)),
    turn=2,
    to_load=1,
    placements=31,
    table=LISTING,
    removed=(0, 1, 0, 1, 0, 0, 1, 0),
    last=(
        loaded(
            fallen("k12", "rat", -70.21, -81.4, 1),
            fallen("k11", "crate", -20.0, -95.5, 1),
            fallen("k05", "plank", 50.9, -140.02),
        ),
    ),
)
"""The middle of a game: two pieces caught, one lost under the load of seat 2; now it is the turn of seat 0."""
