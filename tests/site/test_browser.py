"""The pages of a site in a real browser, from a file and below an address: quiet, accessible, in both modes."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from support.site_browser import DESK, PHONE, opened, overflow, serious_faults
from support.site_made import LONGEST_S, made_site, serving
from support.store_made import block_of, tournament, writing

from arena.league.schedule import pairings
from arena.site.leagues import key_of

pytestmark = [pytest.mark.slow, pytest.mark.process]

KINDS = {
    **{name: f"{name}.html" for name in ("index", "bots", "how-to-read")},
    "league": "league/*/index.html",
    **{name: f"league/*/{name}.html" for name in ("matrix", "matches", "faults", "wall")},
    **{name: f"league/*/{name}-*.html" for name in ("all", "pair", "player")},
    "match": "match/*.html",
}
"""Kinds of pages, and where they lie in a site."""
SIZES = ((360, 740), (390, 844), (844, 390), (1440, 900))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Players are called as attackers would; each has ten blocks and more, so that there is a plot of form."""
    return made_site(tmp_path_factory.mktemp("site"), cycles=3)


def address(site: Path, kind: str) -> str:
    """The address of the first page of that kind."""
    return min(site.glob(KINDS[kind])).as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_from_a_file_is_quiet_and_accessible(browser: Any, site: Path, kind: str, scheme: str) -> None:
    """No complaint, no request outside the folder, nothing serious found by axe-core, and no size is too narrow."""
    wider = []
    with opened(browser, address(site, kind), color_scheme=scheme) as (page, account):
        faults = serious_faults(page)
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            wider.append(overflow(page))

    assert account.requests
    assert [url for url in account.requests if not url.startswith((f"{site.as_uri()}/", "data:"))] == []
    assert faults == []
    assert wider == [0] * len(SIZES)


def test_kinds_are_all_pages_of_a_site(site: Path) -> None:
    """A new kind of page is tested, too."""
    assert {*site.rglob("*.html")} == {path for pattern in KINDS.values() for path in site.glob(pattern)}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_ink_of_plots_is_that_of_the_page(browser: Any, site: Path, scheme: str) -> None:
    """The ink of plots has the colour of the page's text, readable in light and dark mode."""
    ink = "e => getComputedStyle(e).fill"
    with opened(browser, address(site, "league"), color_scheme=scheme) as (page, _):
        text = page.locator("figure svg text").first.evaluate(ink)
        body = page.evaluate("getComputedStyle(document.body).color")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert text == body != paper


def test_a_page_can_be_used_by_keyboard(browser: Any, site: Path) -> None:
    """The first stop leads to the content, links follow, and a table with all columns scrolls by arrow keys."""
    with opened(browser, address(site, "league"), viewport=PHONE) as (page, _):
        page.keyboard.press("Tab")
        first = page.evaluate("document.activeElement.getAttribute('href')")
        stops = set()
        for _ in range(30):
            page.keyboard.press("Tab")
            stops.add(page.evaluate("document.activeElement.className || document.activeElement.tagName"))
        page.locator(".all-columns input").first.check()
        page.locator(".scroll").first.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => document.querySelector('.scroll').scrollLeft > 0")

    assert first == "#main"
    assert {"A", "scroll"} <= stops


def test_without_a_script_a_match_has_its_steps(browser: Any, site: Path) -> None:
    """Without a script the page of a match lists its steps in place of the player."""
    with opened(browser, address(site, "match"), java_script_enabled=False) as (page, _):
        steps = page.locator("ol.steps li").count()

    assert steps > 3


def test_a_site_works_below_any_address_and_asks_nothing_of_others(browser: Any, site: Path) -> None:
    """Here it lies at /deep/down/; every request is to the same origin."""
    handler = partial(_Below, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{server.server_port}"
        with opened(browser, f"{origin}/deep/down/index.html") as (page, account):
            page.click(".cards a")
            page.click("tbody th a")
            page.click("text=Biggest losses >> xpath=following::a[1]")
            page.wait_for_selector("#player button")
            title = page.title()
        server.shutdown()

    assert title.startswith("Match ")
    assert [url for url in account.requests if not url.startswith((f"{origin}/deep/down/", "data:"))] == []


def test_a_page_of_the_server_follows_the_league(browser: Any, tmp_path: Path) -> None:
    """A block that another process stores appears without a click, and the reader stays where they were."""
    league = tournament("ann", "bob", cycles=4)
    with writing(tmp_path) as store:
        store.save_league(league)
        store.save([block_of(league, pairings(league)[0], 0)])
        with serving(tmp_path) as url, opened(browser, f"{url}league/{key_of('test')}/index.html") as (page, account):
            page.wait_for_selector("text=2 of 8 matches")
            page.locator("tbody th a").first.focus()
            store.save([block_of(league, pairings(league)[0], block) for block in (1, 2)])
            page.wait_for_selector("text=6 of 8 matches", timeout=1000 * LONGEST_S)
            focused = page.evaluate("document.activeElement.closest('tbody th') !== null")

    assert focused
    assert [each for each in account.requests if not each.startswith((url, "data:"))] == []


def test_the_wall_plays_by_itself_unless_the_reader_wants_less_motion(browser: Any, site: Path) -> None:
    """It then stands still, with the controls in the window, and names in one line, at each size."""
    shown = []
    for motion, size in (("no-preference", DESK), ("reduce", DESK), ("reduce", {"width": 844, "height": 390})):
        with opened(browser, address(site, "wall"), reduced_motion=motion, viewport=size) as (page, _):
            page.wait_for_selector(".is-wall .count", state="attached")
            page.wait_for_timeout(1500)
            count = page.locator(".count").text_content()
            box = page.locator(".controls").bounding_box()
            is_in = box is not None and box["y"] + box["height"] <= size["height"]
            lines = page.locator(".seat-name").evaluate_all("all => all.map(x => x.getClientRects().length)")
            shown.append((count.startswith("0 /"), is_in, {*lines}))

    assert shown == [(False, False, {1}), (True, True, {1}), (True, True, {1})]


def test_the_wall_of_a_server_gets_new_matches_while_one_plays(browser: Any, tmp_path: Path) -> None:
    """The match goes on; standings and the list of what comes next are new."""
    league = tournament("ann", "bob", cycles=4)
    with writing(tmp_path) as store:
        store.save_league(league)
        store.save([block_of(league, pairings(league)[0], 0)])
        with serving(tmp_path) as url, opened(browser, f"{url}league/{key_of('test')}/wall.html") as (page, _):
            page.wait_for_selector(".is-wall")
            page.evaluate("document.querySelector('#player').playing = true")
            store.save([block_of(league, pairings(league)[0], block) for block in (1, 2)])
            page.wait_for_selector("text=6 of 8 matches", timeout=1000 * LONGEST_S)
            playlist = "[document.querySelector('#player')].map((e) => e.playing && e.dataset.playlist)[0]"
            page.wait_for_function(f"{playlist}.split(' ').length === 3")


class _Below(SimpleHTTPRequestHandler):
    """Serves a folder at /deep/down/, silently."""

    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix("/deep/down"))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the class above
        pass
