"""Bots that break the form of a line: what they say is no message, or not one, or without an end."""

import sys
from collections.abc import Callable

from bot_player import Message, for_ever, instead_of, play, send

LIMIT = 1 << 16
WORDS: dict[str, bytes] = {
    "nan": b'{"type":"action","id":ID,"action":NaN}\n',
    "infinity": b'{"type":"action","id":ID,"action":-Infinity}\n',
    "too_large": b'{"type":"action","id":ID,"action":1e999}\n',
    "deep": b'{"type":"action","id":ID,"action":' + b"[" * 30_000 + b"]" * 30_000 + b"}\n",
    "deep_objects": b'{"type":"action","id":ID,"action":' + b'{"":' * 9000 + b"0" + b"}" * 9000 + b"}\n",
    "unclosed": b'{"action":' + b"[" * 60_000 + b"\n",
    "digits": b'{"type":"action","id":ID,"action":' + b"9" * 60_000 + b"}\n",
    "twice_a_key": b'{"type":"action","id":ID,"action":0,"action":1}\n',
    "twice_a_key_hidden": b'{"type":"action","id":ID,"action":0,"\\u0061ction":1}\n',
    "bad_utf8": b'{"type":"action","id":ID,"action":0,"note":"\xff\xfe"}\n',
    "overlong_utf8": b'{"type":"action","id":ID,"action":0,"note":"\xc0\xaf"}\n',
    "surrogate": b'{"type":"action","id":ID,"action":0,"note":"\\ud800"}\n',
    "zeros": b"\0" * 1000 + b'{"type":"action","id":ID,"action":0}\n',
    "byte_order_mark": b'\xef\xbb\xbf{"type":"action","id":ID,"action":0}\n',
    "half": b'{"type":"action","id":ID\n',
    "no_end": b'{"type":"action","id":ID,"action":0}',
    "two_in_a_line": b'{"type":"action","id":ID,"action":0}{"type":"action","id":ID,"action":1}\n',
    "single_quotes": b"{'type':'action','id':ID,'action':0}\n",
    "unknown_type": b'{"type":"resign"}\n',
    "no_type": b'{"id":ID,"action":0}\n',
    "no_action": b'{"type":"action","id":ID}\n',
    "id_as_text": b'{"type":"action","id":"ID","action":0}\n',
    "note_as_object": b'{"type":"action","id":ID,"action":0,"note":{"a":1}}\n',
    "action_true": b'{"type":"action","id":ID,"action":true}\n',
    "action_null": b'{"type":"action","id":ID,"action":null}\n',
    "action_float": b'{"type":"action","id":ID,"action":0.5}\n',
    "action_negative": b'{"type":"action","id":ID,"action":-1}\n',
    "action_far": b'{"type":"action","id":ID,"action":9007199254740991}\n',
    "action_illegal": b'{"type":"action","id":ID,"action":{"heap":0,"count":99}}\n',
    "action_extra": b'{"type":"action","id":ID,"action":{"heap":0,"count":1,"and":2}}\n',
    "line_too_long": b'{"type":"action","id":ID,"action":0,"note":"' + b"x" * LIMIT + b'"}\n',
}
FLOODS: dict[str, tuple[int, bytes]] = {
    "flood_of_text": (1, b"thinking about it ...\n" * 3000),
    "flood_of_newlines": (1, b"\n" * LIMIT),
    "flood_of_answers": (1, b'{"type":"action","id":0,"action":0}\n' * 1800),
    "flood_of_hellos": (1, b'{"type":"hello","protocols":[1]}\n' * 1800),
    "endless_line": (1, b"x" * LIMIT),
    "flood_of_zeros": (1, bytes(LIMIT)),
    "flood_on_stderr": (2, b"debug\n" * 10_000),
}


def last_words(text: bytes) -> Callable[[Message], None]:
    """This instead of an answer, and nothing more."""

    def behaviour(message: Message) -> None:
        send(text.replace(b"ID", str(message["id"]).encode()))
        for_ever()

    return behaviour


def flood(fd: int, block: bytes) -> Callable[[Message], None]:
    """This for ever."""

    def behaviour(_: Message) -> None:
        while True:
            if fd == 1:
                send(block)
            else:
                sys.stderr.buffer.write(block)

    return behaviour


for name, text in WORDS.items():
    instead_of("request", name)(last_words(text))
for name, (number, block) in FLOODS.items():
    instead_of("request", name)(flood(number, block))


if __name__ == "__main__":
    play()
