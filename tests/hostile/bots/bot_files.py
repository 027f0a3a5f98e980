"""Bots that want to read or write what is not theirs. They play on whatever comes of it."""

import ctypes
import os
from pathlib import Path

from bot_player import FACTS, attempt, play

HERE = Path(__file__).resolve()
MOST_FILES = 20_000


def written(place: Path) -> str:
    """The place, if a file could be made there."""
    try:
        (place / FACTS["mark"]).write_bytes(b"was here")
    except OSError:
        return ""
    return str(place)


@attempt
def passwd() -> str:
    """The users of the machine."""
    return Path("/etc/passwd").read_text(encoding="utf-8")[:40]


@attempt
def secret() -> str:
    """A file of the person who runs the league."""
    return Path(FACTS["secret"]).read_text(encoding="utf-8")


@attempt
def home() -> str:
    """What lies in home folders."""
    return str([str(file) for place in ("/root", "/home", "/var", FACTS["home"]) for file in Path(place).iterdir()][:5])


@attempt
def opponent() -> str:
    """The source of the other bot."""
    return Path(FACTS["opponent"]).read_text(encoding="utf-8")[:40]


@attempt
def environment() -> str:
    """The settings of the harness, from all processes in sight."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            text = (process / "environ").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if FACTS["token"] in text:
            found.append(process.name)
    return ", ".join(found)


@attempt
def process_list() -> str:
    """The command lines of others."""
    return ", ".join(str(pid) for pid in FACTS["pids"] if Path(f"/proc/{pid}/cmdline").exists())


@attempt
def descriptors() -> str:
    """Files that somebody left open for it; the last one is the list itself."""
    return ", ".join(sorted(file.name for file in Path("/proc/self/fd").iterdir())[4:])


@attempt
def write_outside() -> str:
    """A file anywhere."""
    return ", ".join(filter(None, map(written, map(Path, FACTS["places"]))))


@attempt
def own_source() -> str:
    """Be somebody else in the next league."""
    with HERE.open("a", encoding="utf-8") as file:
        file.write("# and one line more\n")
    return str(HERE)


@attempt
def make_own_source_writable() -> str:
    """The same, by its permissions and by its folder."""
    HERE.chmod(0o777)
    HERE.rename(HERE.with_name("moved.py"))
    return "renamed it"


@attempt
def fill_disk() -> str:
    """A gigabyte, wherever there is room."""
    found = []
    for place in FACTS["places"]:
        try:
            with (Path(place) / FACTS["mark"]).open("wb", buffering=0) as file:
                for _ in range(1 << 10):
                    file.write(bytes(1 << 20))
                found.append(place)
        except OSError:
            continue
    return ", ".join(found)


@attempt
def fill_scratch() -> str:
    """More than the 16 MiB it asked for."""
    total = 0
    try:
        for number in range(8):
            with Path(f"/tmp/{number}").open("wb", buffering=0) as file:
                for _ in range(4):
                    total += file.write(bytes(1 << 20))
    except OSError:
        pass
    return f"{total >> 20} MiB" if total > 16 << 20 else ""


def fill_with_files(place: Path) -> str:
    """Empty files take memory of the kernel that no size of a file system counts."""
    for number in range(MOST_FILES):
        os.close(os.open(f"{place}/{number}", os.O_CREAT | os.O_WRONLY))
    return f"{MOST_FILES} files"


@attempt
def inodes() -> str:
    """Many empty files, without leave to write."""
    return fill_with_files(Path("/tmp"))


@attempt
def scratch_inodes() -> str:
    """Many empty files, with leave to write some."""
    return fill_with_files(Path("/tmp"))


@attempt
def shm_inodes() -> str:
    """The same where shared memory lies."""
    return fill_with_files(Path("/dev/shm"))


@attempt
def remount() -> str:
    """The folder that is read-only, made writable again."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"none", b"/", None, 0x20, None) == 0:
        return "remounted /"
    raise OSError(ctypes.get_errno(), "mount")


if __name__ == "__main__":
    play()
