"""Requests: the choices that most of them share, with their defaults."""

from pathlib import Path

import msgspec


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A use case and the choices of the user in it. `results` is the folder of the database."""

    results: Path = Path("results")
