"""Files of the kernel below a bot's /proc: those that tell about the whole machine are covered, or constant.

Rule: an allow list. A bot reads its own processes, facts that never change, and synthetic copies of three files that
language runtimes need. Every other entry that the kernel lets everybody read is covered, also those of kernels to
come: a counter of the whole machine is a way for one bot to talk to another.
"""

from functools import cache
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
OWN: Final = frozenset({"self", "thread-self", "mounts", "net"})
"""Links to the reader's own process, and to namespaces of its own."""
CONSTANT: Final = frozenset(
    {
        *("bootconfig", "cmdline", "config.gz", "consoles", "devices", "dma", "execdomains", "fb", "filesystems"),
        *("iomem", "ioports", "kallsyms", "misc", "mtrr", "partitions", "version", "version_signature"),
        *("sysvipc", "tty"),
    }
)
"""Facts about the machine that no program changes; `sysvipc` is empty, because it shows objects of the sandbox only."""
_BY_OTHERS: Final = 0o4
_CHANGING: Final = ("cpu MHz", "clock")
"""Lines of /proc/cpuinfo that follow the load."""
_COUNTERS_OF_A_CORE: Final = " 0 0 0 0 0 0 0 0 0 0"
_COUNTERS: Final = "intr 0\nctxt 0\nbtime 0\nprocesses 0\nprocs_running 1\nprocs_blocked 0\nsoftirq 0\n"


@cache
def cover_arguments() -> tuple[str, ...]:
    """Return arguments for bwrap, after `--proc /proc`, that cover all entries but constant ones and the bot's own.

    A covered file cannot be opened; a covered folder is empty.
    """
    words: list[str] = []
    for path in map(str, changing_entries()):
        is_folder = Path(path).is_dir()
        words += ("--tmpfs", path, "--remount-ro", path) if is_folder else ("--ro-bind", "/dev/null", path)
    return tuple(words)


@cache
def synthetic_contents(memory_mib: int) -> dict[str, bytes]:
    """Return constant contents by path: the cores of this machine, always idle, and `memory_mib` of free memory."""
    lines = (_PROC / "stat").read_text(encoding="ascii").splitlines()
    cores = [f"{line.split()[0]}{_COUNTERS_OF_A_CORE}\n" for line in lines if line.startswith("cpu")]
    about = (_PROC / "cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    sizes = dict.fromkeys(("MemTotal", "MemFree", "MemAvailable"), memory_mib << 10)
    sizes |= dict.fromkeys(("Buffers", "Cached", "SwapCached", "SwapTotal", "SwapFree", "Shmem", "SReclaimable"), 0)
    return {
        "/proc/stat": "".join([*cores, _COUNTERS]).encode(),
        "/proc/cpuinfo": "".join(line for line in about if not line.startswith(_CHANGING)).encode(),
        "/proc/meminfo": "".join(f"{f'{name}:':<15} {size:>8} kB\n" for name, size in sizes.items()).encode(),
    }


def changing_entries() -> list[Path]:
    """Return the entries of /proc to cover: readable by bots, not constant, not empty, without a synthetic copy."""
    known = OWN | CONSTANT | {Path(path).name for path in synthetic_contents(0)}
    unknown = sorted(path for path in _PROC.iterdir() if not path.name.isdigit() and path.name not in known)
    return [path for path in unknown if _is_readable(path)]


def _is_readable(path: Path) -> bool:
    """Return True if a user who is not root can read something in the file or folder."""
    try:
        is_open = bool(path.lstat().st_mode & _BY_OTHERS)
        return is_open and not (path.is_dir() and not any(path.iterdir()))
    except FileNotFoundError:  # its kernel module was unloaded
        return False
    except PermissionError:  # closed to the harness, but perhaps not to bots
        return True
