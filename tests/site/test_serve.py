"""The site live: the same pages, news when more is stored, and nothing for strangers, other methods and other paths."""

import contextlib
import re
import resource
import socket
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from support.site_made import LONGEST_S, NAMES, made_site, serving
from support.store_made import block_of, blocks_of, fill, tournament, writing

from arena.league.schedule import pairings
from arena.site.leagues import key_of
from arena.site.serve import LiveSite

FEW_FILES: Final = 64


def asked(url: str, **more: Any) -> tuple[int, str, Any]:
    """The status, the text and the headers of an answer."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, **more), timeout=LONGEST_S) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers


def plain(page: str) -> str:
    """A page without its policy, and the script that follows news."""
    return re.sub(r"<meta http-equiv=.*|<script src=[^>]*live.js.*\n", "", page)


def test_the_server_has_every_page_of_the_files(tmp_path: Path) -> None:
    """Byte for byte, but for the policy and the script of news; and each is made once."""
    out = made_site(tmp_path, NAMES[0], "bob", "cheat", which="all", cycles=1)
    site = LiveSite(tmp_path / "results", ())

    for path in sorted(out.rglob("*.*")):
        name = str(path.relative_to(out))
        if name != "made-by-arena.txt":
            found = site.file(name)
            assert found is not None, name
            assert plain(found.decode()) == plain(path.read_text(encoding="utf-8")), name
            assert site.file(name) is found


@pytest.mark.parametrize(
    "path",
    [
        *("", "secret", "league", "league/x/index.html", "match/x.html", "data/match-.js", "assets/../serve.py"),
        *("match/0123456789ab-0-0.html", "match/0123456789ab-00-0.html", "../results/arena.db", "/etc/passwd"),
    ],
)
def test_other_paths_have_nothing(tmp_path: Path, path: str) -> None:
    """Nor do ids that no match has."""
    fill(tmp_path, tournament("ann", "bob", cycles=1))

    assert LiveSite(tmp_path, ()).file(path) is None


def test_matches_of_other_leagues_and_of_torn_blocks_are_not_played(tmp_path: Path) -> None:
    """A server of one league shows that one only."""
    other = tournament("cid", "dan", name="other", cycles=1)
    fill(tmp_path, tournament("ann", "bob", cycles=1))
    fill(tmp_path, other)
    match = str(blocks_of(other)[0].results[0].key)

    assert LiveSite(tmp_path, ("test",)).file(f"match/{match}.html") is None
    assert LiveSite(tmp_path, ("other",)).file(f"match/{match}.html") is not None


def test_a_match_has_two_paths_and_no_others(tmp_path: Path) -> None:
    """A match has two paths and no others, because each costs a replay."""
    league = tournament("ann", "bob", cycles=1)
    match = str(fill(tmp_path, league)[0].results[0].key)
    site = LiveSite(tmp_path, ())

    assert [site.file(path) for path in (f"match/{match}.zip", f"data/{match}.js", f"data/match-{match}.html")] == [
        None
    ] * 3
    assert site._opened.spent_s == 0.0
    assert site.file(f"data/match-{match}.js") is not None


def test_a_version_lasts_many_times_the_time_that_it_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version lasts many times its CPU time, so that the server takes a small part of a core."""
    league, now_s, cpu_s = tournament("ann", "bob", cycles=4), [0.0], [0.0]
    with writing(tmp_path) as store:
        store.save_league(league)
        store.save([block_of(league, pairings(league)[0], 0)])
    monkeypatch.setattr("arena.site.serve.time.monotonic", lambda: now_s[0])
    monkeypatch.setattr("arena.site.serve.time.process_time", lambda: cpu_s[0])
    site = LiveSite(tmp_path, ())
    before = site.file("index.html")
    now_s[0], cpu_s[0] = 24.0, 1.0
    with writing(tmp_path) as store:
        store.save([block_of(league, pairings(league)[0], 1)])

    assert not site.look()
    assert site.file("index.html") is before
    now_s[0] = 26.0
    assert site.look()
    assert b"4 of 8 matches" in (site.file("index.html") or b"")
    assert not site.look()


@pytest.mark.process
def test_the_server_tells_news_and_answers_nobody_else(tmp_path: Path) -> None:
    """The server sends news; it refuses other methods and host names, and its policy forbids other origins."""
    league = tournament("ann", "bob", cycles=4)
    fill(tmp_path, league)
    longer = tournament("ann", "bob", name="longer", cycles=9)
    with serving(tmp_path) as url:
        status, text, headers = asked(f"{url}index.html")
        with urllib.request.urlopen(f"{url}events", timeout=LONGEST_S) as events:
            first = events.readline().decode()
            events.readline()
            with writing(tmp_path) as store:
                store.save_league(longer)
            second = events.readline().decode()
        after = asked(f"{url}league/{key_of('longer')}/index.html")[0]
        refused = [
            asked(f"{url}index.html", method="POST", data=b"x")[0],
            asked(f"{url}index.html", headers={"Host": "evil.example"})[0],
            asked(f"{url}nothing")[0],
        ]

    assert (status, after, refused) == (200, 200, [405, 400, 404])
    assert "8 of 8 matches" in text
    assert first == "data: 8-1\n"
    assert second == "data: 8-2\n"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_port_that_is_taken_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A port in use is an error with the options and exit code 2."""
    from arena.cli import execute  # noqa: PLC0415

    fill(tmp_path, tournament("ann", "bob", cycles=1))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code = execute(["site", "serve", "--port", str(port), "--results", str(tmp_path)])

    assert code == 2
    assert f"--port {port}" in capsys.readouterr().err


@contextlib.contextmanager
def crowded(folder: Path) -> Iterator[tuple[str, list[socket.socket]]]:
    """The address of a server with more connections than descriptors, and its connections."""
    fill(folder, tournament("ann", "bob", cycles=1))
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW_FILES, before[1]))
    with serving(folder) as url, contextlib.ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        parts = urllib.parse.urlsplit(url)
        place = (parts.hostname, parts.port)
        yield url, [stack.enter_context(socket.create_connection(place)) for _ in range(2 * FEW_FILES)]


@pytest.mark.slow
@pytest.mark.process
def test_more_connections_than_descriptors_print_nothing(tmp_path: Path) -> None:
    """Connections beyond the descriptors wait until others have gone; nothing is printed."""
    with crowded(tmp_path) as (url, connections):
        with pytest.raises(OSError):  # noqa: PT011 - no answer, in whatever words
            urllib.request.urlopen(f"{url}index.html", timeout=2)
        connections[0].sendall(b"GET /index.html HTTP/1.1\r\nHost: localhost\r\n\r\n")
        page = connections[0].recv(100)
        for connection in connections:
            connection.close()
        status = asked(f"{url}index.html")[0]

    assert page.startswith(b"HTTP/1.1 200")
    assert status == 200


@pytest.mark.slow
@pytest.mark.process
def test_a_server_ends_in_silence_while_connections_wait(tmp_path: Path) -> None:
    """Although asyncio would accept them a second later, when the listening socket is closed."""
    with crowded(tmp_path):
        pass
