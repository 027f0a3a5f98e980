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
    """The settings with the address of the scheduler file. SpecError if they name no cluster.

    SpecError also without dask, or if it does not speak TLS and the network is not trusted.
    """
    if importlib.util.find_spec("distributed") is None:  # an extra, and slow to import
        raise SpecError(f"dask is not installed; {install_command('cluster')} installs what clusters need")
    found = settings
    if settings.scheduler_file:
        if settings.address:
            raise SpecError("give either the address of a scheduler or --scheduler-file, not both")
        found = replace(settings, address=_address_in(Path(settings.scheduler_file)))
    if workers_here(found) is not None:
        return found
    if not _ADDRESS.fullmatch(found.address):
        raise SpecError(
            f'the address of a cluster: found "{found.address}", expected tls://HOST:PORT, or local:N for N workers'
            " on this machine"
        )
    scheme = found.address.partition("://")[0]
    if scheme != "tls" and not is_trusted:
        raise SpecError(
            f"{found.address}: without TLS anybody on the network can run programs on all machines of the cluster;"
            " start scheduler and workers with TLS (docs/cluster.md), or type --trust-network if nobody else is there"
        )
    if scheme == "tls" and not (found.tls_ca and found.tls_cert and found.tls_key):
        raise SpecError(f"{found.address}: TLS needs three files: --tls-ca, --tls-cert and --tls-key")
    for name in ("tls_ca", "tls_cert", "tls_key"):
        if scheme == "tls" and not Path(getattr(found, name)).is_file():
            raise SpecError(f"{getattr(found, name)}: no such file")
    return found


def workers_here(settings: ClusterSettings) -> int | None:
    """N of `local:N`. SpecError if that is no number."""
    kind, _, count = settings.address.partition(":")
    if kind != "local":
        return None
    if not count.isdecimal() or not 1 <= int(count) <= _MOST_HERE:
        raise SpecError(f"{settings.address}: expected local:N with N from 1 to {_MOST_HERE}")
    return int(count)


def _address_in(file: Path) -> str:
    """The address in a file that `dask scheduler --scheduler-file` has written."""
    try:
        address = json.loads(file.read_text(encoding="utf-8"))["address"]
    except OSError as error:
        raise SpecError(f"{file}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise SpecError(
            f"--scheduler-file {file}: expected the file that a dask scheduler writes, with its address"
        ) from None
    return str(address)
