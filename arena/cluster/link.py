"""The way to the workers by dask: a scheduler that runs elsewhere, or workers on this machine (`local:N`).

Rule: dask runs any code that it is sent, so whoever reaches a scheduler owns its workers. Nothing is sent to one that
does not speak TLS, on this machine too, unless the user has typed --trust-network.
"""

import asyncio
import contextlib
import json
import logging
import platform
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Final

import dask
import msgspec
from distributed import Client, LocalCluster, Security
from msgspec import Meta

from arena.cluster import session as remote
from arena.errors import MachineFault, SpecError

_LOCAL: Final = "local:"
_CONNECT_S: Final = 10
_CLOSE_S: Final = 5
_LOUD: Final = ("distributed.nanny", "distributed.worker", "distributed.core", "distributed.scheduler", "distributed.client")


class ClusterSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"is_trusted": "trust_network"}):
    """The cluster of a command, from its options or the `cluster:` of a tournament.

    `address`: `tls://HOST:PORT` or `local:N`; or a file that a scheduler has written. The three TLS files are PEM.
    """

    address: str = ""
    scheduler_file: str = ""
    tls_ca: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    is_trusted: bool = False
