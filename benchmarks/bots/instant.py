"""An instant bot in Python: parses every line, answers every request with action 0."""

import json
import sys

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
