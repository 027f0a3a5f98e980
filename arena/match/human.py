"""A person at the table, in the terminal.

Rule: a person sees what a bot may see, drawn for people, and chooses from the same legal actions, or writes one down
where they cannot be listed. No clock runs.
"""

import json
import random
from collections import Counter, deque
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from arena.errors import BotFault, MalformedReply
from arena.games.api import Game, Json, Seat, fault_policy_of, simulator_of
from arena.match.participant import ActionRequest, TranscriptLine
from arena.match.record import Requests, SeatLines
from arena.match.settings import ClockSettings
from arena.match.suggestion import random_action
from arena.protocol import codec
from arena.protocol.messages import ActionEvent, Answer, AnyEvent, ChanceEvent, MatchStart

DRAWN: Final = "drawn"
"""The key under which `DrawnGame` adds the table as text to a view."""
TOLD: Final = "told"
"""What simulations came to since the last view, in sentences."""
SUGGESTED: Final = "suggested"
"""Some actions, and under `STAND_IN` what passes for none, where the legal ones cannot be listed."""
_LARGEST_DIE: Final = 100
"""What is drawn with larger dice is no throw that a person reads; what comes of it is told by the game."""
STAND_IN: Final = "stand_in"
_SUGGESTIONS: Final = 3

HELP: Final = (
    "Type the number in front of an action, then Enter. Only legal actions are listed, and there is no clock for you.\n"
    "A move that is the only one goes by itself and is marked (forced). q gives up and loses the match."
)
HELP_UNLISTED: Final = (
    "The actions cannot be listed here. Type one as a JSON object, as protocol.md describes it for this game; s shows\n"
    "an example that you may play, p does what happens without an action. There is no clock for you. q gives up and\n"
    "loses the match."
)


class Resigned(BotFault):
    """The person has had enough."""

    code = "illegal_action"


class DrawnGame:
    """A game whose view for one seat is made for a person; everything else is the game itself.

    Besides the table as text the view holds what simulations came to, and actions where none can be listed.
    """

    def __init__(self, game: Game[Any, Any], seat: int) -> None:
        self._game = game
        self._seat = seat
        self._random = random.Random(0)  # noqa: S311 - examples, not secrets
        simulator = simulator_of(game)
        if simulator is not None:
            self.simulator = _ToldNature(simulator)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def observe(self, state: Any, seat: Seat) -> dict[str, Json]:
        """The view, with what a person needs for the person's seat."""
        view = self._game.observe(state, seat)
        if seat != self._seat:
            return view
        told = self.simulator.told() if simulator_of(self._game) is not None else []
        view = {**view, DRAWN: self._game.describe(state), TOLD: told}
        if self._game.legal(state, seat) is not None:
            return view
        fault_policy = fault_policy_of(self._game)
        return {
            **view,
            SUGGESTED: [random_action(self._game, state, seat, self._random) for _ in range(_SUGGESTIONS)],
            STAND_IN: None if fault_policy is None else fault_policy.fallback_action(state, seat),
        }


class _ToldNature:
    """A nature that remembers what it would tell a person."""

    def __init__(self, simulator: Any) -> None:
        self._simulator = simulator
        self._told: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._simulator, name)

    def apply_result(self, state: Any, result: Json) -> Any:
        """See Simulator.settle."""
        after = self._simulator.apply_result(state, result)
        self._told.append(self._simulator.tell(state, result, after))
        return after

    def told(self) -> list[str]:
        """What was not yet told."""
        told, self._told = [sentence for sentence in self._told if sentence], []
        return told


class HumanPlayer:
    """Asks by `say` and `prompt`, functions that show a line and that ask for one."""

    is_person = True

    def __init__(self, *, say: Callable[[str], None], prompt: Callable[[str], str]) -> None:
        self.player = "you"
        self.bot = "person"
        self.terms = ClockSettings(decides="wall").terms()
        self.moves = 0
        self.startup_us = 0
        self.requests: Requests | UnsetType = UNSET
        self.lines: SeatLines | UnsetType = UNSET
        self.timeouts_by_load = 0
        self.ignored: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.transcript: deque[TranscriptLine] = deque()
        self._say = say
        self._prompt = prompt
        self._players: tuple[str, ...] = ()
        self._request_id = 0
        self._has_resigned = False

    @property
    def is_reachable(self) -> bool:
        """See Participant.is_reachable: whoever gave up is not asked again."""
        return not self._has_resigned

    def begin(self, start: MatchStart) -> None:
        """See Participant.begin."""
        self._players = start.players
        self._say(f"You sit in seat {start.seat}. Type the number in front of an action, ? for help, q to give up.")

    def ask(self, question: ActionRequest) -> Answer:
        """See Participant.ask."""
        table = [*question.view.get(TOLD, ()), f"\n{question.view[DRAWN]}\n"]
        if question.legal is not None:
            table += [f"  {number:>2})  {action}" for number, action in enumerate(question.legal, start=1)]
        if question.refused is None:
            self._say_all(table)
        self.moves += 1
        self._request_id += 1
        if question.legal is not None:
            return Answer(id=self._request_id, action=self._choose(len(question.legal), table))
        return Answer(id=self._request_id, action=self._write(question.view, table))

    def refuse(self, fault: BotFault) -> None:
        """See Participant.refuse. What was impossible is neither move nor fault: a person is asked again."""
        self.moves -= 1
        self._say(f"not possible: {fault.message}")

    def abandon(self) -> None:
        """See Participant.abandon: nobody else can break in on a person."""

    def happened(self, event: AnyEvent) -> None:
        """See Participant.happened. What a simulation came to is told with the next table, see `DrawnGame`."""
        if isinstance(event, ChanceEvent):
            if max(event.outcome) <= _LARGEST_DIE:
                self._say(f"dice: {' '.join(map(str, event.outcome))}")
        elif isinstance(event, ActionEvent):
            manner = (
                " (forced)"
                if event.forced
                else f" (instead, after: {event.fallback_for})"
                if event.fallback_for
                else ""
            )
            self._say(f"{self._players[event.seat]}: {event.action}{manner}")

    def finish(
        self, *, ranks: tuple[int, ...], scores: tuple[Fraction, ...] | None, termination: str, at_fault: int | None
    ) -> None:
        """See Participant.finish."""

    def fail(self, fault: BotFault) -> None:
        """See Participant.fail."""

    def stderr(self) -> str:
        """See Participant.stderr."""
        return ""

    def _choose(self, count: int, table: list[str]) -> int:
        """The index of the action that was chosen."""
        while True:
            text = self._typed(f"your action, 1 to {count}", [*table, "", HELP])
            numbers = [str(number) for number in range(1, count + 1)]
            if text in numbers:
                return numbers.index(text)
            self._say(f"{text!r} is not a number from 1 to {count}")

    def _write(self, view: dict[str, Json], table: list[str]) -> dict[str, Json]:
        """The action that was written down, or chosen of those in the view."""
        suggested = deque(view[SUGGESTED])
        fallback_action = "" if view[STAND_IN] is None else f"; p: {view[STAND_IN]}"
        while True:
            text = self._typed(f"your action as JSON; s: an example{fallback_action}", [*table, "", HELP_UNLISTED])
            chosen: Any = None
            if text == "p" and view[STAND_IN] is not None:
                chosen = view[STAND_IN]
            elif text == "s":
                suggested.rotate(-1)
                chosen = self._confirmed(suggested[-1])
            elif text.startswith("{"):
                chosen = self._read(text)
            else:
                self._say(f"{text!r} is not a JSON object; ? for help")
            if chosen is not None:
                return dict(msgspec.to_builtins(chosen))

    def _confirmed(self, action: Any) -> Any:
        """The action, if it is wanted."""
        self._say(f"{action}: {json.dumps(msgspec.to_builtins(action))}")
        return action if self._typed("y to play this, n for no", []) in {"y", "yes"} else None

    def _read(self, text: str) -> dict[str, Json] | None:
        try:
            return codec.decode_object(text.encode("utf-8", "surrogateescape"))
        except MalformedReply as fault:
            self._say(fault.message)
            return None

    def _typed(self, prompt: str, help_lines: list[str]) -> str:
        """What was typed, but for words that always mean the same."""
        while True:
            text = self._prompt(prompt).strip()
            if text in {"q", "quit"}:
                self._has_resigned = True
                raise Resigned("gave up")
            if text not in {"?", "h", "help"}:
                return text
            self._say_all(help_lines)

    def _say_all(self, lines: list[str]) -> None:
        for line in lines:
            self._say(line)
