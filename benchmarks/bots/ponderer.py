"""A bot that answers 0 and thinks on, in a thread of its own, while the others are on move."""

import json
import sys
import threading


def burn() -> None:
    """Think about nothing, for ever."""
    while True:
        pass


threading.Thread(target=burn, daemon=True).start()
for line in sys.stdin:
    message = json.loads(line)
    match message["type"]:
        case "request":
            answer = {"type": "action", "id": message["id"], "action": 0}
        case "match_start":
            answer = {"type": "ready", "match": message["match"]}
        case "hello":
            answer = {"type": "hello", "protocols": [1]}
        case "quit":
            break
        case _:
            continue
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
