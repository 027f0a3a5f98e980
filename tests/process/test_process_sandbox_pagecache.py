"""The page cache as a notebook: one process of a bot writes into it, another reads, and there are ways for both.

A letter is a byte: eight chunks of a file, each of them in memory or not. A bot must have no way to drop a page; faults
and their number, at which every program can look, then tell nothing.
"""

import json
import os
from pathlib import Path
from typing import Final

from process_boxes import BOT, folder_of, in_a_box, ran

pytestmark = in_a_box

CHUNK: Final = 256 << 10
"""Of bytes for a bit: more than the kernel puts into one piece of memory when it reads ahead."""
LETTERS: Final = "zoo"
NOISE: Final = 2
"""Bits that the kernel itself may clear: memory at which it goes on to read ahead is not mapped with its neighbours."""
READERS: Final = ("mincore", "cachestat", "no_wait", "fault_around", "faults")
"""Each has a file of its own, for looking changes what is looked at."""
COMMON: Final = f"""
import ctypes, json, mmap, os, resource
LIBC = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
MINCORE, FADVISE = (27, 221) if X86 else (232, 223)
CACHESTAT, CHUNK, PAGE, LETTERS, NAMES = 451, {CHUNK}, 4096, "{LETTERS}", {READERS}
def spot(bit): return bit * CHUNK + CHUNK // 2
def call(number, *words):
    return LIBC.syscall(number, *[ctypes.c_long(word) if isinstance(word, int) else word for word in words])
def pages_of(bit):
    pages = mmap.mmap(file, CHUNK, mmap.MAP_SHARED, mmap.PROT_READ, offset=bit * CHUNK)
    pages.madvise(mmap.MADV_RANDOM)  # so that a look at one page fetches no others
    return pages
LIBC.mmap.restype = ctypes.c_void_p
def with_address(bit, use):
    size = ctypes.c_size_t(CHUNK)
    address = LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file, ctypes.c_long(bit * CHUNK))
    found = use(ctypes.c_void_p(address), size)
    LIBC.munmap(ctypes.c_void_p(address), size)
    return found
"""
WRITE: Final = (
    COMMON
    + """
def by_advice(bit): call(FADVISE, file, bit * CHUNK, CHUNK, 4)
def by_page_out(bit):
    with_address(bit, lambda address, size: (ctypes.string_at(address, CHUNK), LIBC.madvise(address, size, 21)))
def by_uncached_read(bit):
    try: os.preadv(file, [bytearray(CHUNK)], bit * CHUNK, 0x80)
    except OSError: pass
def past_the_cache(bit):
    try: other = os.open(name, os.O_RDONLY | os.O_DIRECT)
    except OSError: return
    pages = mmap.mmap(-1, CHUNK, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    os.preadv(other, [pages], bit * CHUNK)
    os.close(other)
for name in NAMES:
    file = os.open(name, os.O_RDONLY)
    for way in (by_page_out, past_the_cache, by_uncached_read, by_advice):
        for place, letter in enumerate(LETTERS):
            for bit in range(8):
                if not ord(letter) >> bit & 1: way(8 * place + bit)
print("written")
"""
)
READ: Final = (
    COMMON
    + """
def by_mincore(bit):
    seen = ctypes.create_string_buffer(CHUNK // PAGE)
    failed = with_address(bit, lambda address, size: call(MINCORE, address, CHUNK, seen))
    return None if failed else seen.raw[CHUNK // 2 // PAGE] & 1
def by_cachestat(bit):
    found = (ctypes.c_uint64 * 5)()
    return None if call(CACHESTAT, file, (ctypes.c_uint64 * 2)(spot(bit), PAGE), found, 0) else int(found[0] > 0)
def by_no_wait(bit):
    try: return int(os.preadv(file, [bytearray(PAGE)], spot(bit), 8) > 0)
    except BlockingIOError: return 0
    except OSError: return None
def by_fault_around(bit):
    pages = pages_of(bit)
    before = mapped()
    pages[CHUNK // 2]
    return int(mapped() - before >= 8)
def mapped():
    with open("/proc/self/statm") as file: return int(file.read().split()[2])
mapped()
def by_faults(bit):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
    pages_of(bit)[CHUNK // 2]
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_majflt == before)
def letters(way):
    bits = [way(bit) for bit in range(8 * len(LETTERS))]
    if None in bits: return None
    return "".join(chr(sum(bits[8 * n + bit] << bit for bit in range(8))) for n in range(len(LETTERS)))
found = {}
for name in NAMES:
    file = os.open(name, os.O_RDONLY)
    found[name] = letters(globals()["by_" + name])
print(json.dumps(found))
"""
)


def warm(path: Path) -> None:
    """All of a new file clean and in memory, in small pieces."""
    path.write_bytes(os.urandom(8 * len(LETTERS) * CHUNK))
    with path.open("rb", buffering=0) as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 16):
            pass


def zeros(letters: str) -> set[int]:
    """The places of the bits that are 0."""
    return {8 * place + bit for place, letter in enumerate(letters) for bit in range(8) if not ord(letter) >> bit & 1}


def test_no_letter_arrives(tmp_path: Path) -> None:
    """By none of the ways to look, after all the ways to write."""
    for name in READERS:
        warm(folder_of(tmp_path) / name)

    assert ran(tmp_path, WRITE, limits=BOT).out == "written\n"
    found = json.loads(ran(tmp_path, READ, limits=BOT).out)

    assert found.keys() == set(READERS)
    for reader, letters in found.items():
        assert letters is None or len(zeros(letters) & zeros(LETTERS)) <= NOISE, (reader, letters)


def test_a_read_leaves_no_time(tmp_path: Path) -> None:
    """The time of the last access would be a bit for each file, noted once a day, for all to see."""
    files = [folder_of(tmp_path) / name for name in ("read", "left")]
    for file in files:
        file.write_bytes(b"x")
        os.utime(file, ns=(0, file.stat().st_mtime_ns))  # older than the last change, which makes the next access noted
    code = "open('read').read()\nimport os\nprint([os.stat(name).st_atime_ns for name in ('read', 'left')])"

    found = ran(tmp_path, code)

    assert json.loads(found.out)[0] == json.loads(found.out)[1]
    assert files[0].stat().st_atime_ns == files[1].stat().st_atime_ns
