"""A bot for Riff Raff. It loads at random where numbers allow it; the rest is up to you.

- There is a method for each phase, and it gets the request of protocol.md as a dict: `view` is all you may know, `legal`
  lists the actions (None for a load), `refused` tells what was wrong with your last answer, which you may replace once.
- It returns an action, or the index of one in `legal`. Those you do not write take the first.
- `self.material` knows ship and cargo, `self.simulate(load=...)` what would come of a load: see riffraff_kit.py.
- `print` as much as you like: it goes to the bot's log, never to the referee. `self.rng` is seeded for every match.

Try it from the folder above this one:  arena check ./<this folder> --game riffraff
"""

from riffraff_kit import Bot, run


class MyBot(Bot):
    def card(self, request):
        return self.rng.choice(request["legal"])

    def announce(self, request):
        return self.rng.choice(request["legal"])

    def load(self, request):
        """Of a few loads that have room, the first from which nothing would fall in a weather like today's."""
        best = {"pass": True}
        for _ in range(4):
            load = self.pose(request["view"])
            if "pass" in load or not self.simulations:
                return load
            said = self.simulate(load=load, noise=self.draw_noise(request["view"]))
            if said["refused"]:
                continue  # said["refused"]["message"] tells why
            best = load
            if not said["result"]["fallen"]:
                break
        return best

    def pose(self, view):
        """A load that numbers have nothing against, or a pass if none is found."""
        area = self.material.areas[view["area"]]
        supply = view["seats"][view["you"]]["supply"]
        kinds = [kind for kind, count in supply.items() if count]
        for _ in range(50):
            kind = self.rng.choice(kinds)
            load = {
                "kind": kind,
                "face": self.rng.choice(self.material.faces(kind, view["area"])),
                "u_mm": round(self.rng.uniform(*area["u_mm"]), 1),
                "v_mm": round(self.rng.uniform(*area["v_mm"]), 1),
                "yaw_deg": self.rng.choice([0, 90, 180, 270]),
                "hands_mm": [[45, 75], [45, -75]],
            }
            if not self.material.refusal(load, view["area"], supply):
                return load
        return {"pass": True}


run(MyBot())
