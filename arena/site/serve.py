"""The live site: the same pages from a server, which notifies browsers when more is stored.

Rule: it reads only. A connection never holds a snapshot longer than a page takes, so that a league that runs in another
process never waits. All pages are of one version: each is made on request, once a version, and a version lasts so long
that the server takes a small part of a core, however many browsers ask.
"""

import asyncio
import contextlib
import errno
import os
import re
import resource
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from arena.errors import ArenaError, SpecError
from arena.match.judgement import judge_by_game
from arena.match.results import MatchKey
from arena.site.build import assets, league_pages, match_files, picture_file, site_pages
from arena.site.leagues import Highlights, LeagueView, league_views, require_players
from arena.site.pages import POLICY, Pages
from arena.site.replay_cache import Busy, Files, ReplayCache
from arena.store.folder import open_store
from arena.store.matches import MatchStore

_LOOK_S: Final = 1.0
"""Seconds between two looks for new matches."""
_SHARE: Final = 25
"""The least age of a version, in multiples of the CPU time it took: at most 4 % of a core."""
_ALIVE_S: Final = 15.0
"""Seconds between two comments to a browser, without which some would close the connection."""
_MOST_MARKED: Final = 10_000
"""Opened matches whose marks are remembered for the matches worth a look."""
_SPARE: Final = 16
"""File descriptors that connections leave free, so that a page can always be made."""
_PLAYED: Final = re.compile(r"match/([^/]+)\.(?:html|svg)|data/match-([^/]+)\.js")
_LOCAL: Final = ("localhost", "127.0.0.1", "[::1]", "::1")
_MEDIA_TYPES: Final = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
    "txt": "text/plain",
}
_HEADERS: Final = {
    "Content-Security-Policy": f"{POLICY.replace(' file:', '')}; connect-src 'self'; frame-ancestors 'none'",
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class LiveSite:
    """The files of a site by path, in the version shown at present; it may be used from several threads.

    `private`: players whose notes and stderr are shown. SpecError for an unknown one, or if nothing is stored.
    """

    def __init__(self, results: Path, names: Sequence[str], private: Sequence[str] = ()) -> None:
        self._results, self._names, self._private = results, names, private
        self._lock = threading.Lock()
        self._assets = dict(assets())
        self._opened = ReplayCache()
        self._files: dict[str, bytes] = {}
        self._views: list[LeagueView] | None = None
        self._highlights: dict[str, Highlights] = {}
        self._marks = dict[str, Any]()
        self._growing, self._counts = set[str](), dict[str, int]()
        self._began_s, self._began_cpu_s = time.monotonic(), self._cpu_s()
        self.version = self._stored_version()
        if private:
            with open_store(results) as store:
                require_players([*league_views(store, names)], private)

    def look(self) -> bool:
        """Begin a new version if more is stored and the last one is old enough; return True if a version began.

        ArenaError if the store cannot be read.
        """
        now_s, now_cpu_s = time.monotonic(), self._cpu_s()
        if (
            now_s - self._began_s < _SHARE * (now_cpu_s - self._began_cpu_s)
            or (stored_version := self._stored_version()) == self.version
        ):
            return False
        with self._lock:
            self._files, self._views, self._highlights = {}, None, {}
            self._began_s, self._began_cpu_s, self.version = now_s, now_cpu_s, stored_version
        return True

    def _cpu_s(self) -> float:
        """Return the CPU seconds of this process without replays, which have a limit of their own."""
        return time.process_time() - self._opened.spent_s

    def file(self, path: str) -> bytes | None:
        """Return the content of a file of the site; None if it has no such file. Raises Busy for a match."""
        if path in self._assets:
            return self._assets[path]
        if played := _PLAYED.fullmatch(path):
            return self._opened.file(
                path, partial(self._match_files, played[1] or played[2], is_picture=path.endswith(".svg"))
            )
        with self._lock:
            if path not in self._files:
                with open_store(self._results) as store:
                    self._make_page(store, path)
            return self._files.get(path)

    def _stored_version(self) -> str:
        """Return the version of the store as it is now."""
        with open_store(self._results) as store:
            return _version_of(store)

    def _league_views(self, store: MatchStore) -> list[LeagueView]:
        """Return the leagues shown, computed once for each version, when it notes which of them have grown.

        The caller holds the lock.
        """
        if self._views is None:
            self._views = [*league_views(store, self._names)]
            counts = {view.name: view.state.stored for view in self._views}
            self._growing = {name for name, count in counts.items() if count > self._counts.get(name, count)}
            self._counts = counts
        return self._views

    def _make_page(self, store: MatchStore, path: str) -> None:
        """Make the page at `path` and keep it; nothing if there is no such page."""
        folder, _, name = path.rpartition("/")
        make = self._page_makers(store, folder, self._league_views(store)).get(name)
        if make is not None:
            self._files[path] = make().encode()

    def _page_makers(self, store: MatchStore, folder: str, views: Sequence[LeagueView]) -> dict[str, Callable[[], str]]:
        """Return the makers of the pages in a folder, by file name; none for an unknown folder."""
        pages = Pages(lambda _: True, self.version, marks=self._marks, growing=self._growing)
        if not folder:
            return site_pages(pages, views)
        for view in views:
            if folder == f"league/{view.key}":
                return league_pages(pages, store, view, views, partial(self._highlights_of, store, view))
        return {}

    def _highlights_of(self, store: MatchStore, view: LeagueView, pair: tuple[str, str] | None) -> Highlights:
        """Return the matches worth a look of a pair, or of the league, which are computed once a version."""
        if pair is not None:
            return view.highlights(view.of_pair(store, pair))[None]
        if view.key not in self._highlights:
            self._highlights[view.key] = view.highlights(view.results(store))[None]
        return self._highlights[view.key]

    def _match_files(self, match: str, *, is_picture: bool) -> Files:
        """Return the picture of a match, or both other files, by path; its marks are kept for later pages.

        Empty if the match is of no league that is shown, or cannot be read.
        """
        with contextlib.suppress(ValueError, ArenaError), open_store(self._results) as store:
            key = MatchKey.read(match)
            with self._lock:
                views = self._league_views(store)
            view = next((league for league in views if str(key) == match and league.has(key)), None)
            if view is not None:
                if is_picture:
                    return {f"match/{match}.svg": picture_file(store, view, match).encode()}
                marks = self._marks if len(self._marks) < _MOST_MARKED else None
                pages = Pages(live=self.version)
                files = match_files(pages, store, view, match, self._private, judge=judge_by_game, marks=marks)
                return {path: text.encode() for path, text in files}
        return {}


def _version_of(store: MatchStore) -> str:
    """Return the version of a store: its numbers of matches ever stored and of leagues."""
    return f"{store.head().size}-{len(store.leagues())}"


def application(site: LiveSite, hosts: Sequence[str] = _LOCAL) -> Starlette:
    """Return the server's application, which answers to the given host names only; `*` is any."""
    news = asyncio.Condition()

    async def file(request: Request) -> Response:
        """Answer with a file of the site: 404 if there is none, 503 while too many matches are opened."""
        path = request.path_params["path"]
        try:
            content = await asyncio.to_thread(site.file, path)
        except Busy as busy:
            headers = {"Retry-After": f"{busy.wait_s:.0f}", "Refresh": f"{busy.wait_s:.0f}"}
            text = f"Many matches are opened just now. This one is shown in about {busy.wait_s:.0f} s, by itself."
            return Response(text, 503, {**_HEADERS, **headers}, "text/plain")
        if content is None:
            return Response("There is no such page.", 404, _HEADERS, "text/plain")
        return Response(content, 200, _HEADERS, _MEDIA_TYPES.get(path.rpartition(".")[2], "text/plain"))

    async def events(_request: Request) -> Response:
        return StreamingResponse(_event_stream(site, news), 200, _HEADERS, "text/event-stream")

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        """Watch the store while the server runs."""
        asyncio.get_running_loop().set_exception_handler(_report_loop_error)
        task = asyncio.create_task(_watch_store(site, news))
        yield
        task.cancel()

    routes = [
        Route("/", lambda _: RedirectResponse("index.html"), methods=["GET"]),
        Route("/events", events, methods=["GET"]),
        Route("/{path:path}", file, methods=["GET"]),
    ]
    return Starlette(routes=routes, lifespan=lifespan, middleware=[Middleware(TrustedHostMiddleware, hosts)])


class _Listener(socket.socket):
    """A listening socket that lets connections wait while few descriptors are free."""

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection; with few free descriptors leave it in the queue, and raise OSError."""
        if len([*Path("/proc/self/fd").iterdir()]) > resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _SPARE:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return super().accept()


def _report_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error of the event loop, but not that connections wait for a free descriptor.

    Asyncio then accepts again a second later (`_start_serving`), which fails if the server has ended meanwhile.
    """
    error = context.get("exception")
    waits = isinstance(error, OSError) and error.errno in {errno.EMFILE, errno.ENFILE}
    if not waits and "_start_serving" not in context.get("message", ""):
        loop.default_exception_handler(context)


async def _watch_store(site: LiveSite, news: asyncio.Condition) -> None:
    """Look for more stored matches and wake all waiting connections; an unreadable store is read again later."""
    while True:
        await asyncio.sleep(_LOOK_S)
        with contextlib.suppress(ArenaError):
            if await asyncio.to_thread(site.look):
                async with news:
                    news.notify_all()


async def _event_stream(site: LiveSite, news: asyncio.Condition) -> AsyncIterator[str]:
    """Yield server-sent events: the version now and each new one, and comments that keep the connection open."""
    sent_version = None
    while True:
        if site.version != sent_version:
            sent_version = site.version
            yield f"data: {sent_version}\n\n"
        else:
            yield ": still here\n\n"
        async with news:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), _ALIVE_S)


def serve(site: LiveSite, host: str, port: int, announce: Callable[[str], object]) -> None:
    """Serve until a signal ends it; `announce` gets the address. SpecError if the address cannot be used."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = _Listener(fileno=socket.create_server((host, port), family=family).detach())
    except OSError as error:
        raise SpecError(f"--host {host} --port {port}: {error.strerror or error}; choose another one") from None
    with listener:
        name = f"[{host}]" if ":" in host else host
        announce(f"http://{name}:{listener.getsockname()[1]}/")
        is_local = host in {"localhost", "::1"} or host.startswith("127.")
        settings = uvicorn.Config(
            application(site, (*_LOCAL, name) if is_local else ("*",)),
            log_level="warning",
            access_log=False,
            server_header=False,
            backlog=128,  # so often asyncio tries in vain to accept, each time that descriptors are used up
            timeout_graceful_shutdown=1,
        )
        uvicorn.Server(settings).run(sockets=[listener])
