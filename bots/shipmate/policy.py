"""A way to play: a method for each phase. Those that a policy does not write take the first action, or load at random."""

import random

import arena_kit as kit
import riffraff_kit
from catching import beside

TRIES = 300


class Policy:
    """A method gets the request and returns an action, or the index of one in `request["legal"]`."""

    material = None
    rng = random

    def __init__(self):
        self.numbers = {}  # that arguments may change

    def card(self, request):
        return 0

    def new_captain(self, request):
        return 0

    def order(self, request):
        return 0

    def announce(self, request):
        return 0

    def load(self, request):
        return self.random_pose(request["view"])

    def random_pose(self, view):
        """Any pose that the numbers allow, for nobody may pass who can load; a pass if none is found."""
        area, supply = view["area"], view["seats"][view["you"]]["supply"]
        here = self.material.areas[area]
        kinds = [kind for kind, count in supply.items() if count]
        for _ in range(TRIES):
            kind = self.rng.choice(kinds)
            pose = {
                "kind": kind,
                "face": self.rng.choice(self.material.faces(kind, area)),
                "u_mm": round(self.rng.uniform(*here["u_mm"]), 1),
                "v_mm": round(self.rng.uniform(*here["v_mm"]), 1),
                "yaw_deg": self.rng.randrange(360),
                "hands_mm": [list(hand) for hand in beside(here)],
            }
            if not self.material.refusal(pose, area, supply):
                return pose
        return {"pass": True}

    def simulate(self, **what):
        return kit.simulate(**what)

    @property
    def simulations(self):
        return kit.simulations

    def draw_noise(self, view):
        return riffraff_kit.draw_noise(view)

    def play(self):
        """Play until the referee says quit or goes away."""
        kit.play(lambda view, legal, clock: getattr(self, view["phase"])(kit.request), start=self.start)

    def start(self, match):
        self.material = riffraff_kit.Material(kit.hello["material"])
