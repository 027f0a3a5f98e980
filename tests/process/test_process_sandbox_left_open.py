"""Ways that docs/sandbox.md says are left: if one closes, the sentence goes."""

import ctypes
import os
import threading
from pathlib import Path

import pytest
from process_boxes import Ran, folder_of, in_a_box, ran

pytestmark = in_a_box

LIBRARY = Path("/usr/lib/os-release")
FUTEX = {"x86_64": 202, "aarch64": 98}.get(os.uname().machine, 98)
RENDEZVOUS = f"""
import ctypes, mmap, os, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
file = os.open("{LIBRARY}", os.O_RDONLY)
place = libc.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ, mmap.MAP_PRIVATE, file, ctypes.c_long(0))
word = ctypes.c_uint32.from_address(place).value
def futex(operation, value, patience=None):
    return libc.syscall({FUTEX}, ctypes.c_void_p(place), operation, value, patience, None, 0)
"""
WAIT = f"{RENDEZVOUS}print(futex(0, word, (ctypes.c_long * 2)(10, 0)))\n"
WAKE = f"""{RENDEZVOUS}
end = time.monotonic() + 10
while not (woken := futex(1, 1)) and time.monotonic() < end: time.sleep(0.01)
print(woken)
"""


@pytest.mark.skipif(not LIBRARY.exists() or ctypes.sizeof(ctypes.c_long) != 8, reason="of 64-bit Debian and its like")
def test_two_bots_that_are_awake_wake_each_other(tmp_path: Path) -> None:
    """Through a file that both see, and neither can write to."""
    found: list[Ran] = []
    waiting = threading.Thread(target=lambda: found.append(ran(tmp_path / "a", WAIT)))
    waiting.start()

    woken = ran(folder_of(tmp_path / "b"), WAKE)
    waiting.join()

    assert (woken.out, found[0].out) == ("1\n", "0\n")
