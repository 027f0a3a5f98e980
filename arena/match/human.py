"""A human at the table, in the terminal.

Rule: a human sees the table drawn for people, and chooses from the same legal actions as a bot, or writes one down
where they cannot be listed. No clock runs.
"""

import json
import random
from collections.abc import Callable
from textwrap import wrap
from typing import Any, Final

import msgspec

from arena.errors import BotFault, MalformedReply
from arena.games.api import (
    HEADING,
    SHORT_NAME_MAX,
    Chance,
    Dice,
    Game,
    Json,
    Seat,
    describe_for,
    fault_policy_of,
    news_of,
    simulator_of,
    summary_of,
    with_names,
)
from arena.match.baseline import random_action
from arena.match.participant import ActionRequest, Participant
from arena.match.settings import ClockSettings
from arena.protocol import codec
from arena.protocol.messages import ActionEvent, Answer, AnyEvent, ChanceEvent, MatchEnd, MatchStart, SimulationEvent
from arena.text import cut, lay_out_columns, shorten, wrap_lines

TERMINAL_COLUMNS: Final = 80
PERSON: Final = "you"
"""The name of a person at the table."""
_IN_ONE_COLUMN: Final = 8
_LARGEST_DIE: Final = 100
"""A draw with larger dice is no throw that people read; the game shows its effect."""

HELP: Final = (
    "Type the number in front of an action, then Enter. Only legal actions are\n"
    "listed, and there is no clock for you. A move that is the only one goes by\n"
    "itself and is marked (forced). q gives up and loses the match."
)
HELP_UNLISTED: Final = (
    "The actions cannot be listed here. Type one as a JSON object, as the page\n"
    "of the game describes it; s shows an example that you may play, p does what\n"
    "happens without an action. There is no clock for you. q gives up and loses the\n"
    "match."
)


HELP_EXAMPLE: Final = "y plays this example; after n you are asked for an action again."


class Resigned(BotFault):
    """The resignation of a human."""

    code = "illegal_action"


class HumanPlayer(Participant):
    """A person in the terminal: `say` shows a line, `prompt` asks for one. No line is wider than a terminal."""

    is_human = True

    def __init__(self, *, say: Callable[[str], None], prompt: Callable[[str], str]) -> None:
        super().__init__(PERSON, "person", ClockSettings(decides="wall").terms())
        self._say: Callable[[str], None] = lambda text: say(wrap_lines(text, TERMINAL_COLUMNS))
        self._prompt: Callable[[str], str] = lambda text: prompt(wrap_lines(text, TERMINAL_COLUMNS))
        self._random = random.Random(0)  # noqa: S311 - examples, not secrets
        self._has_resigned = False
        self._last: Any = None

    @property
    def is_reachable(self) -> bool:
        """True until the human gives up."""
        return not self._has_resigned

    def begin(self, start: MatchStart, game: Game[Any, Any]) -> None:
        """Show the seat, the opponents and the keys."""
        super().begin(start, game)
        self._game = game
        self._players, self._seat = [shorten(name, SHORT_NAME_MAX) for name in start.players], Seat(start.seat)
        others = ", ".join(name for seat, name in enumerate(start.players) if seat != start.seat)
        self._say(f"You sit in seat {start.seat}, against {others}.")
        self._say("Type the number of an action, ? for the rules and the keys, q to give up.")

    def ask(self, request: ActionRequest) -> Answer:
        """Show the table, unless the request is repeated, and read an action. Raises Resigned if the human gives up."""
        table = [f"\n{describe_for(self._game, request.state, request.seat, self._players)}\n"]
        texts = [with_names(str(action), self._players) for action in request.legal or ()]
        actions = [f"  {number:>2})  {text}" for number, text in enumerate(texts, start=1)]
        table += lay_out_columns(actions, TERMINAL_COLUMNS) if len(actions) > _IN_ONE_COLUMN else actions
        if request.refused is None:
            self._say_all(table)
        self.moves += 1
        action = (
            self._read_action(request, table) if request.legal is None else self._read_index(len(request.legal), table)
        )
        return Answer(id=self.moves, action=action)

    def refuse(self, fault: BotFault, step: int) -> None:  # noqa: ARG002 - only records name it
        """Show the reason. An impossible action is neither move nor fault: a human is asked again."""
        self.moves -= 1
        self._say(f"not possible: {fault.message}")

    def on_event(self, event: AnyEvent, before: Any, after: Any) -> None:
        """Show dice, actions, and the results of simulations in the words of the game."""
        match event:
            case ChanceEvent() if max(event.outcome) <= _LARGEST_DIE:
                turn = self._game.turn(before)
                is_thrown = isinstance(turn, Chance) and isinstance(turn.kind, Dice)
                self._say(f"{'dice' if is_thrown else event.key}: {' '.join(map(str, event.outcome))}")
            case ActionEvent():
                reason = f" (instead, after: {event.fallback_for})" if event.fallback_for else ""
                text = json.dumps(event.action) if isinstance(event.action, dict | list) else str(event.action)
                text = f"{with_names(text, self._players)}{' (forced)' if event.forced else reason}"
                self._say(f"{self._players[event.seat]}: {text}")
            case SimulationEvent():
                simulator = simulator_of(self._game)
                if simulator is not None and (text := simulator.describe_result(before, event.result, after)):
                    self._say(with_names(text, self._players))

    def on_turn_end(self, before: Any, after: Any) -> None:
        """Show what a step led to, such as who won what, in the words of the game."""
        self._last = after
        for line in news_of(self._game, before, after, self._players):
            self._say(f"\n{line}" if line.startswith(HEADING) else line)

    def finish(self, end: MatchEnd) -> None:  # noqa: ARG002 - the table shows it
        """Show the table as it stands at the end, with the points."""
        if self._last is not None:
            self._say(f"\n{describe_for(self._game, self._last, self._seat, self._players)}")

    def _rule_lines(self) -> list[str]:
        """Return the lines of the game's short rules, and a blank one; none without rules."""
        lines = [part for line in summary_of(self._game).splitlines() for part in wrap(line, TERMINAL_COLUMNS)]
        return [*lines, ""] if lines else []

    def _read_index(self, count: int, table: list[str]) -> int:
        """Ask until one of the `count` listed actions is chosen; return its index."""
        while True:
            text = self._read_line(f"your action, 1 to {count}", [*self._rule_lines(), HELP, *table])
            numbers = [str(number) for number in range(1, count + 1)]
            if text in numbers:
                return numbers.index(text)
            self._say(f"{cut(text)!r} is not a number from 1 to {count}")

    def _read_action(self, request: ActionRequest, table: list[str]) -> dict[str, Json]:
        """Ask until there is an action: typed as JSON, an accepted example, or the fallback action."""
        fault_policy = fault_policy_of(self._game)
        fallback = None if fault_policy is None else fault_policy.fallback_action(request.state, request.seat)
        prompt = "your action as JSON; s: an example" + ("" if fallback is None else f"; p: {fallback}")
        while True:
            text = self._read_line(prompt, [*self._rule_lines(), HELP_UNLISTED, *table])
            chosen: Any = None
            if text == "p" and fallback is not None:
                chosen = fallback
            elif text == "s":
                chosen = self._confirm(random_action(self._game, request.state, request.seat, self._random))
            elif text.startswith("{"):
                chosen = self._decode_action(text)
            else:
                self._say(f"{cut(text)!r} is not a JSON object; ? for help")
            if chosen is not None:
                return dict(msgspec.to_builtins(chosen))

    def _confirm(self, action: Any) -> Any:
        """Show an action; return it if the human wants to play it, else None."""
        self._say(f"{action}: {json.dumps(msgspec.to_builtins(action))}")
        answer = self._read_line("y to play this, n for no", [f"{action}: {HELP_EXAMPLE}"])
        return action if answer in {"y", "yes"} else None

    def _decode_action(self, text: str) -> dict[str, Json] | None:
        """Decode a JSON object; show the reason and return None if the text is none."""
        try:
            return codec.decode_object(text.encode("utf-8", "surrogateescape"))
        except MalformedReply as fault:
            self._say(fault.message)
            return None

    def _read_line(self, prompt: str, help_lines: list[str]) -> str:
        """Return a line that the human typed; show the help if they ask for it. Raises Resigned if they give up."""
        while True:
            text = self._prompt(prompt).strip()
            if text in {"q", "quit"}:
                self._has_resigned = True
                raise Resigned("gave up")
            if text not in {"?", "h", "help"}:
                return text
            self._say_all(help_lines)

    def _say_all(self, lines: list[str]) -> None:
        """Show the lines, one after another."""
        for line in lines:
            self._say(line)
