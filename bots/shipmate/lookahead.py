"""The policy `lookahead`: try the best places in the simulator, under noise, and take what leaves the fewest pieces.

A *trial* is a place with what came of it in some weathers. The most promising one is always tried next, until it has
been tried often enough and still is; so an easy decision takes few simulations, a hard one takes what there are.
"""

from catching import beside, best_hands
from places import BOLD, Ship
from policy import Policy

LIMIT = 12  # simulations for one decision at most, whatever the referee allows
WEATHERS = 3  # in which the best trial must have been tried
CANDIDATES = 10  # pieces, or cards, among which it chooses: all
HEAVIEST = 3  # kinds with which cards are judged: they are loaded first, see HEAVY
HEAVY = 0.05  # degrees of heel that it is worth to be rid of a g: heavy pieces are best loaded while there are few
# Everything is counted in pieces: a degree of heel, a second piece that a card allows, a card that would allow it with
# better luck, and in the last turn each number of the card, because of those who finish the first one wins.
HEEL = 0.03
TWO = 0.9
SPARE = 0.2
SOONER = 0.12


class Trial:
    """A place on an area, and what came of it. `bonus`: pieces that speak for it besides."""

    def __init__(self, area, place, mass, bonus=0.0):
        self.area = area
        self.place = place
        self.prior = -1 + HEEL * (place.cost - HEAVY * mass) - bonus
        self.samples = []
        self.hands = ()
        self.change = -1.0
        self.is_refused = False

    def worth(self):
        """Pieces to be expected in the supply afterwards, less is better; by its heel as long as nothing is known."""
        return self.prior + 1 + self.change

    def learn(self, said, known, default, hands):
        """Take note of what came of it once more."""
        if said["refused"]:
            self.is_refused = True
            return
        falls = [(fall["id"], fall["x_mm"], fall["y_mm"]) for fall in said["result"]["fallen"]]
        aboard = {piece["id"] for piece in said["result"]["cargo"]} | {piece for piece, _, _ in falls}
        (new,) = aboard - known
        self.samples.append((falls, new))
        self.hands, self.change = best_hands(self.samples, default, hands["radius_mm"], hands["holds"])


class Lookahead(Policy):
    """Plays by simulation."""

    def __init__(self):
        super().__init__()
        self.numbers = {"candidates": CANDIDATES, "weathers": WEATHERS}

    def card(self, request):
        """The card on whose area a piece lies best; where two can be loaded, the better. Until its turn much happens."""
        view = request["view"]
        ship = Ship(self.material, view)
        heaviest = sorted(self.kinds(view), key=ship.mass)[-HEAVIEST:]
        taken = {piece["on"] for piece in view["cargo"]}
        trials = []
        for action in request["legal"]:
            area = action["card"]
            places = [place for kind in heaviest for place in ship.places(area, kind)]
            if places:
                place = min(places, key=lambda place: place.cost - HEAVY * ship.mass(place.kind))
                trials.append(Trial(area, place, ship.mass(place.kind), self.promise(area, taken, self.pieces(view))))
        best = min(self.some(trials), key=rank, default=None)
        return {"card": best.area} if best else 0

    def some(self, trials):
        """As many of them as are considered."""
        return self.rng.sample(trials, min(len(trials), self.numbers["candidates"]))

    def promise(self, area, taken, pieces):
        """What speaks for a card besides its first piece."""
        is_yard = self.material.areas[area]["yard"]
        has_two = is_yard and area in taken and pieces > 1
        bonus = TWO if has_two else -SPARE * (is_yard and pieces > 1)
        return bonus + SOONER * area * (pieces <= 1 + has_two)

    def new_captain(self, request):
        return self.first(request, lambda action: action["seat"])

    def order(self, request):
        return self.first(request, lambda action: action["seats"][0])

    def first(self, request, of):
        """The choice that lets me move first, or else the first one."""
        return next((i for i, action in enumerate(request["legal"]) if of(action) == request["view"]["you"]), 0)

    def announce(self, request):
        """Two, if two kinds of pieces have a good place now: it is binding, so that even a bad one must be loaded."""
        view = request["view"]
        ship = Ship(self.material, view)
        return int(sum(any(ship.places(view["area"], kind)) for kind in self.kinds(view)) > 1)

    def load(self, request):
        view = request["view"]
        ship, area = Ship(self.material, view), view["area"]
        trials = []
        for kind in self.kinds(view):
            places = list(ship.places(area, kind)) or list(ship.places(area, kind, BOLD))
            if places:
                trials.append(Trial(area, min(places), ship.mass(kind)))
        if "refused" in request and trials:  # which happens only to what could not be simulated
            trials.remove(min(trials, key=rank))
        best = self.race(view, self.some(trials))
        if best is None:
            return self.any_load(view)
        return best.place.load(best.hands or beside(self.material.areas[area]))

    def any_load(self, view):
        """Of some poses without a thought the first that has room, where no good one is left."""
        while self.simulations > 0:
            pose = self.random_pose(view)
            if "pass" in pose or not self.simulate(load=pose)["refused"]:
                return pose
        return self.random_pose(view)

    def kinds(self, view):
        """What I hold."""
        return [kind for kind, count in view["seats"][view["you"]]["supply"].items() if count]

    def pieces(self, view):
        """How many I hold."""
        return sum(view["seats"][view["you"]]["supply"].values())

    def race(self, view, trials):
        """The best trial; None if all are refused."""
        known = {piece["id"] for piece in view["cargo"]}
        hands = self.material.told["load"]["hands"]
        weathers = []
        for _ in range(LIMIT):
            if not trials:
                return None
            if self.simulations <= 0:
                break
            best = min(trials, key=rank)
            if len(best.samples) >= self.numbers["weathers"]:
                return best
            if len(weathers) == len(best.samples):  # all trials meet the same weathers, in the same order
                weathers.append(self.draw_noise(view))
            said = self.simulate(area=best.area, load=best.place.load(), noise=weathers[len(best.samples)])
            best.learn(said, known, beside(self.material.areas[best.area]), hands)
            trials = [trial for trial in trials if not trial.is_refused]
        tried = [trial for trial in trials if trial.samples]
        return min(tried or trials, key=rank, default=None)


def rank(trial):
    """The most promising first; an order without ties, so that equal requests get equal answers."""
    return trial.worth(), trial.area, trial.place
