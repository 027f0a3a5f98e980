"""Every hostile bot of bots/, with what must become of it.

`ends` is the termination of all its matches, or one of two. Where that is normal, `word` stands in a note of each of
them, otherwise in the sentence that names its fault, or on its stderr. What it asks for in its manifest stands with it.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from arena.match.settings import ClockSettings
from arena.process.limits import LimitRequest
from arena.process.manifest import BotSpec, Manifest, bot_digest, read_bot
from support.hostile_league import ENDLESS, PATIENT, PYTHON, QUICK

PROGRAMS: Final = Path(__file__).parents[1] / "hostile" / "bots"


class HostileBot(Struct, frozen=True):
    """A hostile bot. `rivals_think_ms`: how long its opponents take for a move, for who wants to use that time."""

    kind: str
    behaviour: str
    ends: str = "normal"
    word: str = "kept"
    processes: bool = False
    wishes: LimitRequest = LimitRequest()
    clock: ClockSettings = QUICK
    rivals_think_ms: int = 0
    command: tuple[str, ...] = ()
    needs: str = "python3"

    @property
    def id(self) -> str:
        """For the names of tests."""
        return f"{self.kind}-{self.behaviour}"


SCRATCH: Final = LimitRequest(scratch_mib=16)
SMALL: Final = LimitRequest(memory_mib=48)
FEW: Final = LimitRequest(tasks=16)
SOON: Final = LimitRequest(startup_ms=400)


def _kept(kind: str, *behaviours: str) -> list[HostileBot]:
    """Bots that try something, fail, and play on."""
    return [HostileBot(kind, behaviour) for behaviour in behaviours]


def _harmless(kind: str, *behaviours: str) -> list[HostileBot]:
    """Bots whose behaviour costs nobody anything."""
    return [HostileBot(kind, behaviour, word="") for behaviour in behaviours]


def _ends(kind: str, ends: str, clock: ClockSettings = QUICK, **words: str) -> list[HostileBot]:
    """Bots that lose by their own fault."""
    named = {behaviour.replace("_", "-"): word for behaviour, word in words.items()}
    return [HostileBot(kind, behaviour, ends, word, clock=clock) for behaviour, word in named.items()]


FILES: Final = [
    *_kept("files", "passwd", "secret", "home", "opponent", "environment", "process-list", "descriptors"),
    *_kept("files", "write-outside", "own-source", "make-own-source-writable", "fill-disk", "inodes", "remount"),
    HostileBot("files", "fill-scratch", wishes=SCRATCH),
    HostileBot("files", "scratch-inodes", "crash", "files in /tmp", wishes=SCRATCH, clock=PATIENT),
    HostileBot("files", "shm-inodes", "crash", "files in /dev/shm", wishes=SCRATCH, clock=PATIENT),
]
NETWORK: Final = [
    *_kept("network", "tcp", "abstract-socket", "path-socket", "vsock", "internet", "raw-packets"),
    *_kept("network", "lock-channel", "record-lock-channel", "hidden-lock-channel", "lease-channel"),
    *_kept("network", "watch-channel", "directory-watch-channel"),
]
KERNEL: Final = [
    *_kept("kernel", "kill-outside", "kill-all", "trace-outside", "trace-first", "trace-me", "memory-outside"),
    *_kept("kernel", "new-user-namespace", "clone-user-namespace", "keyctl", "io-uring", "bpf", "perf", "userfaultfd"),
    *_kept("kernel", "own-session", "affinity", "priority", "realtime", "raise-limits", "spare-me", "type-ahead"),
    *_kept("kernel", "be-root", "be-first", "change-first", "write-to-itself", "hear-the-machine"),
    *_ends("kernel", "crash", core_dump="SIGABRT"),
]
MEMORY: Final = [
    HostileBot("memory", "private", "crash", "MiB of memory", wishes=SMALL, clock=PATIENT),
    HostileBot("memory", "little-by-little", "normal or crash", "MiB of memory", wishes=SMALL, clock=PATIENT),
    HostileBot("memory", "grow-meanwhile", "normal or crash", "", wishes=SMALL, clock=PATIENT),
    HostileBot("memory", "leaderless", "normal or crash", "MiB of memory", wishes=SMALL, clock=PATIENT),
    HostileBot("memory", "eight-processes", "crash", "MiB of memory", processes=True, wishes=SMALL, clock=PATIENT),
    HostileBot("memory", "one-number", "crash", "MemoryError", wishes=SMALL),
    HostileBot("memory", "memfd"),
    HostileBot("memory", "system-v"),
    HostileBot("memory", "scratch-files", wishes=SCRATCH, clock=PATIENT),
    HostileBot("memory", "pipes", clock=PATIENT),
    HostileBot("memory", "sockets", wishes=SMALL, clock=PATIENT),
    HostileBot("memory", "local-sockets", "normal or crash", "MiB of memory", wishes=SMALL, clock=PATIENT),
    HostileBot("memory", "page-tables", "crash", "MiB of memory", wishes=SMALL, clock=PATIENT),
]
UNSEEN: Final = [
    HostileBot("cache", "every-way", clock=PATIENT),
    HostileBot("hidden", "every-way", clock=PATIENT),
    HostileBot("native", "own-table", command=("./bot_native",), needs="cc"),
]
"""Each tries all the ways of its file, and says which were open."""
TASKS: Final = [
    *_kept("tasks", "fork", "spawn", "shell-out"),
    HostileBot("tasks", "fork-bomb", processes=True, wishes=FEW, clock=PATIENT),
    HostileBot("tasks", "thread-bomb", wishes=FEW, clock=PATIENT),
    HostileBot("tasks", "daemon", processes=True, clock=PATIENT),
    HostileBot("tasks", "child-answers", word="from a child", processes=True, clock=PATIENT),
    HostileBot("tasks", "work-in-a-child", "timeout", "of wall time", processes=True),
    HostileBot("tasks", "vanish", "crash", "exit code 5", processes=True, clock=PATIENT),
    *_harmless("tasks", "ignore-signals", "never-quit"),
    *_ends("tasks", "timeout", stop_itself="no answer within", stop_group="no answer within"),
]
TIME: Final = [
    *_ends("time", "timeout", spin="ms of CPU time, had 120 ms", spin_in_threads="ms of CPU time, had 120 ms"),
    *_ends("time", "timeout", sleep="no answer within 0.3 s of wall time", drip="no answer within 0.3 s of wall time"),
    *_ends("time", "timeout", only_when_asked_twice="of wall time"),
    HostileBot("time", "never-hello", "timeout", 'no "hello"', wishes=SOON),
    HostileBot("time", "spin-at-start", "timeout", 'no "hello"', wishes=SOON),
    HostileBot("time", "never-ready", "timeout", 'no "ready"', wishes=SOON),
    *_harmless("time", "think-after-the-end", "type-meanwhile"),
    HostileBot("time", "ponder-in-a-thread", word="kept", rivals_think_ms=60),
    HostileBot("time", "wake-by-timer", word="kept", rivals_think_ms=60),
    *_kept("time", "choose-the-signal-of-input"),
    HostileBot("time", "wake-by-a-death", rivals_think_ms=60, processes=True, clock=PATIENT),
    HostileBot("time", "wake-itself", word="kept", rivals_think_ms=60, processes=True, clock=PATIENT),
]
LINES: Final = [
    *_ends("lines", "malformed_reply", nan="NaN is not JSON", infinity="Infinity is not JSON", too_large="too large"),
    *_ends("lines", "malformed_reply", deep="nested too deeply", deep_objects="nested too deeply", unclosed="nested"),
    *_ends("lines", "malformed_reply", digits="beyond 2^53"),
    *_ends("lines", "malformed_reply", twice_a_key='"action" is given twice', twice_a_key_hidden="twice"),
    *_ends("lines", "malformed_reply", bad_utf8="UTF-8", overlong_utf8="UTF-8", surrogate="surrogate"),
    *_ends("lines", "malformed_reply", half="not one JSON object", two_in_a_line="not one JSON object"),
    *_ends("lines", "malformed_reply", single_quotes="not one JSON", unknown_type="resign"),
    *_ends("lines", "malformed_reply", no_type="type", no_action="action", id_as_text="id", note_as_object="note"),
    *_ends("lines", "malformed_reply", action_true="", action_null="", action_float="", action_extra=""),
    *_ends("lines", "illegal_action", action_negative="not an index", action_illegal="99 counters cannot be taken"),
    *_ends("lines", "illegal_action", action_far="is not an index in `legal`: there are "),
    *_ends("lines", "malformed_reply", ENDLESS, line_too_long="a line of more than 65536 bytes"),
    *_ends("lines", "malformed_reply", ENDLESS, endless_line="than 65536 bytes", flood_of_zeros="than 65536 bytes"),
    *_ends("lines", "timeout", zeros="", byte_order_mark="", no_end="of wall time", flood_on_stderr="time"),
    *_ends("lines", "protocol_violation", ENDLESS, flood_of_text="lines", flood_of_newlines="lines"),
    *_ends("lines", "protocol_violation", ENDLESS, flood_of_answers="lines", flood_of_hellos="hello"),
]
DIALOGUE: Final = [
    *_harmless("dialogue", "answer-twice", "answer-early", "answer-after-the-end", "chat", "answer-in-pieces"),
    *_harmless("dialogue", "close-stderr", "escapes-in-notes", "longest-notes", "talk-at-quit", "ready-twice"),
    *_harmless("dialogue", "escapes-in-a-key"),
    *_ends("dialogue", "timeout", answer_another="of wall time", deaf="of wall time"),
    *_ends("dialogue", "protocol_violation", second_hello='a "hello" from a bot that owes its action'),
    *_ends("dialogue", "protocol_violation", hello_twice="hello", answer_to_hello="ready"),
    *_ends("dialogue", "protocol_violation", unknown_protocol="arena/99", ready_for_another="another-0-0"),
    *_ends("dialogue", "malformed_reply", notes_that_pack_well="<= 1000", notes_that_do_not_pack="<= 1000"),
    *_ends("dialogue", "malformed_reply", no_protocol="protocols", play_referee="match_end"),
    *_ends("dialogue", "normal or crash", quit_between_matches='exit code 4 before its "ready"'),
    *_ends("dialogue", "crash", exit_well="exit code 0", exit_ill="exit code 3", answer_and_exit="exit code 7"),
    *_ends("dialogue", "crash", exit_as_if_killed="SIGKILL", kill_itself="SIGKILL", segfault="signal 11 (SIGSEGV)"),
    *_ends("dialogue", "crash", stray_and_exit="exit code 6", real_time_signal="was ended by signal 40"),
    *_ends("dialogue", "crash", exit_at_once="exit code 0", close_stdin="closed its stdin", close_stdout="closed"),
    *_ends("dialogue", "crash", escapes_in_stderr="exit code 3"),
]
OTHERS: Final = [
    HostileBot("shell", "fork", "crash", "Cannot fork", command=("sh", "bot_shell.sh"), needs="sh"),
    HostileBot("perl", "fork", command=("perl", "bot_perl.pl"), needs="perl"),
    HostileBot("node", "read-and-spawn", command=("node", "bot_node.js"), needs="node", clock=PATIENT),
    HostileBot("native", "old-abi", "crash", "SIGSYS", command=("./bot_native",), needs="cc"),
    HostileBot("native", "x32-abi", "crash", "SIGSYS", command=("./bot_native",), needs="cc"),
    HostileBot("native", "bare-clone", command=("./bot_native",), needs="cc"),
]
HOSTILE_BOTS: Final = (*FILES, *NETWORK, *KERNEL, *MEMORY, *UNSEEN, *TASKS, *TIME, *LINES, *DIALOGUE, *OTHERS)
BY_ID: Final = {each.id: each for each in HOSTILE_BOTS}


def stage(folder: Path) -> Path:
    """Copy the hostile bots to a folder where nothing can be spoilt; build the native one if there is a compiler."""
    folder.mkdir()
    folder.chmod(0o755)
    for file in sorted(PROGRAMS.glob("bot_*")):
        shutil.copy(file, folder)
    compiler = shutil.which("cc")
    if compiler is not None:
        subprocess.run([compiler, "-O1", "-o", folder / "bot_native", folder / "bot_native.c"], check=True, timeout=60)
    return folder


def bot_of(rogue: HostileBot, staged: Path) -> BotSpec:
    """A bot that lives in the staged folder."""
    script = staged / f"bot_{rogue.kind}.py"
    manifest = Manifest(
        name=rogue.behaviour,
        command=rogue.command or (*PYTHON, script.name),
        processes=rogue.processes,
        limits=rogue.wishes,
    )
    found = read_bot(staged / "bot_player.py")
    return replace(found, manifest=manifest, digest=bot_digest(staged, manifest))
