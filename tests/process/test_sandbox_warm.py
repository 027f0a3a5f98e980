"""All of a bot's files are in memory before it starts, so that none of its processes leaves a message in which are."""

import ctypes
import json
import mmap
import os
import time
from pathlib import Path
from typing import Final

import pytest
from support.process_boxes import ask, bot_in, folder_of, in_a_box, ran, talking

from arena.process import launch
from arena.process.manifest import read_bot

pytestmark = in_a_box

BITS: Final = 64
BLOCK: Final = 1 << 20
"""Of the file for each bit, more than the kernel reads ahead."""
FAULTS = """
import mmap, os, resource
def major(): return resource.getrusage(resource.RUSAGE_SELF).ru_majflt
with open("notebook", "rb") as file:
    book = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
major()
found = []
for bit in range(%d):
    before = major()
    book[bit * %d]
    found.append(major() - before)
print(found)
""" % (BITS, BLOCK)  # noqa: UP031 - braces are the program's


def forget(path: Path) -> None:
    """Let the kernel drop the file from memory, as a bot could by `posix_fadvise`."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def share_in_memory(path: Path) -> float:
    """Return the share of a file's pages in memory, by `mincore`."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as mapped:
        size = len(mapped)
        pages = (ctypes.c_ubyte * (-(-size // mmap.PAGESIZE)))()
        window = ctypes.c_char.from_buffer(mapped)
        assert ctypes.CDLL(None).mincore(ctypes.c_void_p(ctypes.addressof(window)), ctypes.c_size_t(size), pages) == 0
        del window
        return sum(page & 1 for page in pages) / len(pages)


def with_notebook(place: Path, code: str) -> tuple[Path, Path]:
    """A bot's folder with a large file in it, that the kernel can drop; skips where it cannot."""
    folder = folder_of(place, bot_py=code)
    (folder / "deep" / "er").mkdir(parents=True)
    book = folder / "notebook"
    book.write_bytes(os.urandom(BLOCK) * BITS)
    book.chmod(0o644)
    forget(book)
    if share_in_memory(book) > 0.5:
        pytest.skip("this file system keeps all files in memory")
    return folder, book


def test_all_of_a_bots_folder_is_in_memory_when_it_starts(tmp_path: Path) -> None:
    """Read before each start, also in folders below. The kernel may drop a part at once, but not three times."""
    folder, book = with_notebook(tmp_path, "print(input(), flush=True)\ninput()\n")
    below = folder / "deep" / "er" / "data"
    below.write_bytes(bytes(BLOCK))
    found = []
    for _ in range(3):
        forget(book)
        forget(below)
        with talking(folder) as (channel, _):
            found.append((share_in_memory(book), share_in_memory(below)))
            ask(channel)

    assert (1.0, 1.0) in found


def test_a_bot_cannot_tell_what_was_in_memory_before_it(tmp_path: Path) -> None:
    """Every other block was dropped and read again, as a message; none costs it a page fault that goes to the disk.

    The kernel may drop a page between the start and the look, but not three times.
    """
    folder, book = with_notebook(tmp_path, FAULTS)
    faults = []
    for _ in range(3):
        forget(book)
        with book.open("rb") as file:
            for bit in range(0, BITS, 2):
                os.pread(file.fileno(), 4096, bit * BLOCK)
        faults.append(ran(folder, FAULTS).out.strip())

    assert str([0] * BITS) in faults


def test_the_message_would_arrive_without_that(tmp_path: Path) -> None:
    """A program that is started as it is does find the bits."""
    _, book = with_notebook(tmp_path, FAULTS)
    with book.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        for bit in range(0, BITS, 2):
            os.pread(file.fileno(), 4096, bit * BLOCK)

    assert 0.0 < share_in_memory(book) < 1.0


def test_links_pipes_and_what_vanishes_are_passed_over(tmp_path: Path) -> None:
    """Nothing outside the folder is read, and the read never blocks."""
    folder = folder_of(tmp_path / "bot", bot_py="print(input())\n")
    outside = tmp_path / "outside"
    outside.write_bytes(os.urandom(BLOCK))
    forget(outside)
    was = share_in_memory(outside)
    (folder / "link").symlink_to(outside)
    (folder / "dangling").symlink_to("nothing")
    os.mkfifo(folder / "pipe")

    begun_s = time.monotonic()
    launch._preload(bot_in(folder))

    assert time.monotonic() - begun_s < 5.0
    assert share_in_memory(outside) == was


def test_a_script_among_other_files_is_read_alone(tmp_path: Path) -> None:
    """The folder it lies in may be a home folder."""
    folder, book = with_notebook(tmp_path, "print(input())\n")

    launch._preload(read_bot(folder / "bot.py"))

    assert share_in_memory(book) < 0.5


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
