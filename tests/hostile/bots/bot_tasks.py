"""Bots that want more processes or threads than one, or to outlive their match, or to be nobody's child."""

import os
import signal
import subprocess
import threading
import time

from bot_player import FACTS, Message, answer, attempt, for_ever, instead_of, play, start

MOST = 200


@attempt
def fork() -> str:
    """One child."""
    if os.fork() == 0:
        for_ever()
    return "a child"


@attempt
def spawn() -> str:
    """One child, by a call that is not fork."""
    return f"process {os.posix_spawn('/bin/true', ['true'], {})}"


@attempt
def shell_out() -> str:
    """A program of the machine."""
    return subprocess.run(["/bin/id"], capture_output=True, text=True, check=True).stdout


@attempt
def fork_bomb() -> str:
    """As many children as there can be, each with children."""
    count = 0
    try:
        while count < MOST:
            if os.fork() == 0:
                while True:
                    try:
                        os.fork()
                    except OSError:
                        for_ever()
            count += 1
    except OSError as refusal:
        os.write(2, f"{count} children, then {refusal}\n".encode())
        return f"{count} children" if count > FACTS["tasks"] else ""
    return f"{count} children"


@attempt
def thread_bomb() -> str:
    """As many threads as there can be."""
    count = 0
    try:
        while count < MOST:
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
            count += 1
    except RuntimeError:
        pass
    return f"{count} threads" if count >= FACTS["tasks"] else ""


@attempt
def daemon() -> str:
    """A grandchild in a session of its own that plays with nobody."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        try:
            os.setsid()
            os.write(writing, b"a session")
        except OSError:
            os.close(writing)
        if os.fork() == 0:
            for_ever()
        os._exit(0)
    os.close(writing)
    return os.read(reading, 100).decode()


@start
def ignore_signals() -> None:
    """All that can be ignored."""
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue


@instead_of("quit")
def never_quit(_: Message) -> None:
    """Ignore what asks it to go, and go on when its input ends."""
    ignore_signals()
    for_ever()


@instead_of("request")
def stop_itself(_: Message) -> None:
    """Sleep by a signal."""
    os.kill(os.getpid(), signal.SIGSTOP)


@instead_of("request")
def stop_group(_: Message) -> None:
    """All of its group, which might be the referee's."""
    os.killpg(0, signal.SIGSTOP)


@instead_of("request")
def vanish(_: Message) -> None:
    """Die while a child holds the pipes."""
    if os.fork():
        os._exit(5)
    for_ever()


@instead_of("request")
def work_in_a_child(message: Message) -> None:
    """A child burns what the parent does not; the parent waits for it, in no time of its own."""
    if os.fork() == 0:
        end_s = time.process_time() + 10
        while time.process_time() < end_s:
            pass
        os._exit(0)
    os.wait()
    answer(message)


@instead_of("request")
def child_answers(message: Message) -> None:
    """Half of the thinking is somebody else's."""
    if os.fork() == 0:
        answer(message, note="from a child")
        os._exit(0)
    os.wait()


if __name__ == "__main__":
    play()
