"""shipmate: plays Riff Raff, in one of three ways named by its argument.

- `random`: any card, and any pose that geometry allows.
- `tidy`: a stable face, straight, near the middle of the area, hands beside it; nothing where the ship would heel much.
- `lookahead` (without an argument): asks the referee's simulator what would come of the tidiest loads when hand and sea
  are unsteady, plays cards by the same means, and holds its hands where something would fall.
"""

import sys

from catching import beside
from lookahead import Lookahead
from places import Ship
from policy import Policy

PASS = {"pass": True}
TRIES = 60
TOO_BAD = 8  # degrees of heel, or what is as bad: then it rather passes


class Random(Policy):
    """Knows what is refused for sure, and nothing else."""

    def card(self, request):
        return self.rng.randrange(len(request["legal"]))

    new_captain = order = announce = card

    def load(self, request):
        view = request["view"]
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
        return PASS


class Tidy(Policy):
    """Plays by eye."""

    def card(self, request):
        """The area where a load lifts the lower side; a yard that lets me load two is worth 3 degrees of heel."""
        view = request["view"]
        ship = Ship(self.material, view)
        taken = {piece["on"] for piece in view["cargo"]}

        def cost(card):
            here = self.material.areas[card]
            u, v = (sum(here[side]) / 2 for side in ("u_mm", "v_mm"))
            return ship.heel("lifeboat", u, v, here["surface_mm"]) - 3 * (here["yard"] and card in taken)

        return min(range(len(request["legal"])), key=lambda index: cost(request["legal"][index]["card"]))

    def announce(self, request):
        return 1

    def load(self, request):
        """The free place nearest to the middle of the area, for the piece that comes up first."""
        view = request["view"]
        ship, here = Ship(self.material, view), self.material.areas[view["area"]]
        u, v = (sum(here[side]) / 2 for side in ("u_mm", "v_mm"))
        kinds = [kind for kind, count in view["seats"][view["you"]]["supply"].items() if count]
        self.rng.shuffle(kinds)
        is_second_try = "refused" in request
        for kind in kinds[is_second_try:]:
            places = sorted(ship.places(view["area"], kind), key=lambda place: (place.u - u) ** 2 + (place.v - v) ** 2)
            if places and places[0].cost < TOO_BAD:
                return places[0].load(beside(here))
        return PASS


POLICIES = {"random": Random, "tidy": Tidy, "lookahead": Lookahead}

if __name__ == "__main__":
    wanted = sys.argv[1] if len(sys.argv) > 1 else "lookahead"
    if wanted not in POLICIES:
        sys.exit(f"shipmate: no way to play is called {wanted!r}; known: {', '.join(POLICIES)}")
    POLICIES[wanted]().play()
