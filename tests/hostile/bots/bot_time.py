"""Bots that want more time than the others have."""

import contextlib
import ctypes
import fcntl
import hashlib
import mmap
import os
import signal
import threading
import time

from bot_player import Message, answer, attempt, for_ever, instead_of, play, send, start

answered: dict[str, float] = {}
computed: list[float] = []
"""The moments at which a step of a computation was done."""
stolen: list[int] = []
"""For each move of a rival, the steps that were done in the midst of it."""
unanswered: list[Message] = []
F_SETSIG = 10
RIVAL_THINKS_S = 0.05


def burn() -> None:
    """CPU time, outside of the interpreter's lock."""
    while True:
        hashlib.sha256(bytes(1 << 20))
        computed.append(time.monotonic())


def confess() -> str:
    """How much was computed since the last answer, while somebody else was on move.

    On a busy machine the referee reads the answer some time after it was given, and stops the bot then; the bot wakes
    some time before it reads the next request. What it computes in these times is its own, and charged. So only steps
    in the midst of a rival's time count as broken, and only if each rival's move had some.
    """
    if not answered:
        return ""
    wall_s, used_s = time.monotonic() - answered["wall"], time.process_time() - answered["cpu"]
    if wall_s > RIVAL_THINKS_S:
        begin_s, end_s = (answered["wall"] + share * wall_s for share in (0.5, 0.8))
        stolen.append(sum(begin_s < moment_s < end_s for moment_s in computed))
    is_broken = len(stolen) > 1 and all(stolen)
    return f"{'BROKE' if is_broken else 'kept'}: {used_s * 1000:.0f} of {wall_s * 1000:.0f} ms"


def answer_with(note: str, message: Message) -> None:
    """Say so, and look at the clocks."""
    answered.update(cpu=time.process_time(), wall=time.monotonic())
    answer(message, note=note)


def ponder() -> None:
    """Begin to think for ever, in another thread."""
    if threading.active_count() == 1:
        threading.Thread(target=burn, daemon=True).start()


@instead_of("request")
def ponder_in_a_thread(message: Message) -> None:
    """Think while the other one is on move."""
    answer_with(confess(), message)
    ponder()


def type_for_a_while(last: int) -> None:
    """Guess the ids of the requests to come, and answer them all, again and again."""
    end_s = time.monotonic() + 0.02
    while time.monotonic() < end_s:
        for ahead in range(1, 9):
            answer({"id": last + ahead})
        time.sleep(0.0002)


@instead_of("request")
def type_meanwhile(message: Message) -> None:
    """Write on while the other one is on move, in the hope that a line is taken for the next answer."""
    answer(message)
    threading.Thread(target=type_for_a_while, args=(message["id"],), daemon=True).start()


@instead_of("request")
def wake_itself(message: Message) -> None:
    """The same with a helper that wakes it whenever it is stopped, in a session of its own if it may have one."""
    if not answered and os.fork() == 0:
        keep_awake(os.getppid())
    answer_with(confess(), message)
    ponder()


def keep_awake(parent: int) -> None:
    """Until the parent is gone, and three seconds at the most."""
    with contextlib.suppress(OSError):
        os.setsid()
    end_s = time.monotonic() + 3
    while os.getppid() == parent and time.monotonic() < end_s:
        os.kill(parent, signal.SIGCONT)
        time.sleep(0.0005)
    os._exit(0)


@instead_of("request")
def wake_by_a_death(message: Message) -> None:
    """The same with a child whose death is told by SIGCONT, and takes some time: it has much memory to give back."""
    note, libc = confess(), ctypes.CDLL(None, use_errno=True)
    reading, writing = os.pipe()
    child = libc.syscall({"x86_64": 56, "aarch64": 220}[os.uname().machine], int(signal.SIGCONT), 0, 0, 0, 0)
    if child == 0:
        memory = mmap.mmap(-1, 100 << 20)
        memory.write(b"x" * (100 << 20))
        os.write(writing, b"dying")
        os._exit(0)
    if child > 0:
        os.read(reading, 5)
    answer_with(note or f"kept: {os.strerror(ctypes.get_errno())}", message)
    ponder()


class Event(ctypes.Structure):
    """struct sigevent: which signal a timer sends."""

    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("pad", ctypes.c_byte * 48),
    )


def set_alarm_clock() -> str:
    """A timer of the kernel that sends SIGCONT every millisecond; it runs on while the bot is stopped."""
    libc = ctypes.CDLL(None, use_errno=True)
    timer, event = ctypes.c_void_p(), Event(None, signal.SIGCONT, 0)
    if libc.timer_create(time.CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer)):
        return os.strerror(ctypes.get_errno())
    libc.timer_settime(timer, 0, (ctypes.c_long * 4)(0, 1_000_000, 0, 1_000_000), None)
    return "a timer"


@instead_of("request")
def wake_by_timer(message: Message) -> None:
    """The same without a helper: the kernel itself wakes it."""
    if not answered:
        os.write(2, set_alarm_clock().encode())
    answer_with(confess(), message)
    ponder()


@attempt
def choose_the_signal_of_input() -> str:
    """The same by whatever the kernel may tell of a file or socket, with a signal of one's own choice."""
    fcntl.fcntl(0, F_SETSIG, signal.SIGCONT)
    return "F_SETSIG"


@instead_of("request")
def spin(_: Message) -> None:
    """Think for ever."""
    while True:
        pass


@instead_of("request")
def spin_in_threads(_: Message) -> None:
    """Think for ever with all cores."""
    for _number in range(8):
        threading.Thread(target=burn, daemon=True).start()
    for_ever()


@instead_of("request")
def sleep(_: Message) -> None:
    """Wait for better times."""
    for_ever()


@instead_of("request")
def drip(_: Message) -> None:
    """A byte now and then, so that something always comes."""
    while True:
        send(b" ")
        time.sleep(0.005)


@start
def never_hello() -> None:
    """Not a word."""
    for_ever()


@start
def spin_at_start() -> None:
    """Work before the first word."""
    while True:
        pass


@instead_of("match_start")
def never_ready(_: Message) -> None:
    """Not ready for this match, nor for the next."""
    for_ever()


@instead_of("request")
def only_when_asked_twice(message: Message) -> None:
    """Wait for the next request before the first is answered."""
    unanswered.append(message)
    if len(unanswered) > 1:
        answer(message)


@instead_of("match_end")
def think_after_the_end(_: Message) -> None:
    """Busy with the last match when the next one begins; a little only."""
    time.sleep(0.05)


if __name__ == "__main__":
    play()
