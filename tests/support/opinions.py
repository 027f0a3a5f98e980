"""Opinions on matches that are known to be right: exact analysts of Nim and Kuhn poker."""

import json
from collections.abc import Callable
from functools import reduce
from operator import xor
from typing import Any, Final

from arena.games import load_game
from arena.games.kuhn_poker import RANKS
from arena.match.analyst import opinion_of_bot
from arena.match.judgement import Opinion
from arena.match.record import MatchRecord
from support.scripted_bot import CLOCK, Message, ScriptedBot, seated

EVALUATING: Final = b'{"type":"hello","protocols":[1],"capabilities":["evaluate"]}'
NIM_JUDGE: Final = """
import json, os, pathlib, sys
from functools import reduce
from operator import xor

for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "hello":
        answer = {"type": "hello", "protocols": [1], "capabilities": ["evaluate"]}
    elif m["type"] == "match_start":
        answer = {"type": "ready", "match": m["match"]}
    elif m["type"] == "evaluate":
        heaps = m["view"]["heaps"]
        after = [[*heaps[:a["heap"]], heaps[a["heap"]] - a["count"], *heaps[a["heap"] + 1:]] for a in m["legal"]]
        answer = {"type": "evaluation", "id": m["id"], "values": [float(reduce(xor, left) == 0) for left in after]}
    else:
        continue
    print(json.dumps(answer), flush=True)
"""
"""The source of a bot that judges Nim exactly."""
Values = list[float]


def evaluation(message: Message, values: Any, errors: Any = ()) -> bytes:
    return json.dumps({"type": "evaluation", "id": message["id"], "values": values, "errors": [*errors]}).encode()


def analyst(values_of: Callable[[Message], Values]) -> ScriptedBot:
    return ScriptedBot(lambda message, _: [evaluation(message, values_of(message))], hello=(EVALUATING,))


def opinion(record: MatchRecord, *bots: ScriptedBot) -> Opinion:
    """The opinion of these analysts, by seat."""
    game, count = load_game(record.game), len(record.seats)

    def open_bot(seat: int) -> Any:
        return seated(bots[seat], CLOCK, game=game, options=record.options, seats=count, player="judge")

    return opinion_of_bot(record, "judge", open_bot)


def nim_values(message: Message) -> Values:
    """Bouton's theorem: 1 if the heaps have the xor 0 afterwards; in misere play the other way once all are small."""
    values = []
    for action in message["legal"]:
        heaps = list(message["view"]["heaps"])
        heaps[action["heap"]] -= action["count"]
        is_lost = reduce(xor, heaps) == 0
        if message["view"]["misere"] and max(heaps) <= 1:
            is_lost = not is_lost
        values.append(float(is_lost))
    return values


def kuhn_values(bluffs: float, calls: float) -> Callable[[Message], Values]:
    """The payoffs of seat 1 against a seat 0 that bets the jack with the chance `bluffs`, the king always.

    After a check and a bet of seat 1, seat 0 calls with the king, and with the queen with the chance `calls`.
    """

    def values(message: Message) -> Values:
        own = RANKS.index(message["view"]["cards"][message["view"]["you"]])
        others = [card for card in range(3) if card != own]
        bets, after = [bluffs, 0.0, 1.0], [0.0, calls, 1.0]
        if message["view"]["moves"][-1] == "bet":
            weights = [bets[card] for card in others]
            wins = sum(weight for card, weight in zip(others, weights, strict=True) if card < own)
            return [0.0, wins / sum(weights) if sum(weights) else 1.0]  # fold, call
        weights = [1 - bets[card] for card in others]
        checks = sum(weight for card, weight in zip(others, weights, strict=True) if card < own) / sum(weights)
        bet = sum(
            weight * ((1 - after[card]) + after[card] * (card < own))
            for card, weight in zip(others, weights, strict=True)
        ) / sum(weights)
        return [checks, bet]

    return values
