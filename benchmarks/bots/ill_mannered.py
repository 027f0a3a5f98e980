"""A bot that behaves until its first request, then sleeps, spins or floods as its first argument says; or is mute."""

import json
import os
import sys
import time

BLOCK = 1 << 16
FLOODS = {
    "stray": (1, b"x" * 99 + b"\n"),
    "stale": (1, b'{"type":"action","id":0,"action":0}\n'),
    "newlines": (1, b"\n"),
    "endless": (1, b"x"),
    "stderr": (2, b"x" * 99 + b"\n"),
}


def misbehave(how: str) -> None:
    """Never returns."""
    if how == "sleep":
        time.sleep(3600)
    fd, text = FLOODS.get(how, (1, b""))
    data = text * (BLOCK // len(text)) if text else b""
    while True:  # with nothing to write, this spins
        if data:
            os.write(fd, data)


if sys.argv[1] == "mute":
    misbehave("sleep")
for line in sys.stdin:
    message = json.loads(line)
    match message["type"]:
        case "hello":
            answer = {"type": "hello", "protocols": [1]}
        case "match_start":
            answer = {"type": "ready", "match": message["match"]}
        case "request":
            misbehave(sys.argv[1])
            break
        case _:
            continue
    print(json.dumps(answer), flush=True)
