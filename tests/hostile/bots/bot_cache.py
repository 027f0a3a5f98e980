"""Bots that use the page cache as a notebook: its state outlives a process, a match and a league.

A bit is a page of a file that is in memory or not. Each attempt reads such a bit, or changes one.
"""

import ctypes
import mmap
import os

from bot_player import attempt, play

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {"mincore": 27, "fadvise64": 221, "readahead": 187, "sync_file_range": 277, "mlock": 149, "fsync": 74},
    "aarch64": {"mincore": 232, "fadvise64": 223, "readahead": 213, "sync_file_range": 84, "mlock": 228, "fsync": 82},
}[os.uname().machine]
NUMBERS |= {"cachestat": 451, "mlock2": {"x86_64": 325, "aarch64": 284}[os.uname().machine]}
OWN, SYSTEM = "bot_cache.py", "/usr/lib/os-release"
DONTNEED, WILLNEED, COLD, PAGEOUT, POPULATE_READ, MERGEABLE, HUGEPAGE, COLLAPSE = 4, 3, 20, 21, 22, 12, 14, 25
NOWAIT, DONTCACHE = 0x8, 0x80
PAGE = mmap.PAGESIZE
BUFFER = ctypes.create_string_buffer(PAGE)


def opened(path: str, flags: int = 0) -> int:
    """A descriptor of the file; it stays open."""
    return os.open(path, os.O_RDONLY | flags)


def mapped(path: str) -> ctypes.c_void_p:
    """The address of its first page, read once."""
    pages = mmap.mmap(opened(path), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
    kept.append((pages, pages[:1]))
    return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(pages)))


kept: list[object] = []


def called(what: str, *arguments: object) -> str:
    """What the kernel says to a call."""
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    if LIBC.syscall(NUMBERS[what], *words) < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return f"{what} of {arguments}"


@attempt
def mincore() -> str:
    """Which pages are in memory; for a file of the bot's own user, and of nobody's."""
    return called("mincore", mapped(OWN), PAGE, BUFFER)


@attempt
def cachestat() -> str:
    """How many are."""
    span = (ctypes.c_uint64 * 2)(0, PAGE)
    try:
        return called("cachestat", opened(OWN), span, BUFFER, 0)
    except PermissionError:
        return "the kernel looks whose file it is" if os.geteuid() else ""


@attempt
def fadvise() -> str:
    """Drop them."""
    return called("fadvise64", opened(OWN), 0, 0, DONTNEED)


@attempt
def readahead() -> str:
    """Fetch them without reading."""
    return called("readahead", opened(SYSTEM), 0, PAGE)


@attempt
def sync_file_range() -> str:
    """Write them back."""
    return called("sync_file_range", opened(SYSTEM), 0, PAGE, 7)


def read_with(path: str, flags: int) -> str:
    """A read with flags, as glibc has it: without the call it can only do those without flags."""
    got = os.preadv(opened(path), [bytearray(64)], 0, flags)
    return f"{got} bytes with flags {flags:#x}"


@attempt
def no_wait() -> str:
    """Read only what is in memory."""
    return read_with(SYSTEM, NOWAIT)


@attempt
def do_not_cache() -> str:
    """Read and drop."""
    return read_with(OWN, DONTCACHE)


@attempt
def past_the_cache() -> str:
    """Read from the disk itself."""
    return f"descriptor {opened(SYSTEM, os.O_DIRECT)}"


@attempt
def past_the_cache_later() -> str:
    """The same with a file that is open already."""
    import fcntl  # noqa: PLC0415 - none of the others needs it

    file = opened(SYSTEM)
    fcntl.fcntl(file, fcntl.F_SETFL, os.O_DIRECT)
    return f"flags {fcntl.fcntl(file, fcntl.F_GETFL):#o}" if fcntl.fcntl(file, fcntl.F_GETFL) & os.O_DIRECT else ""


def advised(advice: int, path: str = OWN) -> str:
    """Advice on a mapping of a file."""
    if LIBC.madvise(mapped(path), ctypes.c_size_t(PAGE), advice) < 0:
        raise OSError(ctypes.get_errno(), f"advice {advice}: {os.strerror(ctypes.get_errno())}")
    return f"advice {advice}"


@attempt
def page_out() -> str:
    """Drop a page that is mapped; the kernel allows it for files of one's own user."""
    return advised(PAGEOUT)


@attempt
def cool() -> str:
    """Make it the first to go."""
    return advised(COLD)


@attempt
def will_need() -> str:
    """Fetch it without touching it."""
    return advised(WILLNEED)


@attempt
def populate() -> str:
    """The same, and wait for it."""
    return advised(POPULATE_READ)


@attempt
def merge() -> str:
    """Share pages with whoever has the same, and see by the time of a write that it happened."""
    return advised(MERGEABLE)


@attempt
def huge_pages() -> str:
    """Make one page of 512: whoever maps the same file sees it in its smaps."""
    return advised(HUGEPAGE)


@attempt
def collapse() -> str:
    """The same at once. The kernel is asked about a span too short to be collapsed, which it must not even look at."""
    return advised(COLLAPSE)


@attempt
def lock_pages() -> str:
    """Keep them in memory, by the older call, the newer, and the flag of a mapping."""
    size = ctypes.c_size_t(PAGE)
    found = [name for name in ("mlock", "mlock2") if LIBC.syscall(NUMBERS[name], mapped(SYSTEM), size, 0) >= 0]
    try:
        mmap.mmap(opened(SYSTEM), 1, mmap.MAP_PRIVATE | 0x2000, mmap.PROT_READ)
        found.append("MAP_LOCKED")
    except OSError:
        pass
    return ", ".join(found)


@attempt
def write_back() -> str:
    """Make the disk work, for a file of the system; a bot's `fsync` has nothing to do, so it does nothing."""
    if LIBC.syscall(NUMBERS["fsync"], -1) >= 0:  # the kernel would find no such file
        return ""
    return f"the kernel looks: {os.strerror(ctypes.get_errno())}"


@attempt
def sync_everything() -> str:
    """The same for the whole machine."""
    number = {"x86_64": 162, "aarch64": 81}[os.uname().machine]
    return "sync" if LIBC.syscall(number) == 0 else ""


if __name__ == "__main__":
    play()
