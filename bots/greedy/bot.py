"""greedy: plays Shanghaien by the value of the card under the die, and by nothing else.

The rule, which bots/greedy-c follows to the letter:

- The worth of a card is its value, 1 to 4 for a sailor and 2 for a dirty trick; 0 if more own dice than the
  opponent's lie on it already, and 0 if it lies face down.
- The worth of a placement is the sum of the worths of its cards as they lie now.
- Of the legal placements take the one of the highest worth, the first of equals.
- Without a legal placement take the first legal action. So it plays no tricks, calls shanghai only when it must,
  and of two equal dice always rolls one again.
"""

import json
import sys


def choose(view: dict, legal: list[dict]) -> int:
    """The index in `legal` of the action the rule takes."""
    best, best_worth = 0, -1
    for index, action in enumerate(legal):
        if action["do"] == "place":
            one_at = action.get("one") or view["one_at"]
            worth = sum(card_worth(view, die, one_at) for die in action["dice"])
            if worth > best_worth:
                best, best_worth = index, worth
    return best


def card_worth(view: dict, number: int, one_at: str) -> int:
    """The worth of the card with that number, when number 1 lies on the end `one_at` of the row."""
    me = view["you"]
    if view["players"][me]["placed"][number - 1] > view["players"][1 - me]["placed"][number - 1]:
        return 0
    if number in view.get("expansions", {}).get("sharks", {}).get("face_down", ()):
        return 0
    card = view["tavern"][number - 1 if one_at == "left" else 6 - number]
    value = card[-1]  # a sailor reads "french 3", a trick "reroll"
    return int(value) if value.isdigit() else 2


for line in sys.stdin:
    message = json.loads(line)
    match message["type"]:
        case "hello":
            answer = {"type": "hello", "protocols": [1], "name": "greedy", "version": "2"}
        case "match_start":
            answer = {"type": "ready", "match": message["match"]}
        case "request":
            action = choose(message["view"], message["legal"])
            answer = {"type": "action", "id": message["id"], "action": action}
        case "quit":
            break
        case _:
            continue
    print(json.dumps(answer), flush=True)
