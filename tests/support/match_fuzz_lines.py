"""What can become of a bot's words: mutations of what an honest bot says to one message.

Rule: a mutation takes the bytes of a reply, newlines included (none if nothing would be said), and gives other bytes;
all its luck comes from the one random source it is handed, so that an example can be repeated.
"""

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any, Final

from hypothesis import strategies as st

MATCH: Final = "fuzz-1"
LIMIT: Final = 1 << 16


class Brain:
    """What mutations may know and change besides the reply: the message, lines held back, and the bot's body."""

    def __init__(self) -> None:
        self.message: dict[str, Any] = {}
        self.held = b""
        self.stderr = b""
        self.is_dead = False
        self.cpu_s = 0.0


Mutation = Callable[[bytes, Random, Brain], bytes]
Pairs = list[tuple[str, str]]
"""The members of a JSON object as they are written: keys with their quotes, values as text."""

FOREIGN: Final = (
    '{"type":"hello","protocols":[1]}',
    '{"type":"hello","protocols":[1],"capabilities":["events"]}',
    '{"type":"hello","protocols":[1],"capabilities":["simulate"]}',
    '{"type":"simulate","id":1,"query":1,"what":{}}',
    '{"type":"simulate","id":2,"query":0,"what":{"mm":5}}',
    '{"type":"simulate","id":2,"query":0,"what":[]}',
    '{"type":"simulated","id":1,"query":1,"result":null,"refused":null,"left":0}',
    '{"type":"hello","protocols":[]}',
    f'{{"type":"ready","match":"{MATCH}"}}',
    '{"type":"ready","match":"another"}',
    '{"type":"action","id":1,"action":0}',
    '{"type":"action","id":2,"action":{"heap":0,"count":1}}',
    '{"type":"action","id":3,"action":{"do":"roll"}}',
    '{"type":"action","id":4,"action":{"do":"place","dice":[2,5]}}',
    f'{{"type":"request","id":1,"match":"{MATCH}","view":{{}},"events":[],"legal":null}}',
    f'{{"type":"match_end","match":"{MATCH}","ranks":[0,1]}}',
    '{"type":"quit","reason":"","grace_ms":0}',
    '{"type":"error","code":"crash","message":"","hint":"","fatal":true,"got":""}',
    "thinking...",
    "",
    " \t\r",
    "\x1b[2J\x1b]0;title\x07",
    "{",
    "{}",
    "[]",
)
"""Lines of other matches, other seats, other moments, the referee's own, and no lines of the protocol at all."""
NUMBERS: Final = (
    *("0", "1", "-1", "-0", "2", "255", "1.0", "0.5", "1e0", "1e2", "01", "+1", "1e999", "-1e999", "NaN", "-Infinity"),
    *(str(2**53), str(2**53 + 1), str(-(2**53) - 1), str(2**63), str(2**64), "9" * 400, "1" + "0" * 5000),
)
TOKENS: Final = (
    *NUMBERS,
    *("true", "null", "[]", "{}", "[0]", '""', '"0"', '"roll"', '"\\ud800"', '"\\u0000"', '"\\u001b[2J"', '"\\u202e"'),
    *('{"heap":0,"count":1}', '{"do":"roll"}', '{"do":"shanghai"}', '{"do":"place","dice":[1,1]}', '{"do":"adjust"}'),
    *('{"do":"\\u001b[31m"}', '{"\\u001b[31m":0}', '{"a":1,"a":2}', '{"heap":0,"count":1,"heap":1}'),
    *("[" * 62 + "]" * 62, '{"a":' * 70 + "1" + "}" * 70, '{"a":' + "[" * 20_000, '"' + "x" * 1001 + '"'),
    *('"' + "ü" * 1000 + '"', '"\\n\\r\\u0085\\u2028"', "undefined", "'0'", "0,", "0 // first"),
)
WHATS: Final = (b'{"mm":5}', b'{"mm":5}', b'{"mm":500}', b'{"mm":13}', b"{}", b'{"mm":1e400}', b"[]", b'{"x":[[{}]]}')
NOTES: Final = ('""', '"\\ud800"', '"\\u001b[2J"', '"' + "x" * 1001 + '"', '"' + "ü" * 1000 + '"', "1", "null", '"\\n"')
KEYS: Final = ('"id"', '"action"', '"type"', '"match"', '"note"', '"\\u0069d"', '"x"', '""', '"\\u001b[31m"', '"\\n"')
TYPES: Final = (
    *("hello", "ready", "action", "simulate", "simulated", "request", "match_start", "match_end", "event", "quit"),
    *("", "Action"),
)
RAW: Final = (
    *(b"\x00", b"\n", b"\r", b"\r\n", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc0\xaf", b"\xe0\x80\xaf"),
    *(b"\xf4\x90\x80\x80", b'"', b"{", b"}", b"\\", b"\x1b[2J", b"\xc2\x85", b"\xe2\x80\xa8", b" " * 70_000),
)


def pairs_of(reply: bytes) -> Pairs:
    """The members of the first line, or of some answer if it is no JSON object."""
    try:
        raw = json.loads(reply.split(b"\n")[0])
    except (ValueError, RecursionError):
        raw = None
    if not isinstance(raw, dict):
        raw = {"type": "action", "id": 1, "action": 0}
    return [(json.dumps(key), json.dumps(value)) for key, value in raw.items()]


def written(pairs: Pairs) -> bytes:
    """The line of these members."""
    return ("{" + ",".join(f"{key}:{value}" for key, value in pairs) + "}\n").encode()


def random_bytes(_reply: bytes, luck: Random, _brain: Brain) -> bytes:
    return luck.randbytes(luck.randrange(60)) + luck.choice([b"", b"\n"])


def flip_bits(reply: bytes, luck: Random, _brain: Brain) -> bytes:
    flipped = bytearray(reply)
    for _ in range(luck.randint(1, 3) if reply else 0):
        flipped[luck.randrange(len(flipped))] ^= 1 << luck.randrange(8)
    return bytes(flipped)


def edit_bytes(reply: bytes, luck: Random, _brain: Brain) -> bytes:
    """Put something in the place of up to four bytes; all of them may be none."""
    at = luck.randint(0, len(reply))
    return reply[:at] + luck.choice([b"", b"\n", *RAW, luck.randbytes(3)]) + reply[at + luck.randint(0, 4) :]


def say_twice(reply: bytes, _luck: Random, _brain: Brain) -> bytes:
    return reply * 2


def hold_back(reply: bytes, _luck: Random, brain: Brain) -> bytes:
    """Say it only after the next reply."""
    brain.held += reply
    return b""


def cut_short(reply: bytes, luck: Random, _brain: Brain) -> bytes:
    """With or without the newline: without, the next line runs into this one."""
    return reply[: luck.randint(0, len(reply))] + luck.choice([b"", b"\n"])


def say_foreign(reply: bytes, luck: Random, _brain: Brain) -> bytes:
    """A line that belongs elsewhere: before, after, instead."""
    line = luck.choice(FOREIGN).encode() + b"\n"
    return luck.choice([line + reply, reply + line, line])


def splice(reply: bytes, luck: Random, _brain: Brain) -> bytes:
    other = luck.choice(FOREIGN).encode() + b"\n"
    return reply[: luck.randint(0, len(reply))] + other[luck.randint(0, len(other)) :]


def change_id(reply: bytes, luck: Random, brain: Brain) -> bytes:
    last = brain.message.get("id", 0)
    return with_member(reply, "id", luck.choice([str(last - 1), str(last + 1), *NUMBERS]))


def answer_early(reply: bytes, luck: Random, brain: Brain) -> bytes:
    """The answer, and those to requests that have not come."""
    ahead = (b'{"type":"action","id":%d,"action":0}\n' % (brain.message.get("id", 0) + n) for n in range(1, 4))
    return luck.choice([reply, b""]) + b"".join(ahead)


def ask_first(reply: bytes, luck: Random, brain: Brain) -> bytes:
    """Questions, sensible and not, before the answer or instead of it."""
    last = brain.message.get("id", 1)
    asked = b"".join(
        b'{"type":"simulate","id":%d,"query":%d,"what":%s}\n'
        % (luck.choice([last, last, last, last - 1, last + 1]), query, luck.choice(WHATS))
        for query in range(luck.choice([1, 2, 5]))
    )
    return asked + luck.choice([reply, reply, reply, b""])


def change_type(reply: bytes, luck: Random, _brain: Brain) -> bytes:
    return with_member(reply, "type", json.dumps(luck.choice(TYPES)))


def change_value(reply: bytes, luck: Random, _brain: Brain) -> bytes:
    pairs = pairs_of(reply)
    at = luck.randrange(len(pairs)) if pairs else 0
    return written([(k, luck.choice(TOKENS) if n == at else v) for n, (k, v) in enumerate(pairs)])


def with_member(reply: bytes, name: str, text: str) -> bytes:
    return written([(key, text if key == f'"{name}"' else value) for key, value in pairs_of(reply)])


def change_action(reply: bytes, luck: Random, _brain: Brain) -> bytes:
    """JSON of every type as the action."""
    return with_member(reply, "action", luck.choice(TOKENS))


def play_index(reply: bytes, luck: Random, brain: Brain) -> bytes:
    """An index at the ends of the list, inside and outside, or anywhere in it."""
    size = len(brain.message.get("legal") or ())
    return with_member(
        reply, "action", str(luck.choice([-size - 1, -size, -1, 0, size - 1, size, luck.randint(0, size)]))
    )


def play_object(reply: bytes, luck: Random, brain: Brain) -> bytes:
    """An action that is listed, or nearly one."""
    action = dict(luck.choice(brain.message.get("legal") or [{"do": "roll"}]))
    key = luck.choice(list(action)[-2:])
    spoilt = luck.choice(["value", "value", "kind", "missing", "none"])
    if spoilt == "missing":
        del action[key]
    elif spoilt == "kind":
        action = luck.choice([{"do": "roll"}, {"do": "shanghai"}, {"do": "place", "dice": [luck.randint(1, 6)]}])
    elif spoilt == "value" and isinstance(action[key], list):
        action[key] = [luck.randint(1, 6) for _ in range(luck.randint(1, 2))]
    elif spoilt == "value" and key != "do":
        action[key] = luck.choice([luck.randint(-1, 7), "left", "right"])
    return with_member(reply, "action", json.dumps(action))


def change_number(reply: bytes, luck: Random, _brain: Brain) -> bytes:
    """Some number, inside the action too."""
    spans = [found.span() for found in re.finditer(rb"-?\d+", reply)]
    if not spans:
        return reply
    start, end = luck.choice(spans)
    return reply[:start] + luck.choice(NUMBERS).encode() + reply[end:]


def add_member(reply: bytes, luck: Random, _brain: Brain) -> bytes:
    """One more key, perhaps a second time, perhaps inside the action."""
    member = f"{luck.choice(KEYS)}:{luck.choice(TOKENS)}"
    braces = [found.end() for found in re.finditer(rb"\{(?=\")", reply)]
    if not braces:
        return reply
    at = luck.choice(braces)
    return reply[:at] + member.encode() + b"," + reply[at:]


def change_order(reply: bytes, luck: Random, _brain: Brain) -> bytes:
    """Another way to write the same message."""
    pairs = pairs_of(reply)
    luck.shuffle(pairs)
    return luck.choice([b"", b" ", b"\t"]) + written(pairs).replace(b":", b" : ").replace(b"\n", b"\r\n")


def add_note(reply: bytes, luck: Random, _brain: Brain) -> bytes:
    return written([*pairs_of(reply), ('"note"', luck.choice(NOTES))])


def change_encoding(reply: bytes, luck: Random, _brain: Brain) -> bytes:
    text = reply.decode("utf-8", "replace")
    return text.encode(luck.choice(["utf-16", "utf-16-le", "utf-32", "utf-7", "utf-8-sig", "cp037"]), "replace")


def flood(reply: bytes, luck: Random, _brain: Brain) -> bytes:
    line = luck.choice([b"", b"x", b'{"type":"action","id":0,"action":0}', b"\x00"]) + b"\n"
    return line * luck.choice([3, 30, 300]) + reply


def grow_long(reply: bytes, luck: Random, _brain: Brain) -> bytes:
    """To a line of about the limit, by blanks or by itself."""
    return luck.choice([b" ", b"x", b"{", reply[:1]]) * (LIMIT + luck.randint(-70, 70) - len(reply)) + reply


def complain(reply: bytes, luck: Random, brain: Brain) -> bytes:
    brain.stderr += luck.choice([*RAW, luck.randbytes(50), b"\x1b[2J\n" * 2000])
    return reply


def think_long(reply: bytes, luck: Random, brain: Brain) -> bytes:
    brain.cpu_s += luck.choice([0.00005, 0.0003, 0.01, 1e9])
    return reply


def die(reply: bytes, luck: Random, brain: Brain) -> bytes:
    brain.is_dead = True
    return reply[: luck.randint(0, len(reply))]


MUTATIONS: Final[dict[str, Mutation]] = {
    mutation.__name__: mutation
    for mutation in (
        *(random_bytes, flip_bits, edit_bytes, say_twice, hold_back, cut_short, say_foreign, splice, change_id),
        *(answer_early, change_type, change_value, change_action, play_index, play_object, change_number, add_member),
        *(change_order, add_note, change_encoding, flood, grow_long, ask_first, complain, think_long, die),
    )
}
_DEEP: Final = ("add_member", "add_note", "ask_first", "change_action", "play_index", "play_object")
"""Those that get furthest into the referee; they are tried more often."""
Plan = tuple[tuple[int, str, int], ...]
"""The message to which the reply is changed, the mutation, the seed of its luck.

Messages that want an answer are numbered from 0 (`hello`), those that want none from -1 downwards.
"""


def plans(answered: int) -> st.SearchStrategy[Plan]:
    """Up to four mutations of what is said to the first `answered` messages, or to one of the first three others."""
    one = st.tuples(
        st.integers(-3, answered - 1), st.sampled_from([*sorted(MUTATIONS), *_DEEP * 4]), st.integers(0, 2**32 - 1)
    )
    return st.lists(one, min_size=1, max_size=4).map(tuple)
