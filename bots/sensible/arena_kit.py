"""arena_kit: the protocol arena/1 for bots in Python. One file, standard library only; copy it beside your bot.

    from arena_kit import Bot, run

    class MyBot(Bot):
        def act(self, request):
            return request["legal"][0]

    run(MyBot())

What it does for you:

- It talks to the referee; you get the messages as dicts, just as protocol.md describes them.
- `print` is yours. From the call of `run` on, standard output is standard error, for your code, for C extensions and for
  programs you start; the referee's line is a private copy that only this file writes to. Standard input is empty.
- `random` is seeded with the bot's seed at the start of every match, so that a match can be repeated.
- An exception in your code ends the process with a traceback and exit code 1: the referee logs both.
"""

import json
import os
import random
import sys

__all__ = ["Bot", "run"]


class Bot:
    """What you write. Only `act` is needed. One object plays many matches, one after the other."""

    name = ""
    version = ""

    def start(self, match):
        """A match begins: `match` is the message `match_start` (your seat, the options, the clock...)."""

    def act(self, request):
        """Your turn: return an action (a dict) or the index of one in `request["legal"]`."""
        raise NotImplementedError(f"{type(self).__name__} needs a method act(self, request)")

    def end(self, result):
        """A match is over: `result` is the message `match_end`."""


def run(bot):
    """Play until the referee says quit or goes away."""
    lines, write = _take_over_standard_streams()
    for line in lines:
        if not line.strip():
            continue
        message = json.loads(line)
        if message["type"] == "quit":
            break
        answer = _answer(bot, message)
        if answer is not None:
            try:
                write(json.dumps(answer, allow_nan=False, separators=(",", ":")).encode() + b"\n")
            except BrokenPipeError:
                break  # the referee is gone: nothing left to play for


def _answer(bot, message):
    """The answer to one message, None where the protocol wants none."""
    match message["type"]:
        case "hello":
            name = bot.name or type(bot).__name__
            return {"type": "hello", "protocols": [1], "name": name, "version": bot.version}
        case "match_start":
            random.seed(message["bot_seed"])
            bot.start(message)
            return {"type": "ready", "match": message["match"]}
        case "request":
            return {"type": "action", "id": message["id"], "action": _checked(bot.act(message))}
        case "match_end":
            bot.end(message)
        case "error":
            print(f"referee: {message['code']}: {message['message']} ({message['hint']})", file=sys.stderr)
    return None  # unknown types are ignored, so that the protocol can grow


def _checked(action):
    """`action`, if it looks like one: a forgotten `return` is found here rather than by the referee."""
    if isinstance(action, dict) or (isinstance(action, int) and not isinstance(action, bool)):
        return action
    raise TypeError(f"act() must return an action (a dict) or an index in legal, not {action!r}")


def _take_over_standard_streams():
    """The referee's lines, and a function that writes bytes to it; whoever uses fd 0, 1 or print reaches neither."""
    lines = os.fdopen(os.dup(0), "rb")
    out = os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout = sys.stderr

    def write(line):
        while line:
            line = line[os.write(out, line) :]

    return lines, write
