"""Results that grow round by round -> the skills by MAP after each, found from where they were before.

Rule: the same maximum as that of a fit from scratch (`arena.statistics.probit`). Who meets whom in the first round is
laid out once; each later round only adds to its counts, and a few steps from the last maximum lead to the next one.
"""

from arena.statistics.comparisons import Table
from arena.statistics.model import ProbitSettings
from arena.statistics.newton import maximise


class GrowingSkills:
    """The skills by the table of the first round and those of the rounds that are added."""

    def __init__(self, table: Table, settings: ProbitSettings) -> None:
        self._players = table.players
        self._places = {tuple(places): number for number, places in enumerate(table.places.tolist())}
        self._design, self._counts = table.design(settings), table.counts()
        self._found = self._design.centre

    def add(self, table: Table) -> None:
        """Another round of some of these pairings; KeyError for one that is none of the first round."""
        for places, counts in zip(table.places.tolist(), table.counts(), strict=True):
            self._counts[self._places[tuple(places)]] += counts

    def means(self) -> dict[str, float]:
        """The skill of each player; only differences mean anything."""
        self._found = maximise(self._design, self._counts.reshape(1, -1, 3), self._found).parameters[0]
        return dict(zip(self._players, self._found.tolist(), strict=False))
