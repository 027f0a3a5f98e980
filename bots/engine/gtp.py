"""The dialogue with an engine that speaks GTP 2. Seat 0 is black and moves first."""

import math
import re

from child import EngineFault

COLOURS = ("black", "white")
SIZES = {"go": "19", "hex": "11", "othello": "8"}  # of OpenSpiel's games, unless their parameters say otherwise


class Gtp:
    """An engine that speaks GTP; an option NAME=VALUE is the command `NAME VALUE` at the start of each match."""

    capabilities = ()

    def __init__(self, child, options, _go):
        self.child, self.options = child, options
        self.known, self.moves, self.has_resigned = set(), [], False

    def start(self, until):
        """Start the dialogue."""
        if (version := self.ask("protocol_version", until)) != "2":
            raise EngineFault(f"the engine speaks version {version[:20]} of GTP, expected 2")
        self.known = set(self.ask("list_commands", until).split())

    def ask(self, command, until):
        """Return the answer to a command; EngineFault if it does not come in time, or is a failure."""
        self.child.send(command)
        answer = []
        for line in self.child.lines(command, until):
            if answer and not line:
                break
            if answer or line.startswith(("=", "?")):
                answer = [*answer[:1000], line]
        if answer[0].startswith("?"):
            raise EngineFault(f"the engine refused `{command}`: {answer[0][1:].strip()[:200] or 'no reason given'}")
        return "\n".join([answer[0][1:], *answer[1:]]).strip()

    def sync(self, until):
        """Wait until the engine has done what it was told."""
        self.ask("name", until)

    def new_game(self, message, until):
        """Begin a match on an empty board."""
        name, text = re.fullmatch(r"openspiel:(\w+)(.*)", message["game"]).groups()
        parameters = dict(re.findall(r"(\w+)=([\d.]+)", text))
        size = parameters.get("board_size") or parameters.get("num_cols") or SIZES.get(name)
        if size is None:
            raise EngineFault(f"the game tells no size of a board: an engine of GTP plays {', '.join(SIZES)}")
        self.moves, self.has_resigned = [], False
        commands = [f"boardsize {size}", "clear_board"]
        commands += [f"komi {parameters.get('komi', '7.5')}"] * (name == "go")
        if "time_settings" in self.known:
            move_ms, bank_ms = message["clock"]["move_ms"], message["clock"]["bank_ms"]
            main_s, period_s, moves = time_of(move_ms or bank_ms, is_for_move=move_ms > 0)
            commands += [f"time_settings {main_s} {period_s} {moves}"]
        for command in [*commands, *(" ".join(option).strip() for option in self.options)]:
            self.ask(command, until)

    def choose(self, request, plan):
        """Return the engine's vertex; a resignation, which arena does not know, is a pass now and in all later moves."""
        colour = COLOURS[request["view"]["you"]]
        for mover, vertex in self.new_moves(request):
            self.ask(f"play {mover} {vertex}", plan.end)
            self.moves.append(vertex)
        if not self.has_resigned:
            if "time_left" in self.known:
                main_s, period_s, moves = time_of(plan.told_ms, is_for_move=plan.is_for_move)
                self.ask(f"time_left {colour} {main_s or period_s} {moves}", plan.end)
            vertex = self.ask(f"genmove {colour}", plan.end).lower()
            self.has_resigned = vertex == "resign"
        if self.has_resigned:
            vertex = "pass"
            self.ask(f"play {colour} pass", plan.end)
        self.moves.append(vertex)
        return vertex, "the engine has resigned" * self.has_resigned

    def new_moves(self, request):
        """Return colour and vertex of the moves that the engine does not know: by the view, or by events without."""
        if "moves" in request["view"]:
            moves = [(COLOURS[number % 2], vertex) for number, vertex in enumerate(request["view"]["moves"])]
            return moves[len(self.moves) :]
        return [(COLOURS[event["seat"]], move_of(event["action"])) for event in request["events"] if "action" in event]


def move_of(action):
    """Return the vertex of an action; an action of Go without one has it behind its colour."""
    return action.get("move") or action["text"].split()[-1]


def time_of(told_ms, *, is_for_move):
    """Return main time and period in whole seconds, and the moves of a period."""
    seconds = max(1, int(told_ms / 1000))
    return (0, seconds, math.ceil(1000 * seconds / told_ms)) if is_for_move else (seconds, 0, 0)
