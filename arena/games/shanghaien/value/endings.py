"""What the match is worth once the round has ended with its cards won in some way.

Rule: crews are exact here, nation by nation, and a joker is thought of where it will help most.
"""

from typing import NamedTuple

from arena.games.shanghaien.cards import JOKER_VALUE, Card, is_sailor, nation_of, value_of
from arena.games.shanghaien.state import ROUNDS
from arena.games.shanghaien.value.chance import chance_of, scale
from arena.games.shanghaien.value.constants import START, TRICK
from arena.games.shanghaien.value.stakes import Jokers, expected, pool_of, tricks_worth

Won = tuple[int, ...]
"""Who wins each card, by position from the left: 1 seat 0, -1 seat 1, 0 nobody."""


class Side(NamedTuple):
    """What a seat brings into a round, but for the dice.

    Its crews, its unused tricks, how many of these have a joker side, and if one was used in this round.
    """

    strength: tuple[int, ...]
    tricks: int
    jokers: int
    has_used: bool


class _Crew(NamedTuple):
    """A nation after the round: seat 0's margin, and by seat what a joker adds, also after the other has laid one."""

    margin: float
    joker: tuple[float, float]
    answer: tuple[float, float]


class _Contested(NamedTuple):
    """A nation with cards in the row: their positions and values, and the crews by who wins each."""

    nation: int
    places: tuple[int, ...]
    values: tuple[int, ...]
    known: dict[Won, _Crew]


class Endings:
    """The payoffs of seat 0 after a round, by how its cards were won and who starts the next one."""

    def __init__(self, number: int, row: tuple[Card, ...], pile: tuple[Card, ...], sides: tuple[Side, Side]) -> None:
        self._number = number
        self._sides = sides
        self._pool = pool_of(pile)
        self._tricks = [place for place, card in enumerate(row) if not is_sailor(card)]
        places: list[list[int]] = [[] for _ in self._pool]
        for place, card in enumerate(row):
            if is_sailor(card):
                places[nation_of(card)].append(place)
        self._contested = [
            _Contested(nation, tuple(where), tuple([value_of(row[place]) for place in where]), {})
            for nation, where in enumerate(places)
            if where
        ]
        self._others = [self._crew(nation, 0, 0) for nation, where in enumerate(places) if not where]
        self._others_margin = sum([crew.margin for crew in self._others])
        self._others_gains = tuple(
            [sorted([0.0, 0.0, *[crew.joker[seat] for crew in self._others]]) for seat in (0, 1)]
        )
        self._payoffs: dict[tuple[int, Won], float] = {}

    def payoff(self, won: Won, starter: int) -> float:
        """The expected payoff of seat 0; the very payoff after the last round."""
        key = (starter, won)
        known = self._payoffs.get(key)
        if known is None:
            known = self._payoffs[key] = self._work_out(won, starter)
        return known

    def _work_out(self, won: Won, starter: int) -> float:
        crews = [self._after(contested, won) for contested in self._contested]
        margin = self._others_margin + sum([crew.margin for crew in crews])
        tricks = [won[place] for place in self._tricks]
        gained = tricks.count(1), tricks.count(-1)
        first, second = self._sides
        held = first.tricks + gained[0], second.tricks + gained[1]
        left = ROUNDS - self._number
        if left == 0:
            margin += held[0] - held[1]
            return 0.5 if margin == 0 else float(margin > 0)
        jokers = first.jokers + gained[0], second.jokers + gained[1]
        margin += START[self._number + 1] if starter == 0 else -START[self._number + 1]
        if held != (0, 0):
            margin += self._tricks_margin(crews, held, jokers, starter)
        return chance_of(margin * scale(self._number + 1, 0))

    def _tricks_margin(self, crews: list[_Crew], held: tuple[int, int], jokers: tuple[int, int], starter: int) -> float:
        """The margin from unused tricks. Before the last round half by rule of thumb, half by what will be laid.

        Bots that play the round before do not think that far: half and half foretells their matches best.
        """
        margin = self._tricks_worth(crews, held)
        if self._number + 1 < ROUNDS:
            return margin
        return 0.5 * margin + 0.5 * self._last_tricks(crews, held, jokers, starter)

    def _tricks_worth(self, crews: list[_Crew], held: tuple[int, int]) -> float:
        """The margin from unused tricks while there are several rounds to use them in."""
        left = ROUNDS - self._number
        worths = [tricks_worth(held[seat], self._best_two(crews, seat), left) if held[seat] else 0 for seat in (0, 1)]
        return worths[0] - worths[1]

    def _best_two(self, crews: list[_Crew], seat: int) -> Jokers:
        *_, second, best = self._others_gains[seat]
        for crew in crews:
            gain = crew.joker[seat]
            if gain > best:
                best, second = gain, best
            elif gain > second:
                second = gain
        return Jokers(best, second, -1)

    def _last_tricks(self, crews: list[_Crew], held: tuple[int, int], jokers: tuple[int, int], starter: int) -> float:
        """The margin from unused tricks in the last round: each side lays a joker if that helps, the starter first."""
        every = self._others + crews
        other = 1 - starter
        margins = [float(held[0]), float(held[1])]
        laid = None
        if jokers[starter]:
            best = max(every, key=lambda crew: crew.joker[starter])
            if best.joker[starter] > TRICK[0]:
                margins[starter] += best.joker[starter] - TRICK[0]
                laid = best
        if jokers[other]:
            gain = max([crew.answer[other] if crew is laid else crew.joker[other] for crew in every])
            margins[other] += max(0.0, gain - TRICK[0])
        return margins[0] - margins[1]

    def _after(self, contested: _Contested, won: Won) -> _Crew:
        key = tuple([won[place] for place in contested.places])
        known = contested.known.get(key)
        if known is None:
            gains = list(zip(key, contested.values, strict=True))
            mine = sum([value for winner, value in gains if winner > 0])
            theirs = sum([value for winner, value in gains if winner < 0])
            known = contested.known[key] = self._crew(contested.nation, mine, theirs)
        return known

    def _crew(self, nation: int, mine: int, theirs: int) -> _Crew:
        """The nation with so much more strength on both sides."""
        first, second = self._sides
        mine += first.strength[nation]
        theirs += second.strength[nation]
        pool = self._pool[nation]
        margin = expected(mine, theirs, pool)
        more_mine, more_theirs = JOKER_VALUE if mine else 0, JOKER_VALUE if theirs else 0
        with_mine = expected(mine + more_mine, theirs, pool)
        with_theirs = expected(mine, theirs + more_theirs, pool)
        with_both = expected(mine + more_mine, theirs + more_theirs, pool)
        return _Crew(
            margin, (with_mine - margin, margin - with_theirs), (with_both - with_theirs, with_mine - with_both)
        )
