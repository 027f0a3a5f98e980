"""What a sandboxed bot's last words say about the sandbox: its stderr -> a hint for its author.

Rule: a guess that helps, never a judgement: the author sees the stderr too.
"""

import re
from typing import Final

_HINTS: Final = (
    (
        re.compile(r"read-only file system|EROFS", re.IGNORECASE),
        "a bot's folder is read-only; bot.yaml may ask for a writable /tmp: `limits: {scratch_mib: 16}`",
    ),
    (
        re.compile(r"name resolution|network is unreachable|getaddrinfo|EAI_AGAIN|address family not", re.IGNORECASE),
        "there is no network for bots",
    ),
    (
        re.compile(r"MemoryError|cannot allocate memory|OutOfMemoryError|bad_alloc|heap out of memory", re.IGNORECASE),
        (
            "the memory of a bot is limited; bot.yaml may ask for more, up to what the tournament allows:"
            " `limits: {memory_mib: 512}`"
        ),
    ),
    (
        re.compile(r"function not implemented|ENOSYS|Errno 38", re.IGNORECASE),
        (
            "bots do not have all system calls, such as those for locks, or for shared memory without a file;"
            ' protocol.md names them under "The process"'
        ),
    ),
    (
        re.compile(r"can't start new thread|pthread_create|Resource temporarily unavailable", re.IGNORECASE),
        (
            "threads and processes are limited; bot.yaml may ask for more, up to what the tournament allows:"
            " `limits: {tasks: 64}`"
        ),
    ),
)
_PROCESSES: Final = (
    re.compile(r"fork|operation not permitted|EPERM|subprocess|spawn", re.IGNORECASE),
    (
        "bots may not start processes unless bot.yaml says `processes: true`; a shell script can end with"
        " `exec python3 bot.py` instead"
    ),
)


def hint_on(stderr: str, *, processes: bool) -> str:
    """What the sandbox may have had to do with it; empty if nothing points to it."""
    known = _HINTS if processes else (_PROCESSES, *_HINTS)
    return next((hint for pattern, hint in known if pattern.search(stderr)), "")
