"""shipmate: plays Riff Raff, in one of three ways named by its argument.

- `random`: any card, and any pose that geometry allows.
- `tidy`: a stable face, straight, near the middle of the area, hands beside it; nothing where the ship would heel much.
- `lookahead` (without an argument): asks the referee's simulator what would come of the tidiest loads when hand and sea
  are unsteady, and holds its hands where something would fall. Two numbers weaken it: `lookahead candidates=2` chooses
  among so many cards and pieces only, drawn by lot, `lookahead weathers=1` tries each load in so many weathers.
"""

import sys

from catching import beside
from lookahead import Lookahead
from places import BOLD, TIDY, Ship
from policy import Policy

MUCH = 8  # degrees of heel, or what is as bad


class Random(Policy):
    """Knows what is refused for sure, and nothing else."""

    def card(self, request):
        return self.rng.randrange(len(request["legal"]))

    new_captain = order = announce = card


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
        """Two where two kinds have a place that does not heel the ship much."""
        return int(sum(place.cost < MUCH for place in self.best(request["view"], TIDY)) > 1)

    def load(self, request):
        """The piece and the place that heel the ship least; the next best if that was refused."""
        view = request["view"]
        places = self.best(view, TIDY) or self.best(view, BOLD)
        if "refused" in request:
            places = places[1:]
        return places[0].load(beside(self.material.areas[view["area"]])) if places else self.random_pose(view)

    def best(self, view, manner):
        """The best place of each kind that I hold, the best first."""
        ship, supply = Ship(self.material, view), view["seats"][view["you"]]["supply"]
        places = [min(ship.places(view["area"], kind, manner), default=None) for kind in supply if supply[kind]]
        return sorted(filter(None, places))


POLICIES = {"random": Random, "tidy": Tidy, "lookahead": Lookahead}

if __name__ == "__main__":
    wanted, *numbers = sys.argv[1:] or ["lookahead"]
    if wanted not in POLICIES:
        sys.exit(f"shipmate: no way to play is called {wanted!r}; known: {', '.join(POLICIES)}")
    policy = POLICIES[wanted]()
    for name, equals, value in (each.partition("=") for each in numbers):
        if name not in policy.numbers or not equals or not value.isdecimal() or not int(value):
            known = ", ".join(policy.numbers) or "none"
            sys.exit(
                f"shipmate: {name + equals + value!r} is no number of {wanted}; known: {known}, each as NAME=1 or more"
            )
        policy.numbers[name] = int(value)
    policy.play()
