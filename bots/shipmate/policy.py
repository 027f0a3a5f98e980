"""A way to play: a method for each phase. Those that a policy does not write take the first action, or pass."""

import random

import arena_kit as kit
import riffraff_kit


class Policy:
    """A method gets the request and returns an action, or the index of one in `request["legal"]`."""

    material = None
    rng = random

    def card(self, request):
        return 0

    def new_captain(self, request):
        return 0

    def order(self, request):
        return 0

    def announce(self, request):
        return 0

    def load(self, request):
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
