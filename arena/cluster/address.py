"""The address of a cluster, from options and a tournament's file, before anything is sent there.

Rule: dask runs any code that it is sent, so everybody who reaches a scheduler owns its workers. Nothing is sent to one
that does not speak TLS, on this machine too, unless the user has typed --trust-network.
"""

import importlib.util
import json
import re
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from arena.errors import SpecError
from arena.league.tournament import ClusterSettings
from arena.plugins import install_command

_MOST_HERE: Final = 1024
_ADDRESS: Final = re.compile(r"(tls|tcp)://[^/\s]+:[0-9]{1,5}")


def checked_address(settings: ClusterSettings, *, is_trusted: bool) -> ClusterSettings:
    """Check the settings of a cluster; return them with the address from the scheduler file filled in.

    Raises SpecError if they name no cluster, if dask is not installed, and for a cluster without TLS unless the network
    is trusted.
    """
    if importlib.util.find_spec("distributed") is None:  # an extra, and slow to import
        raise SpecError(f"dask is not installed; {install_command('cluster')} installs what clusters need")
    checked = settings
    if settings.scheduler_file:
        if settings.address:
            raise SpecError("give either `address:` or `scheduler_file:`, not both")
        checked = replace(settings, address=_read_address(Path(settings.scheduler_file)))
    if workers_here(checked) is not None:
        return checked
    if not _ADDRESS.fullmatch(checked.address):
        raise SpecError(
            f'the address of a cluster: found "{checked.address}", expected tls://HOST:PORT, or local:N for N workers'
            " on this machine"
        )
    scheme = checked.address.partition("://")[0]
    if scheme != "tls" and not is_trusted:
        raise SpecError(
            f"{checked.address}: without TLS anybody on the network can run programs on all machines of the cluster;"
            " start scheduler and workers with TLS (docs/cluster.md), or type --trust-network if nobody else is there"
        )
    if scheme == "tls" and not (checked.tls_ca and checked.tls_cert and checked.tls_key):
        raise SpecError(
            f"{checked.address}: TLS needs `tls_ca:`, `tls_cert:` and `tls_key:` in the file of the cluster"
        )
    for name in ("tls_ca", "tls_cert", "tls_key"):
        if scheme == "tls" and not Path(getattr(checked, name)).is_file():
            raise SpecError(f"{getattr(checked, name)}: no such file")
    return checked


def workers_here(settings: ClusterSettings) -> int | None:
    """Return N of an address `local:N`, None for any other address; raises SpecError if N is invalid."""
    kind, _, count = settings.address.partition(":")
    if kind != "local":
        return None
    if not count.isdecimal() or not 1 <= int(count) <= _MOST_HERE:
        raise SpecError(f"{settings.address}: expected local:N with N from 1 to {_MOST_HERE}")
    return int(count)


def _read_address(file: Path) -> str:
    """Read the address in a file written by `dask scheduler --scheduler-file`; raises SpecError."""
    try:
        address = json.loads(file.read_text(encoding="utf-8"))["address"]
    except OSError as error:
        raise SpecError(f"{file}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise SpecError(f"{file}: expected the file that a dask scheduler writes, with its address") from None
    return str(address)
