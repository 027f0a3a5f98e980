"""A person at the table, in the terminal.

Rule: a person sees what a bot may see, drawn for people, and chooses from the same legal actions. No clock runs.
"""

from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from arena.errors import BotFault
from arena.games.api import Game, Json, Seat
from arena.match.contestant import TranscriptLine
from arena.match.terms import ClockSettings
from arena.protocol.messages import ActionEvent, Answer, ChanceEvent, MatchStart

DRAWN = "drawn"
"""The key under which `DrawnGame` adds the table as text to a view."""

HELP = (
    "Type the number in front of an action, then Enter. Only legal actions are listed, and there is no clock for you.\n"
    "A move that is the only one goes by itself and is marked (forced). q gives up and loses the match."
)


class Resigned(BotFault):
    """The person has had enough."""

    code = "illegal_action"


class DrawnGame:
    """A game whose view for one seat holds the table as text; everything else is the game itself."""

    def __init__(self, game: Game[Any, Any], seat: int) -> None:
        self._game = game
        self._seat = seat

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def observe(self, state: Any, seat: Seat) -> dict[str, Json]:
        """The view, with the table as text for the person's seat."""
        view = self._game.observe(state, seat)
        return {**view, DRAWN: self._game.describe(state)} if seat == self._seat else view


class Person:
    """Asks by `say` and `prompt`, functions that show a line and that ask for one."""

    def __init__(self, *, say: Callable[[str], None], prompt: Callable[[str], str]) -> None:
        self.player = "you"
        self.bot = "person"
        self.terms = ClockSettings(decides="wall").terms()
        self.moves = 0
        self.cpu_s = self.wall_s = self.slowest_s = 0.0
        self.ignored: Counter[str] = Counter()
        self.transcript: deque[TranscriptLine] = deque()
        self._say = say
        self._prompt = prompt
        self._players: tuple[str, ...] = ()
        self._request_id = 0

    def begin(self, start: MatchStart) -> None:
        """See Participant.begin."""
        self._players = start.players
        self._say(f"You sit in seat {start.seat}. Type the number of an action, ? for help, q to give up.")

    def ask(self, view: dict[str, Json], legal: tuple[Any, ...] | None) -> Answer:
        """See Participant.ask."""
        assert legal is not None, "games with unlistable actions need a board of their own"
        table = [f"\n{view[DRAWN]}\n", *(f"  {number:>2}  {action}" for number, action in enumerate(legal, start=1))]
        for line in table:
            self._say(line)
        self.moves += 1
        self._request_id += 1
        return Answer(id=self._request_id, action=self._choose(len(legal), table))

    def happened(self, event: ActionEvent | ChanceEvent) -> None:
        """See Participant.happened."""
        if isinstance(event, ChanceEvent):
            self._say(f"dice: {' '.join(map(str, event.outcome))}")
        else:
            self._say(f"{self._players[event.seat]}: {event.action}{' (forced)' if event.forced else ''}")

    def finish(
        self, *, ranks: tuple[int, ...], scores: tuple[int, ...] | None, termination: str, at_fault: int | None
    ) -> None:
        """See Participant.finish."""

    def fail(self, fault: BotFault) -> None:
        """See Participant.fail."""

    def stderr(self) -> str:
        """See Participant.stderr."""
        return ""

    def _choose(self, count: int, table: list[str]) -> int:
        """The index of the action that was chosen; for help the `table` is shown again."""
        while True:
            text = self._prompt(f"your action, 1 to {count}").strip()
            if text in {"q", "quit"}:
                raise Resigned("gave up")
            if text in {"?", "h", "help"}:
                for line in [*table, "", HELP]:
                    self._say(line)
                continue
            numbers = [str(number) for number in range(1, count + 1)]
            if text in numbers:
                return numbers.index(text)
            self._say(f"{text!r} is not a number from 1 to {count}")
