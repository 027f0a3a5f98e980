"""An honest bot that uses a share of each move's budget, 0.8 or its first argument, of CPU time, and then answers 0."""

import json
import sys
import time

SHARE = float(sys.argv[1]) if len(sys.argv) > 1 else 0.8

for line in sys.stdin:
    begun_s = time.process_time()
    message = json.loads(line)
    match message["type"]:
        case "request":
            while time.process_time() - begun_s < SHARE * message["clock"]["move_ms"] / 1000:
                pass
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
