"""Bots that break the order of the dialogue: too early, too late, too often, not at all, or with words that hurt."""

import ctypes
import json
import os
import signal

from bot_player import Message, answer, for_ever, instead_of, play, reply, say, send, start

ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e"
"""Clears a screen, sets a title, colours, and turns the direction of writing."""


@instead_of("request")
def answer_twice(message: Message) -> None:
    """Change its mind."""
    answer(message)
    answer(message, note="no, this")


@instead_of("request")
def answer_early(message: Message) -> None:
    """All answers of the match at once."""
    for number in range(20):
        answer({"id": message["id"] + number})


@instead_of("request")
def answer_another(message: Message) -> None:
    """A request that there never was."""
    answer({"id": message["id"] + 1000})
    for_ever()


@instead_of("match_end")
def answer_after_the_end(_: Message) -> None:
    """The match is over, and it goes on."""
    for number in range(200):
        answer({"id": number})


@instead_of("request")
def chat(message: Message) -> None:
    """A forgotten print."""
    send(b"thinking about it ...\n\n")
    answer(message)


@instead_of("request")
def answer_in_pieces(message: Message) -> None:
    """One byte at a time; it is allowed."""
    for byte in f'  {{"id": {message["id"]}, "action": 0, "type": "action"}}\r\n'.encode():
        send(bytes([byte]))


@instead_of("request")
def second_hello(_: Message) -> None:
    """Start again from the beginning."""
    say(type="hello", protocols=[1])
    for_ever()


@instead_of("hello")
def hello_twice(message: Message) -> None:
    """Polite."""
    reply(message)
    reply(message)


@instead_of("hello")
def unknown_protocol(_: Message) -> None:
    """From the future."""
    say(type="hello", protocols=[99])


@instead_of("hello")
def no_protocol(_: Message) -> None:
    """From nowhere."""
    say(type="hello")


@instead_of("hello")
def answer_to_hello(_: Message) -> None:
    """In a hurry."""
    say(type="action", id=0, action=0)
    say(type="ready", match="")
    for_ever()


@instead_of("match_start")
def ready_for_another(_: Message) -> None:
    """Ready, for a match of somebody else."""
    say(type="ready", match="another-0-0")
    for_ever()


@instead_of("match_start")
def ready_twice(message: Message) -> None:
    """Ready, and ready."""
    line = json.dumps({"type": "ready", "match": message["match"]}) + "\n"
    send(line.encode() * 2)


@instead_of("request")
def play_referee(message: Message) -> None:
    """Declare itself the winner."""
    say(type="match_end", match=message["match"], ranks=[0, 0], scores=[99, 99], termination="normal", at_fault=None)
    for_ever()


@instead_of("match_end")
def quit_between_matches(_: Message) -> None:
    """One match is enough."""
    os._exit(4)


@instead_of("request")
def exit_well(_: Message) -> None:
    """Resign, in a way."""
    os._exit(0)


@instead_of("request")
def exit_ill(_: Message) -> None:
    """An error of its own."""
    os.write(2, b"Traceback: the table is empty\n")
    os._exit(3)


@instead_of("request")
def exit_as_if_killed(_: Message) -> None:
    """Look as if the referee had done it."""
    os._exit(137)


@instead_of("request")
def kill_itself(_: Message) -> None:
    """The same, really."""
    os.kill(os.getpid(), signal.SIGKILL)


@instead_of("request")
def real_time_signal(_: Message) -> None:
    """A signal without a name."""
    os.kill(os.getpid(), 40)


@instead_of("request")
def stray_and_exit(_: Message) -> None:
    """The warning for the stray line finds nobody."""
    send(b"fatal: no table\n")
    os._exit(6)


@instead_of("request")
def segfault(_: Message) -> None:
    """Fall over."""
    ctypes.string_at(0)


@instead_of("request")
def answer_and_exit(message: Message) -> None:
    """The last word is an answer."""
    answer(message)
    os._exit(7)


@start
def exit_at_once() -> None:
    """Not even a hello."""
    os._exit(0)


@start
def close_stdin() -> None:
    """Hear nothing."""
    os.close(0)
    for_ever()


@instead_of("request")
def close_stdout(_: Message) -> None:
    """Say nothing any more, but stay."""
    os.close(1)
    for_ever()


@instead_of("request")
def close_stderr(message: Message) -> None:
    """No complaints; that is its own affair."""
    os.closerange(2, 3)
    answer(message)


@instead_of("match_start")
def deaf(message: Message) -> None:
    """Ready, and then it reads nothing more."""
    reply(message)
    for_ever()


@instead_of("request")
def escapes_in_notes(message: Message) -> None:
    """Draw on the screen of whoever looks at the match."""
    answer(message, note=ESCAPES)


@instead_of("request")
def escapes_in_stderr(_: Message) -> None:
    """The same by its complaint."""
    os.write(2, ESCAPES.encode() + b"\n")
    os._exit(3)


@instead_of("request")
def escapes_in_a_key(message: Message) -> None:
    """The same by the name of an unknown field, which reports quote."""
    say(**{"type": "action", "id": message["id"], "action": 0, ESCAPES: 1})


@instead_of("request")
def longest_notes(message: Message) -> None:
    """As much as a note holds, from chance, every time."""
    answer(message, note=os.urandom(500).hex())


@instead_of("request")
def notes_that_pack_well(message: Message) -> None:
    """As much as a line holds, every time: small when it is packed, and large when somebody unpacks it."""
    answer(message, note="a" * 65_000)


@instead_of("request")
def notes_that_do_not_pack(message: Message) -> None:
    """The same from chance, to fill the disk with records."""
    answer(message, note=os.urandom(32_000).hex())


@instead_of("quit")
def talk_at_quit(_: Message) -> None:
    """More than a pipe holds, when nobody listens any more."""
    send(b"bye\n" * 200_000)


if __name__ == "__main__":
    play()
