"""arena_kit: the protocol arena/1 for bots in Python. One file, standard library only.

You write one function and call `play`:

    import arena_kit as kit

    def choose(view, legal, clock):
        return legal[0]

    kit.play(choose)

    view      all that your seat may know, as protocol.md describes it for the game; a dict
    legal     the legal actions; None where they cannot be listed
    clock     milliseconds: clock["move_ms"] for this move, clock["bank_ms"] in the bank
    returns   one of `legal`, its index, or an action of your own: {"pass": True}

You may use:

    kit.request             the whole message: events, refused...
    kit.note("I am ahead")  a note that stands at this step in `arena show`
    random                  is seeded for each match, so that it can be repeated
    print                   goes to stderr, and `arena match --steps` shows it; stdout is the referee's
    kit.hello, kit.match    the messages `hello` and `match_start`
    kit.simulate(load=...)  asks the simulator, in games that have one; kit.simulations is what is left for questions
    kit.play(choose, start=..., end=...)  functions for `match_start` and `match_end`
    kit.play(choose, evaluate=...)  a function (view, legal, budget_ms) that judges every action, for `arena coach --by`:
                            values from 0 to 1, or a pair of these and their standard errors

An exception in your code ends the process with a traceback and exit code 1; the match is lost, and its story has both.
"""

import json
import os
import random
import sys

hello, match, request, simulations = {}, {}, {}, 0
_notes, _referee = [], None


def play(choose, *, start=None, end=None, evaluate=None):
    """Play until the referee says quit or goes away. `start` and `end` get the messages of their match."""
    global _referee
    _referee = _Referee()
    message = _referee.read()
    while message is not None and message["type"] != "quit":
        try:
            _answer(message, choose, start, end, evaluate)
            message = _referee.read()
        except _Overtaken as overtaken:
            message = overtaken.message
        except BrokenPipeError:
            return  # the referee is gone: nothing left to play for


def note(text):
    """A note for the story of the match; several are joined. The opponent never sees it."""
    _notes.append(str(text))


def simulate(**what):
    """The referee's message `simulated` for that question: a `result`, or `refused`, which tells why there is none.

    Your clock stands still meanwhile.
    """
    global simulations
    query = _referee.next_query()
    _referee.say({"type": "simulate", "id": request["id"], "query": query, "what": what})
    while (message := _referee.read()) is not None:
        if message["type"] == "simulated" and message["query"] == query:
            simulations = message["left"]
            return message
        if message["type"] in ("request", "match_start", "match_end", "quit"):
            raise _Overtaken(message)
    sys.exit()  # in the middle of a thought, and nobody listens any more


def _answer(message, choose, start, end, evaluate):
    """Answer one message; unknown types get no answer, so that the protocol can grow."""
    global hello, match, request, simulations
    match message["type"]:
        case "hello":
            hello = message
            capabilities = ["simulate", "evaluate"] if evaluate else ["simulate"]
            _referee.say({"type": "hello", "protocols": [1], "capabilities": capabilities})
        case "match_start":
            match = message
            random.seed(message["bot_seed"])
            if start:
                start(message)
            _referee.say({"type": "ready", "match": message["match"]})
        case "request":
            request, simulations = message, message.get("simulations", 0)
            _notes.clear()
            action = _checked(choose(message["view"], message["legal"], message["clock"]))
            answer = {"type": "action", "id": message["id"], "action": action}
            _referee.say(answer | {"note": "\n".join(_notes)[:1000]} if _notes else answer)
        case "evaluate":
            request = message
            values = evaluate(message["view"], message["legal"], message["budget_ms"])
            values, errors = values if isinstance(values, tuple) else (values, ())
            _referee.say({"type": "evaluation", "id": message["id"], "values": [*values], "errors": [*errors]})
        case "match_end" if end:
            end(message)


def _checked(action):
    """`action`, if it looks like one: a forgotten `return` is found here rather than by the referee."""
    if isinstance(action, dict) or (isinstance(action, int) and not isinstance(action, bool)):
        return action
    raise TypeError(f"choose() must return an action (a dict) or an index in legal, not {action!r}")


class _Overtaken(BaseException):
    """The referee has gone on while the bot was thinking: too late, or the match is over."""

    def __init__(self, message):
        self.message = message


class _Referee:
    """The other end of the line. Other code that uses fd 0, 1 or `print` reaches stderr, and an empty input."""

    def __init__(self):
        self._lines = os.fdopen(os.dup(0), "rb")
        self._out = os.dup(1)
        self._queries = 0
        os.dup2(2, 1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        sys.stdout = sys.stderr

    def read(self):
        """The next message, None at the end of input; errors are only to be logged."""
        for line in self._lines:
            message = json.loads(line) if line.strip() else {"type": ""}
            if message["type"] == "error":
                print(f"referee: {message['code']}: {message['message']} ({message['hint']})", file=sys.stderr)
            else:
                return message
        return None

    def say(self, message):
        """One line to the referee."""
        line = json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        while line:
            line = line[os.write(self._out, line) :]

    def next_query(self):
        """The number of the next question."""
        self._queries += 1
        return self._queries
