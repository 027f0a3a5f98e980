"""How far a league is that is played in rounds, in words.

Rule: what a person is told is computed from what is stored; nothing is remembered between two runs.
"""

from arena.cli.progress import Progress
from arena.league.schedule import Pairing, Round, is_open_ended, match_count
from arena.league.tournament import Tournament
from arena.store.matches import MatchStore
from arena.text import counted


def names_of(store: MatchStore, tournament: Tournament) -> dict[str, list[str]]:
    """The players of each pairing known by now, by its key."""
    return {span.pairing.key: seated(span.pairing) for span in store.spans(tournament)}


def seated(pairing: Pairing) -> list[str]:
    """The names of its players, in its order."""
    return [player.name for player in pairing.players]


def _done(store: MatchStore, tournament: Tournament) -> int:
    """Stored matches of the tournament."""
    return sum(map(len, store.finished(tournament).values())) * tournament.seats


def how_far(store: MatchStore, tournament: Tournament) -> str:
    """Matches stored and asked for, and the round where there is more than one."""
    done, ends = _done(store, tournament), list[object]()
    reached = list(store.rounds(tournament, tell=ends.append))
    if is_open_ended(tournament) and not ends:
        most = counted(match_count(tournament), "match", "matches")
        return f"{done} of at most {most}, {called(reached[-1])}"
    total = sum(each.matches for each in reached) if ends else match_count(tournament)
    said = f"{done} of {counted(total, 'match', 'matches')}"
    return said if ends or not reached[-1].is_awaited else f"{said}, {called(reached[-1])}"


def called(current: Round) -> str:
    """A round as a person reads of it: `round 2 of 5`, `round 3: final`."""
    return current.title if current.title.startswith("round") else f"round {current.number}: {current.title}"


def news_of(store: MatchStore, tournament: Tournament) -> list[str]:
    """What the schedule says of the rounds that are complete."""
    ends: list[str] = []
    told = [sentence for each in store.rounds(tournament, tell=ends.extend) for sentence in each.news]
    return told + ends


class RoundProgress(Progress):
    """The same with the round in which the league is; where nobody knows how many will follow, up to that round.

    `whole` is the number of all matches in words, `at most 40` if results decide how many there will be.
    """

    def __init__(self, store: MatchStore, tournament: Tournament) -> None:
        super().__init__(
            total=match_count(tournament), done=_done(store, tournament), forfeits=store.forfeits(tournament)
        )
        self._is_open_ended = is_open_ended(tournament)
        self.whole = f"{'at most ' if self._is_open_ended else ''}{self.total}"
        self._known = 0
        self._round = ""

    def begin(self, current: Round) -> None:
        """The next round is known: the first one, or the one after it, in their order."""
        self._known += current.matches
        if self._is_open_ended:
            self.total = self._known
        more = f" ({self.whole} in all)" if self._is_open_ended else ""
        self._round = f", {called(current)}{more}" if current.is_awaited else ""

    def words(self) -> str:
        """See Progress.words."""
        return super().words() + self._round
