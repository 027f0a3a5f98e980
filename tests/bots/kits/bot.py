import functools
import operator

import arena_kit as kit


def choose(view, legal, clock):
    print("stray", view["say"], clock["move_ms"])
    kit.note(view["say"])
    if legal is None:
        return {"twice": 2 * view["number"], "items": len(view["items"])}
    return legal[view["pick"]]


def evaluate(view, legal, budget_ms):
    values = [0.0 if nim_sum(view, action) else 1.0 for action in legal]
    return values, [0.0] * len(values)


def nim_sum(view, action):
    heaps = [*view["heaps"]]
    heaps[action["heap"]] -= action["count"]
    return functools.reduce(operator.xor, heaps)


kit.play(choose, evaluate=evaluate)
