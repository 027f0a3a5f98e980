"""riffraff_kit: the numbers of Riff Raff for bots in Python. One file, standard library only; arena_kit.py has the rest.

    import arena_kit as kit
    from riffraff_kit import Material, draw_noise

    material = Material(kit.hello["material"])  # in a function `start`, or later

- `material` knows ship and cargo as `hello` told them: what a load is refused for as far as numbers tell
  (`refusal`), how far a piece reaches (`reach`), where cargo lies in the frame of an area (`box`), up to the next
  yard (`room`).
- `kit.simulate(load=...)` asks the referee what would come of a load. That costs none of your time, but each request
  has its budget, of which `kit.simulations` are left: a question takes 1 of it, or more where there is much to simulate.
- `draw_noise(view)` draws a disturbance as the referee does, for `kit.simulate(load=..., noise=...)`.

At home, without a referee, `simulator()` gives a function that answers like `kit.simulate`, number for number. It
needs arena with its extra `riffraff`, which a bot in a match has not.

Lengths are in mm and angles in degrees; x and u to the bow, y and v to port, z up. The frame of the ship is that of the
table, turned by the ship's roll and pitch; that of an area on a yard is tipped with the yard.
"""

import math
import random

__all__ = ["Material", "draw_noise", "simulator"]


def draw_noise(view):
    """A disturbance as the weather brings it: shifts along u and v, turn, roll and pitch rates in rad/s."""
    sigma = view["noise"]
    sigmas = (sigma["uv_mm"], sigma["uv_mm"], sigma["yaw_deg"], sigma["kick_rad_s"], sigma["kick_rad_s"])
    return [round(random.gauss(0, each), 4) for each in sigmas]


class Material:
    """Ship and cargo, from the `material` of `hello`, which is `told`."""

    def __init__(self, told):
        self.told = told
        self.areas = {int(number): area for number, area in told["areas"].items()}
        self.kinds = told["kinds"]
        self._reaches = {}

    def faces(self, kind, area):
        """The faces on which a piece of that kind can be laid on that area: nothing hangs on the deck."""
        return [face for face in self.kinds[kind]["faces"] if self.areas[area]["yard"] or face != "hang"]

    def refusal(self, load, area, supply):
        """Why a load will be refused, in the word of protocol.md; "" if numbers tell nothing against it.

        Only a simulation knows of `no_room` and `no_support`. `supply` is yours in the view.
        """
        try:
            numbers = [load["u_mm"], load["v_mm"], load.get("yaw_deg", 0), load.get("drop_mm", 0)]
            hands = load.get("hands_mm", ())
            if not all(map(math.isfinite, [*numbers, *(number for hand in hands for number in hand)])):
                return "bad_number"
        except (KeyError, TypeError):
            return "bad_number"
        u, v, yaw, drop = numbers
        limits = self.told["load"]
        within = limits["hands"]["within_mm"]
        if abs(yaw) > 360 or not 0 <= drop <= limits["drop_max_mm"] or len(hands) > limits["hands"]["most"]:
            return "bad_number"
        if any(abs(number) > within for hand in hands for number in hand):
            return "bad_number"
        if not supply.get(load["kind"]):
            return "not_in_supply"
        if load["face"] not in self.faces(load["kind"], area):
            return "bad_face"
        return self._misplaced(load, area, round(u, 1), round(v, 1), round(yaw) % 360)

    def _misplaced(self, load, area, u, v, yaw):
        here = self.areas[area]
        if not (here["u_mm"][0] <= u <= here["u_mm"][1] and here["v_mm"][0] <= v <= here["v_mm"][1]):
            return "outside_area"
        low, high = self.reach(load["kind"], load["face"], yaw)
        crosses = is_over(u, low[0], high[0], here["side_u"]) or is_over(v, low[1], high[1], here["side_v"])
        return "into_other_area" if crosses else ""

    def reach(self, kind, face, yaw):
        """How far a piece that lies so reaches from its centre: lowest and highest along u, v and up."""
        key = (kind, face, yaw)
        if key not in self._reaches:
            side = self.kinds[kind]["faces"][face]
            self._reaches[key] = self._extent(kind, product(about("z", yaw), about(side["axis"], side["degrees"])))
        return self._reaches[key]

    def box(self, piece, ship, area=1):
        """The corners, lowest and highest, of the box around a piece of the view's cargo, in the frame of an area.

        On deck that is the frame of the ship; on a yard it is tipped with the yard about the bar under it.
        """
        turn, bar = transposed(rotation(ship)), self.bar(area)
        x, y, z = turned(turn, piece["pos_mm"])
        back = about("x", -self.tip(ship, area))
        x, y, z = turned(back, (x, y, z - bar))
        place, turn = (x, y, z + bar), product(back, turn)
        low, high = self._extent(piece["kind"], product(turn, from_quaternion(piece["quat"])))
        return tuple(map(sum, zip(place, low))), tuple(map(sum, zip(place, high)))

    def yard(self, area):
        """The number of the yard on which an area is, the lowest is 0; None on deck."""
        return (area - 5) // 2 if self.areas[area]["yard"] else None

    def tip(self, ship, area):
        """How far the yard of an area is tipped, in degrees: positive with its port end up; 0 on deck."""
        yard = self.yard(area)
        return 0.0 if yard is None else ship["yards_deg"][yard]

    def bar(self, area):
        """The height of the bar about which an area tips, in the frame of the ship; 0 on deck."""
        yard, ship = self.yard(area), self.told["ship"]
        return 0.0 if yard is None else ship["yards"][yard]["top_mm"] - ship["yard_thickness_mm"]

    def room(self, area, ship, low, high):
        """Up to which height a piece can be let down on an area that reaches from v = `low` to `high`."""
        most = self.areas[area]["surface_mm"] + self.areas[area]["room_mm"]
        number = 0 if self.yard(area) is None else self.yard(area) + 1
        if number == len(ship["yards_deg"]):
            return most
        own, slope = math.radians(self.tip(ship, area)), ship["yards_deg"][number] - self.tip(ship, area)
        between, slope = most - self.bar(area), math.tan(math.radians(slope))
        above = (between * math.cos(own) + (v - between * math.sin(own)) * slope for v in (low, high))
        return min(between, *above) + self.bar(area)

    def _extent(self, kind, rows):
        """The box around a piece with that rotation, seen from its centre."""
        sides = []
        for part in self.kinds[kind]["parts"]:
            centre = turned(rows, part["at_mm"])
            lying = product(rows, about("y", 90)) if part["across"] else rows
            halves = [half_width(part["form"], part["half_mm"], row) for row in lying]
            sides.append([(c - half, c + half) for c, half in zip(centre, halves)])
        low = tuple(min(side[axis][0] for side in sides) for axis in range(3))
        return low, tuple(max(side[axis][1] for side in sides) for axis in range(3))


def is_over(centre, low, high, side):
    """Whether a piece reaches over the line 0 that limits its area; a millionth of a mm is no trespass."""
    return side > 0 and centre + low < -1e-6 or side < 0 and centre + high > 1e-6


def half_width(form, half, row):
    """Half the width of a part of a piece along an axis; `row` is that axis in the frame of the part."""
    if form == "box":
        return sum(abs(component) * length for component, length in zip(row, half))
    if form == "sphere":
        return half[0]
    along = abs(row[2])
    return half[1] * along + half[0] * (1 if form == "capsule" else math.sqrt(max(0, 1 - along * along)))


def about(axis, degrees):
    """The rotation about an axis, as the rows of a matrix."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    rows = {"x": ((1, 0, 0), (0, c, -s), (0, s, c)), "y": ((c, 0, s), (0, 1, 0), (-s, 0, c))}
    return rows.get(axis, ((c, -s, 0), (s, c, 0), (0, 0, 1)))


def rotation(ship):
    """From the frame of the ship to that of the table: roll, then pitch about the turned axis."""
    return product(about("x", ship["roll_deg"]), about("y", ship["pitch_deg"]))


def from_quaternion(quaternion):
    """The rotation of a piece in the view."""
    w, x, y, z = quaternion
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def product(one, other):
    """Two rotations, first `other`, then `one`."""
    columns = tuple(zip(*other))
    return tuple(tuple(a * d + b * e + c * f for d, e, f in columns) for a, b, c in one)


def transposed(rows):
    """The rotation back."""
    return tuple(zip(*rows))


def turned(rows, vector):
    """A vector after a rotation."""
    x, y, z = vector
    return tuple(a * x + b * y + c * z for a, b, c in rows)


def simulator(**options):
    """For home: a function like `kit.simulate` that needs no match, only the package; `options` are those of the game.

    `simulator()(area=7, load={"kind": "crate", "face": "flat", "u_mm": 0, "v_mm": 55}, noise=[1, 0, 2, 0.05, 0])`.
    Without `ship` and `cargo` it is an empty ship.
    """
    from arena.errors import BotFault
    from arena.games.riffraff import GAME
    from msgspec.structs import replace

    start = GAME.setup(options, 2)

    def simulate(**what):
        loaded = max((int(piece["id"][1:]) for piece in what.get("cargo", ())), default=0)
        state = replace(start, placements=loaded)  # a new piece is the last one, as in a match; so the bits agree
        try:
            return {"result": GAME.simulator.what_if(state, 0, what), "refused": None}
        except BotFault as fault:
            return {"result": None, "refused": {"code": fault.code, "reason": fault.reason, "message": fault.message}}

    return simulate
