"""Results that grow round by round -> the skills by MAP after each, found from where they were before.

Rule: the same maximum as that of a fit from scratch (`arena.statistics.probit`). Who meets whom in the first round is
laid out once; each later round only adds to its counts, and a few steps from the last maximum lead to the next one.
"""

from collections.abc import Sequence

from arena.statistics.comparisons import table_of
from arena.statistics.model import ProbitSettings
from arena.statistics.newton import maximise
from arena.statistics.pairs import Pairing


class GrowingSkills:
    """The skills of `players`, by the first round and those that are added."""

    def __init__(self, players: Sequence[str], first: Sequence[Pairing], settings: ProbitSettings) -> None:
        table = table_of(players, first)
        self._players = table.players
        self._places = {tuple(places): number for number, places in enumerate(table.places.tolist())}
        self._design, self._counts = table.design(settings), table.counts()
        self._found = self._design.centre

    def add(self, pairings: Sequence[Pairing]) -> None:
        """Another round of some of these pairings; KeyError for one that is none of the first round."""
        table = table_of(self._players, pairings)
        for places, counts in zip(table.places.tolist(), table.counts(), strict=True):
            self._counts[self._places[tuple(places)]] += counts

    def means(self) -> dict[str, float]:
        """The skill of each player; only differences mean anything."""
        self._found = maximise(self._design, self._counts.reshape(1, -1, 3), self._found).parameters[0]
        return dict(zip(self._players, self._found.tolist(), strict=False))
