"""Web pages of leagues, as files or live."""

from pathlib import Path
from typing import Final, Literal

from arena.errors import SpecError
from arena.operations.events import Event, OnEvent, Progress, ignore
from arena.operations.request import Request
from arena.plugins import install_command
from arena.store.folder import open_store

_MISSING_PACKAGES: Final = "arena site needs more packages: {} ({})"


class BuildSite(Request, frozen=True, kw_only=True):
    """Pages of these leagues, or of all, in the folder `out`, new or written before.

    `matches` are those that can be watched. Notes and stderr are shown for the players `private` only.
    """

    out: Path
    leagues: tuple[str, ...] = ()
    matches: Literal["chosen", "all", "none"] = "chosen"
    private: tuple[str, ...] = ()


class ServeSite(Request, frozen=True, kw_only=True):
    """Live pages of these leagues, or of all, at an address; port 0 takes a free one."""

    leagues: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8000
    private: tuple[str, ...] = ()


class Serving(Event, frozen=True):
    """The site is served at `url` from now on."""

    url: str


def build_site(request: BuildSite, on: OnEvent = ignore) -> int:
    """Write the site; return the number of files. SpecError for a folder with other files, and for unknown names.

    SpecError also if the packages of the extra `site` are missing.
    """
    try:
        from arena.site.build import write_site  # noqa: PLC0415 - packages of an extra
    except ModuleNotFoundError as error:
        raise SpecError(_MISSING_PACKAGES.format(install_command("site"), error)) from None

    with open_store(request.results) as store:
        return write_site(
            store, request.leagues, request.out, request.matches, request.private, lambda *step: on(Progress(*step))
        )


def serve_site(request: ServeSite, on: OnEvent = ignore) -> None:
    """Serve the site until a signal ends it. SpecError if the address cannot be used, or if packages are missing."""
    try:
        from arena.site.serve import LiveSite, serve  # noqa: PLC0415 - packages of an extra
    except ModuleNotFoundError as error:
        raise SpecError(_MISSING_PACKAGES.format(install_command("site"), error)) from None
    site = LiveSite(request.results, request.leagues, request.private)
    serve(site, request.host, request.port, lambda url: on(Serving(url)))
