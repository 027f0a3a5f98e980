"""engine: an unmodified engine that speaks UCI or GTP 2, behind the protocol of arena.

    python3 bot.py uci|gtp ENGINE [--sha256=HEX] [--go=WORDS] [NAME=VALUE ...]

ENGINE is one word: a program with its arguments, in this folder or one whose SHA-256 is given. NAME=VALUE are options
of the engine. `--go="nodes 5000"` makes it search that much instead of by the clock. Faults of the engine are
sentences on stderr; after one the bot ends, and its match is lost.
"""

import argparse
import json
import sys
from typing import NamedTuple

from child import Child, EngineFault, now
from gtp import Gtp, move_of
from uci import Uci

DIALOGUES = {"uci": Uci, "gtp": Gtp}
LEAST_MARGIN_MS = 1.0
END_SHARE = 0.95  # of the time that a silent engine has, then a sentence says so


class Plan(NamedTuple):
    """The time of a search: what the engine is told (ms, of this move or in the bank), and when it is due.

    `stop_at`, `end`: when the engine is told to stop, and when its time is almost up (monotonic seconds).
    """

    told_ms: float
    stop_at: float
    end: float
    is_for_move: bool = True
    other_ms: float = 0
    increment_ms: float = 0


class Pace:
    """The time that an engine is told, which keeps a margin for all that a move costs besides.

    The margin is measured by the bank: it grows by what a move took from the bank, up to all but 1 ms of the move, and
    shrinks by a tenth after a move that took nothing. A bank below half of what it was shortens the engine's time.
    `stop` is late, after half of the bank: there are engines that answer it by nonsense before they have begun.
    """

    def __init__(self, start, latency_ms):
        self.increment_ms, self.other = start["clock"].get("increment_ms", 0), 1 - start["seat"]
        self.first_bank_ms = self.bank_ms = start["clock"]["bank_ms"]
        self.least_ms = self.margin_ms = LEAST_MARGIN_MS + latency_ms

    def plan(self, clock, asked_at):
        """Return the plan of the move that was asked for at that moment."""
        move_ms, bank_ms = clock["move_ms"], clock["bank_ms"]
        taken_ms, self.bank_ms = self.bank_ms - bank_ms, bank_ms
        end = asked_at + (move_ms + bank_ms) * END_SHARE / 1000
        if not move_ms:
            told_ms = max(1.0, bank_ms - self.margin_ms)
            other_ms = (clock.get("banks_ms") or [None, None])[self.other]
            other_ms = bank_ms if other_ms is None else other_ms
            return Plan(told_ms, asked_at + told_ms * 0.9 / 1000, end, False, other_ms, self.increment_ms)
        wanted_ms = self.margin_ms + taken_ms if taken_ms > 0 else self.margin_ms * 0.9
        self.margin_ms = min(max(wanted_ms, self.least_ms), move_ms - 1)
        share = min(1.0, 2 * bank_ms / self.first_bank_ms) if self.first_bank_ms else 1.0
        told_ms = max(1.0, (move_ms - self.margin_ms) * share)
        return Plan(told_ms, asked_at + (told_ms + move_ms + bank_ms) / 2000, end)


def action_of(move, legal):
    """Return the index of the engine's move in `legal`, or an action that the referee refuses by name."""
    moves = [move_of(action).lower() for action in legal]
    if move.lower() in moves:
        return moves.index(move.lower())
    sys.stderr.write(f"the engine answered `{move[:100]}`, which is none of the {len(legal)} legal moves\n")
    return {"id": legal[0]["id"], "move" if "move" in legal[0] else "text": move[:100] or "nothing"}


def play(dialogue):
    """Answer the referee until its input ends."""
    startup_s, pace = 0, None
    for line in sys.stdin:
        asked_at, message = now(), json.loads(line)
        due = asked_at + startup_s
        match message["type"]:
            case "hello":
                startup_s = message["limits"]["startup_ms"] / 1000 * END_SHARE
                dialogue.start(asked_at + startup_s)
                answer = {"type": "hello", "protocols": [1], "capabilities": dialogue.capabilities}
            case "match_start":
                dialogue.new_game(message, due)
                synced_at = now()
                dialogue.sync(due)
                pace = Pace(message, 1000 * (now() - synced_at))
                answer = {"type": "ready", "match": message["match"]}
            case "request":
                move, note = dialogue.choose(message, pace.plan(message["clock"], asked_at))
                answer = {"type": "action", "id": message["id"], "action": action_of(move, message["legal"])}
                answer |= {"note": note[:1000]} if note else {}
            case "evaluate":
                budget_s = message["budget_ms"] / 1000
                plan = Plan(max(1, 500 * budget_s), asked_at + 0.6 * budget_s, asked_at + 0.95 * budget_s)
                answer = {"type": "evaluation", "id": message["id"], "values": dialogue.evaluate(message, plan)}
            case _:
                continue
        print(json.dumps(answer), flush=True)


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("like", choices=DIALOGUES)
    parser.add_argument("engine", help="a program with its arguments, as one word")
    parser.add_argument("--sha256", default="", help="the SHA-256 of a program that lies elsewhere")
    parser.add_argument("--go", default="", help="what UCI's go is told in place of the time")
    parser.add_argument("options", nargs="*", metavar="NAME=VALUE", help="options of the engine")
    if len(sys.argv) == 1:
        sys.exit("this bot needs an engine: arena new-bot NAME --engine PATH --like uci (or gtp)")
    words = parser.parse_intermixed_args()
    child = None
    try:
        child = Child(words.engine, words.sha256)
        play(DIALOGUES[words.like](child, [option.partition("=")[::2] for option in words.options], words.go))
    except EngineFault as fault:
        sys.exit(str(fault))
    finally:
        if child is not None:
            child.end()


if __name__ == "__main__":
    main()
