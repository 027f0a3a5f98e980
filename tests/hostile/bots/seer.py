"""A hostile bot that guesses the master seed, so that it knows every die of the match before it falls.

It tests each guess against its `bot_seed`. Of its league it knows all that a student knows: the tournament file and the
bots of the others, given as its argument. Its notes tell how many public rolls it knew so far: `predicted 5 of 5`.
"""

import hashlib
import hmac
import json
import sys
from typing import Any

GUESSES = [str(number) for number in range(3000)]
BLOCKS = 4


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def luck_of(start: dict[str, Any], facts: dict[str, Any]) -> str | None:
    """The pairing is a hash of what everybody knows, and of the commitment to the luck."""
    own = [facts["name"], facts["digest"], sys.argv[1:]]
    players = json.dumps(sorted([*facts["others"], own]), separators=(",", ":"))
    for seed in GUESSES:
        secret = hashlib.sha256(b"arena/public seed/" + seed.encode()).digest()
        commitment = hashlib.sha256(b"arena/commitment" + secret).hexdigest()
        text = facts["identity"].replace("COMMITMENT", commitment).replace('"PLAYERS"', players)
        for block in range(BLOCKS):
            fixture = f"{sha(text)[:12]}-{block}"
            label = f"bot/{fixture}/{start['seat']}".encode()
            if int(hmac.new(secret, label, "sha256").hexdigest()[:13], 16) == start["bot_seed"]:
                return hmac.new(secret, f"block/{fixture}".encode(), "sha256").hexdigest()[:32]
    return None


def dice(luck: str, key: str) -> list[int]:
    words = [hashlib.sha256(f"{luck}/{key}/{die}/0".encode()).digest() for die in range(2)]
    return [int.from_bytes(word[:8], "big") % 6 + 1 for word in words]


def say(**message: object) -> None:
    sys.stdout.write(f"{json.dumps(message)}\n")
    sys.stdout.flush()


def main() -> None:
    facts, luck, hits, seen = json.loads(sys.argv[1]), None, 0, 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            say(type="hello", protocols=[1])
        elif message["type"] == "match_start":
            luck = luck_of(message, facts)
            hits = seen = 0
            say(type="ready", match=message["match"])
        elif message["type"] == "request":
            for event in message["events"]:
                if event["event"] == "chance" and len(event["outcome"]) == 2:
                    seen += 1
                    hits += luck is not None and dice(luck, event["key"]) == event["outcome"]
            note = f"predicted {hits} of {seen}"
            say(type="action", id=message["id"], action=0, note=note)
        elif message["type"] == "quit":
            return


main()
