"""random: one of the legal actions, all equally likely. Plays any game that lists its actions.

This is a whole bot, without a library: read a line, write a line, flush. `bot_seed` makes it repeat itself.
"""

import json
import random
import sys

for line in sys.stdin:
    message = json.loads(line)
    match message["type"]:
        case "hello":
            answer = {"type": "hello", "protocols": [1], "name": "random", "version": "1"}
        case "match_start":
            random.seed(message["bot_seed"])
            answer = {"type": "ready", "match": message["match"]}
        case "request":
            legal = message["legal"]  # null for what cannot be listed: then pass
            action = {"pass": True} if legal is None else random.randrange(len(legal))
            answer = {"type": "action", "id": message["id"], "action": action}
        case "quit":
            break
        case _:  # errors, results, and whatever the protocol may learn: no answer
            continue
    print(json.dumps(answer), flush=True)
