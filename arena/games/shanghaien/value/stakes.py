"""The worth of crews, cards of a row and tricks, in points of the final margin, and of the match after a round.

Rule: plain functions of counts and constants; the order of the draw pile is never looked at, only which cards are still
to come. Crews are exact here, nation by nation, and a joker is thought of where it will help most. The curve from an
expected margin to the chance to win is `chance_of`.
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from math import sqrt
from typing import Final, NamedTuple

from arena.games.shanghaien.cards import (
    JOKER_VALUE,
    NATIONS,
    SAILOR_COUNT,
    SAILOR_VALUES,
    Card,
    is_sailor,
    nation_of,
    strength_of,
)
from arena.games.shanghaien.state import ROUNDS
from arena.games.shanghaien.value.constants import CONSTANTS, scale
from arena.games.shanghaien.value.placed import AS_THE_OTHER, WINNERS, Won


def sum_in_order(terms: Iterable[float]) -> float:
    """Sum the terms, each rounded in its turn: `sum` has other last bits from Python 3.12 on."""
    total = 0.0
    for term in terms:
        total += term
    return total


def chance_of(deviations: float) -> float:
    """Return the chance to win with a margin of so many standard deviations expected.

    Student's distribution with 8 degrees of freedom: near the normal one, and it takes only operations that are rounded
    in the same way on every machine, so that the value has the same bits everywhere.
    """
    u = deviations / sqrt(8 + deviations * deviations)
    v = u * u
    return 0.5 + u * (35 - v * (35 - v * (21 - 5 * v))) / 32


def steepness(deviations: float) -> float:
    """Return the derivative of `chance_of`."""
    above = 8 + deviations * deviations
    return 35 / 4 * (8 / above) ** 3 / (above * sqrt(above))


CardParts = tuple[float, ...]
"""The part of a card in a margin, by the standing of the card."""
_NOT_YET: Final[CardParts] = ()


class Stake:
    """The part of a card in a side's margin: if this side wins it, if the other one does, and if nobody does."""

    __slots__ = ("_parts", "gone", "lost", "won")

    def __init__(self, won: float, lost: float, gone: float) -> None:
        self.won = won
        self.lost = lost
        self.gone = gone
        self._parts: list[CardParts] = [_NOT_YET] * (2 * len(CONSTANTS.chances))

    def parts(self, seat: int, count: int) -> CardParts:
        """Return the card's part of the margin by standing, if the side is this seat and has just placed a die.

        `count`: the dice placed by both sides together.
        """
        index = 2 * count + seat
        parts = self._parts[index]
        if not parts:
            by_win, by_loss, gone = self.won - self.gone, self.lost - self.gone, self.gone
            fates = _WAITING[seat][count]
            parts = self._parts[index] = tuple([gone + win * by_win + lose * by_loss for win, lose in fates])
        return parts


_NO_GAIN: Final = -100.0
"""Less than the loss that a joker can cause."""


class Jokers(NamedTuple):
    """The gains by a first and a second joker, laid where they help most; the nation of the first, -1 for none."""

    first: float
    second: float
    nation: int


_TRICK: Final = CONSTANTS.trick
_WON, _LOST = CONSTANTS.chances[0][0]
_WAITING: Final = [
    [[(chances[by][1], chances[by][0]) for by in seen] for chances in CONSTANTS.chances]
    for seen in (AS_THE_OTHER, range(len(AS_THE_OTHER)))
]
"""`chances` for the seat that does not move, by seat and as seat 0 sees the standing: it has just placed a die."""


@cache
def expected_margin(mine: int, theirs: int, pool: tuple[int, ...]) -> float:
    """Return the margin a nation will give if each card of the pool goes to either side with the chance `share`."""
    if pool:
        value, others = pool[0], pool[1:]
        won = expected_margin(mine + value, theirs, others) + expected_margin(mine, theirs + value, others)
        return CONSTANTS.share * won + (1 - 2 * CONSTANTS.share) * expected_margin(mine, theirs, others)
    if mine == theirs:
        return 0.0
    points = min(mine, theirs) or max(mine, theirs)
    return float(points if mine > theirs else -points)


def _mirror(won: float, lost: float, gone: float) -> tuple[Stake, Stake]:
    """Return the stakes of both sides by those of the first one."""
    return Stake(won, lost, gone), Stake(-lost, -won, -gone)


def worth_of(stake: Stake) -> float:
    """Return the part of a card in the margin of a side that starts the round."""
    return _WON * stake.won + _LOST * stake.lost + (1 - _WON - _LOST) * stake.gone


@cache
def _trick_stakes(rounds_left: int) -> tuple[Stake, Stake]:
    """Return the stakes of both sides in a trick card, with so many rounds left to use it."""
    worth = _TRICK[rounds_left]
    return _mirror(worth, -worth, 0.0)


@lru_cache(maxsize=4096)
def _sailor_stakes(mine: int, theirs: int, pool: tuple[int, ...], value: int) -> tuple[Stake, Stake]:
    """Return the stakes of both sides in a sailor of this value, by their crews of its nation.

    `pool` has the values of that nation's sailors still to come, this one among them.
    """
    at = pool.index(value)
    others = pool[:at] + pool[at + 1 :]
    now = expected_margin(mine, theirs, pool)
    return _mirror(
        expected_margin(mine + value, theirs, others) - now,
        expected_margin(mine, theirs + value, others) - now,
        expected_margin(mine, theirs, others) - now,
    )


def tricks_worth(held: int, first: float, second: float, rounds: int) -> float:
    """Return the worth of `held` unused tricks by the gains of jokers, with `rounds` left in which one can be used."""
    worth = _TRICK[rounds] * held + CONSTANTS.first_joker[rounds] * first
    return worth + CONSTANTS.second_joker[rounds] * second if held > 1 else worth


class Crews(NamedTuple):
    """The crews of a nation: seat 0's margin, and by seat the gain by a joker, also after the other has laid one."""

    margin: float
    joker: tuple[float, float]
    answer: tuple[float, float]


SailorPool = tuple[tuple[int, ...], ...]
"""The values of the sailors still to come by nation, in ascending order: 24 ways for each."""


@cache
def crews_of(mine: int, theirs: int, left: tuple[int, ...]) -> Crews:
    """Return the crews of these strengths with these sailors of their nation still to come."""
    margin = expected_margin(mine, theirs, left)
    more_mine, more_theirs = JOKER_VALUE if mine else 0, JOKER_VALUE if theirs else 0
    with_mine = expected_margin(mine + more_mine, theirs, left)
    with_theirs = expected_margin(mine, theirs + more_theirs, left)
    with_both = expected_margin(mine + more_mine, theirs + more_theirs, left)
    return Crews(margin, (with_mine - margin, margin - with_theirs), (with_both - with_theirs, with_mine - with_both))


@cache
def _worth_of_each(mine: int, theirs: int, left: tuple[int, ...]) -> tuple[float, ...]:
    """Return the worth of each of the sailors to the side that has the first crew, were it in the row."""
    return tuple([worth_of(_sailor_stakes(mine, theirs, left, value)[0]) for value in left])


@lru_cache(maxsize=1024)
def pool_of(cards: tuple[Card, ...]) -> SailorPool:
    """Return the values of the sailors among `cards`: a tuple for each nation, ascending."""
    values: list[list[int]] = [[] for _ in NATIONS]
    for card in sorted(cards):
        if card < SAILOR_COUNT:  # as the functions of `cards` say it, whose calls take most of the time
            values[card // len(SAILOR_VALUES)].append(SAILOR_VALUES[card % len(SAILOR_VALUES)])
    return tuple(map(tuple, values))


def stakes_of(
    card: Card, mine: Sequence[int], theirs: Sequence[int], pool: SailorPool, rounds_left: int
) -> tuple[Stake, Stake]:
    """Return the stakes of a card of the pool, or of a trick, to the side of the crews `mine`, and to the other."""
    if not is_sailor(card):
        return _trick_stakes(rounds_left)
    nation = nation_of(card)
    return _sailor_stakes(mine[nation], theirs[nation], pool[nation], strength_of(card))


def jokers_of(crews: list[Crews], strength: Sequence[int], seat: int) -> Jokers:
    """Return the gains by jokers laid to the crews of the seat, which has this strength in each nation."""
    first, second, best = _NO_GAIN, _NO_GAIN, -1
    for nation, crew in enumerate(crews):
        if not strength[nation]:
            continue
        gain = crew.joker[seat]
        if gain >= first:
            first, second, best = gain, first, nation
        elif gain > second:
            second = gain
    return Jokers(first if first != _NO_GAIN else 0.0, second if second != _NO_GAIN else 0.0, best)


_BySeat = tuple[int, ...]
_NO_NATION: Final = -1


class Side(NamedTuple):
    """A seat's crews, its unused tricks, how many of these have a joker side, and if one was used in this round."""

    strength: tuple[int, ...]
    tricks: int
    jokers: int
    has_used: bool


@lru_cache(maxsize=32)
def before_dice(rounds_left: int, pool: SailorPool, first: Side, second: Side) -> tuple[float, tuple[Jokers, Jokers]]:
    """Return seat 0's margin before the dice of a round, were the row even, and by seat the gains by jokers.

    `pool`: the cards to come, those in the row among them.
    """
    crews = [*map(crews_of, first.strength, second.strength, pool)]
    mine, theirs = jokers_of(crews, first.strength, 0), jokers_of(crews, second.strength, 1)
    margin = sum_in_order([crew.margin for crew in crews])
    margin += _tricks_before(first, mine, rounds_left)
    margin -= _tricks_before(second, theirs, rounds_left)
    return margin, (mine, theirs)


def _tricks_before(side: Side, gains: Jokers, rounds_left: int) -> float:
    """Return the worth of the unused tricks of a side before a round."""
    if not side.tricks:
        return 0.0
    return tricks_worth(side.tricks, gains.first, gains.second, rounds_left + (not side.has_used))


def total_worth(mine: Sequence[int], theirs: Sequence[int], pool: SailorPool, tricks: int, rounds_left: int) -> float:
    """Return the worth of all cards that can lie in a row: the sailors of the pool and so many tricks."""
    worths: list[float] = []
    for nation, left in enumerate(pool):
        worths += _worth_of_each(mine[nation], theirs[nation], left)
    worths += [worth_of(_trick_stakes(rounds_left)[0])] * tricks
    return sum_in_order(worths)


class Endings:
    """The payoffs of seat 0 after a round, by the winners of its cards and the starter of the next one."""

    def __init__(self, number: int, row: tuple[Card, ...], pile: tuple[Card, ...], sides: tuple[Side, Side]) -> None:
        self._is_last = number == ROUNDS
        self._start, self._per_point = (
            (0.0, 1.0) if number == ROUNDS else (CONSTANTS.start[number + 1], scale(number + 1, 0))
        )
        self._rounds_left = ROUNDS - number
        self.known: list[dict[Won, float]] = [{}, {}]
        places: dict[int, tuple[int, ...]] = {}
        for place, card in enumerate(row):
            nation = nation_of(card) if is_sailor(card) else _NO_NATION
            places[nation] = (*places.get(nation, ()), place)
        first, second = sides
        self._contested: list[tuple[list[int], list[Crews]]] = []
        self._others: list[Crews] = []
        for nation, left in enumerate(pool_of(pile)):
            mine, theirs = first.strength[nation], second.strength[nation]
            if nation in places:
                here = places[nation]
                strengths = _sums_after(mine, theirs, [strength_of(row[place]) for place in here])
                self._contested.append((_ways_by_winners(here), [crews_of(*pair, left) for pair in strengths]))
            else:
                self._others.append(crews_of(mine, theirs, left))
        self._others_margin = sum_in_order([crews.margin for crews in self._others])
        self._others_best = [sorted([0.0, 0.0, *[crews.joker[seat] for crews in self._others]])[-2:] for seat in (0, 1)]
        tricks = places.get(_NO_NATION, ())
        self._trick_ways = _ways_by_winners(tricks)
        self._tricks = _sums_after(first.tricks, second.tricks, [1] * len(tricks))
        self._plain_tricks = first.tricks - first.jokers, second.tricks - second.jokers

    def payoff(self, won: Won, starter: int) -> float:
        """Return the expected payoff of seat 0, the very payoff after the last round, and keep it in `known`."""
        known = self.known[starter]
        payoff = known.get(won)
        if payoff is None:
            payoff = known[won] = self._payoff(won, starter)
        return payoff

    def _payoff(self, won: Won, starter: int) -> float:
        """Compute the payoff of seat 0 for these winners of the cards and this starter of the next round."""
        crews = []
        of_contested = 0.0
        for ways, outcomes in self._contested:
            after = outcomes[ways[won]]
            crews.append(after)
            of_contested += after.margin
        margin = self._others_margin + of_contested
        mine, theirs = self._tricks[self._trick_ways[won]]
        if self._is_last:
            margin += mine - theirs
            return 0.5 if margin == 0 else float(margin > 0)
        margin += self._start if starter == 0 else -self._start
        if mine or theirs:
            margin += self._tricks_margin(crews, (mine, theirs), starter)
        return chance_of(margin * self._per_point)

    def _tricks_margin(self, crews: list[Crews], held: _BySeat, starter: int) -> float:
        """Return the margin from unused tricks. Before the last round half by rule of thumb, half by what will be laid.

        Bots that play the round before do not think that far: half and half predicts their matches best.
        """
        margin = self._tricks_worth(crews, held[0], 0) - self._tricks_worth(crews, held[1], 1)
        if self._rounds_left > 1:
            return margin
        jokers = held[0] - self._plain_tricks[0], held[1] - self._plain_tricks[1]
        return 0.5 * margin + 0.5 * _margin_of_last_tricks(self._others + crews, held, jokers, starter)

    def _tricks_worth(self, crews: list[Crews], held: int, seat: int) -> float:
        """Return the worth of so many unused tricks of the seat, with these crews of the nations in the row."""
        if not held:
            return 0.0
        second, first = self._others_best[seat]
        for crew in crews:
            gain = crew.joker[seat]
            if gain > first:
                first, second = gain, first
            elif gain > second:
                second = gain
        return tricks_worth(held, first, second, self._rounds_left)


def _sums_after(mine: int, theirs: int, cards: list[int]) -> list[_BySeat]:
    """Return the sums of both seats after these cards: for each in turn nobody wins it, seat 0 does, or seat 1."""
    sums: list[_BySeat] = [(mine, theirs)]
    for card in cards:
        sums += [(first + card, second) for first, second in sums] + [(first, second + card) for first, second in sums]
    return sums


@cache
def _ways_by_winners(places: tuple[int, ...]) -> list[int]:
    """Return by `Won` the index in `_sums_after` of the cards at these places."""
    powers = [3**card for card in range(len(places))]
    return [
        sum([winners[place] % 3 * power for place, power in zip(places, powers, strict=True)]) for winners in WINNERS
    ]


def _margin_of_last_tricks(all_crews: list[Crews], held: _BySeat, jokers: _BySeat, starter: int) -> float:
    """Return the margin from unused tricks in the last round: a side lays a joker if it helps, the starter first."""
    other = 1 - starter
    of_starter, of_other = float(held[starter]), float(held[other])
    laid = _NO_NATION
    if jokers[starter]:
        gains = [crews.joker[starter] for crews in all_crews]
        best = max(gains)
        if best > _TRICK[0]:
            of_starter += best - _TRICK[0]
            laid = gains.index(best)
    if jokers[other]:
        gain = max(
            [crews.answer[other] if nation == laid else crews.joker[other] for nation, crews in enumerate(all_crews)]
        )
        of_other += max(0.0, gain - _TRICK[0])
    return of_starter - of_other if starter == 0 else of_other - of_starter
