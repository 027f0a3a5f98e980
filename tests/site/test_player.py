"""The match player in a real browser, from the first to the last step of a match of each game."""

import re
import shutil
from collections.abc import Callable
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace
from support.riffraff_play import GAME
from support.scripted_bot import match_of, random_match, stored_toy_match
from support.site_browser import PHONE, opened, overflow, serious_faults

from arena.errors import Crashed
from arena.games import load_game
from arena.games.api import Seat
from arena.games.looks import LOOKS, looks_of
from arena.match.baseline import BaselinePlayer
from arena.match.participant import ActionRequest
from arena.match.record import ActionStep, MatchRecord, StderrText
from arena.match.replay import replay
from arena.protocol.messages import Answer
from arena.site.page import frame_page, match_page
from arena.site.replay import match_data, script

pytestmark = [pytest.mark.slow, pytest.mark.process]

ASSETS: Final = Path(__file__).parents[2] / "arena" / "site" / "assets"
POLICY: Final = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:"
HOSTILE: Final = "</script><img src=x onerror=alert(1)><b>bold</b>"
SCREENS: Final = ((1440, 900), (1920, 1080), (390, 844), (844, 390))
ALL: Final = {"expansions": ["crazy_captain", "no_shanghai", "sharks", "doubles"]}


class Leaver(BaselinePlayer):
    """Leaves the table at the request of that number."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._last = number

    def ask(self, request: ActionRequest) -> Answer:
        if self.moves + 1 == self._last:
            raise Crashed("gone")
        return super().ask(request)


MATCHES: Final[dict[str, Callable[[], MatchRecord]]] = {
    "nim": lambda: random_match("nim", 3),
    "shanghaien": lambda: random_match("shanghaien", 4),
    "expansions": lambda: random_match("shanghaien", 5, ALL),
    "riffraff": lambda: match_of(BaselinePlayer(), BaselinePlayer(), game="riffraff", rules=GAME),
    "simulated": lambda: match_of(BaselinePlayer(), Leaver(9), game="riffraff"),
}


@cache
def record(name: str) -> MatchRecord:
    """The match of that name, under its place in a block."""
    return replace(MATCHES[name](), match="c91b78bc3e0c-0-0")


def seating(played: MatchRecord, rotation: int, *names: str) -> MatchRecord:
    """The match as that of a block, with these names in the seats."""
    seats = tuple(replace(seat, player=name) for seat, name in zip(played.seats, names, strict=True))
    return replace(played, match=f"c91b78bc3e0c-0-{rotation}", seats=seats)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the assets."""
    shutil.copytree(ASSETS, tmp_path / "assets")
    (tmp_path / "data").mkdir()
    (tmp_path / "match").mkdir()
    return tmp_path


def written(site: Path, *records: MatchRecord, shown: str = "", private: tuple[str, ...] = ()) -> Path:
    """The data of these matches, and the page of the first, or of what `shown` says."""
    for each in records:
        name = f"match-{each.match}"
        (site / "data" / f"{name}.js").write_text(script(name, match_data(each, private=private)))
    place = shown or f'data-match="{records[0].match}"'
    page = site / "match" / "page.html"
    page.write_text(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A match</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f'<meta name="color-scheme" content="light dark"></head><body><main><h1>A match</h1><div id="player" {place}>'
        '</div></main><script src="../assets/player.js"></script></body></html>'
    )
    return page


def step(page: Any) -> str:
    """The number of the step that is shown."""
    found: str = page.locator(".count").text_content().split(" / ")[0]
    return found


def ready(page: Any) -> None:
    page.wait_for_selector(".steps [aria-current=step]")


@pytest.mark.parametrize("name", MATCHES)
def test_keys_lead_from_the_first_to_the_last_step(browser: Any, site: Path, name: str) -> None:
    """Keys lead from the first to the last step, each with words and address; nothing outside the folder is loaded."""
    data = match_data(record(name), has_motions=False)
    place = written(site, record(name))
    last = len(data["steps"]) - 1

    with opened(browser, place.as_uri()) as (page, account):
        ready(page)
        seen = [page.locator(".line").text_content()]
        for _ in range(last):
            page.keyboard.press("ArrowRight")
            seen.append(page.locator(".line").text_content())
        page.keyboard.press("ArrowRight")
        end, result = step(page), page.locator(".details").text_content()
        has_drawing = page.locator(".stage svg, .stage canvas, .stage img").count()

    names = [player["name"] for player in data["players"]]
    assert seen == [" ".join([*([names[one["seat"]]] if "seat" in one else []), one["text"]]) for one in data["steps"]]
    assert end == str(last)
    assert ("without their movement" in data.get("notice", "")) == (name in {"riffraff", "simulated"})
    assert data["result"] in result
    assert has_drawing
    assert [url for url in account.requests if not url.startswith((f"{site.as_uri()}/", "data:"))] == []


@pytest.mark.usefixtures("toy_game")
def test_a_seat_that_has_answered_is_no_more_on_move(browser: Any, site: Path) -> None:
    """In a decision of three seats each step removes the seat that answered from those on move."""
    with opened(browser, written(site, stored_toy_match()).as_uri()) as (page, _):
        ready(page)
        waiting = []
        for _step in range(4):
            waiting.append(page.locator(".seat.is-next").count())
            page.keyboard.press("ArrowRight")

    assert waiting == [3, 2, 1, 1], "then one seat trims the sail alone"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["nim", "expansions", "simulated"])
def test_nothing_serious_is_found_by_axe(browser: Any, site: Path, name: str, scheme: str) -> None:
    """In both modes, at a step in the middle; and the page is no wider than a phone."""
    place = written(site, record(name))

    with opened(browser, f"{place.as_uri()}#step=4", color_scheme=scheme) as (page, _):
        ready(page)
        shown = step(page)
        faults = serious_faults(page)
        page.set_viewport_size(PHONE)
        wider = overflow(page)

    assert faults == []
    assert shown == "4"
    assert wider <= 0


@pytest.mark.parametrize("size", SCREENS, ids=lambda size: "x".join(map(str, size)))
def test_a_match_is_one_screen(browser: Any, site: Path, size: tuple[int, int]) -> None:
    """At every step all controls and the board lie in the window; from 1100 px on steps and curve lie beside it."""
    width, height = size
    boxes = "nodes => nodes.map(node => node.getBoundingClientRect()).map(e => [e.left, e.top, e.right, e.bottom])"
    for name in ("nim", "expansions", "simulated"):
        long = seating(record(name), 0, *(f"{'w' * 39}{seat}" for seat in range(len(record(name).seats))))
        with opened(
            browser, written(site, long).as_uri(), viewport=dict(zip(("width", "height"), size, strict=True))
        ) as (
            page,
            _,
        ):
            ready(page)
            for key in ("Home", "PageDown", "End"):
                page.keyboard.press(key)
                board = page.locator(".stage").evaluate_all(boxes)[0]
                parts = page.locator(".controls > *, .stage > *").evaluate_all(boxes)
                aside = page.locator(".more").evaluate_all(boxes)[0]

                assert all(
                    left >= 0 and top >= 0 and right <= width and low <= height for left, top, right, low in parts
                )
                assert board[3] - board[1] > 0.35 * height
                assert (aside[0] >= board[2] and aside[3] <= height) == (width >= 1100)
                assert overflow(page) <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_player_has_its_colour_and_shape_in_every_seat(browser: Any, site: Path, scheme: str) -> None:
    """In strips, curve, dice and bars of both matches that lie side by side."""
    names = ("zoe", "adam")
    one, other = (seating(record("shanghaien"), at, *order) for at, order in enumerate((names, names[::-1])))
    place = site / "match" / "alone.html"
    place.write_text(match_page(one, [other]))
    fills = "(nodes, name) => nodes.map(node => getComputedStyle(node)[name])"

    with opened(browser, f"{place.as_uri()}#step=9", color_scheme=scheme) as (page, _):
        ready(page)
        page.click("text=Beside match")
        page.wait_for_selector(".second .tavern")
        strips = page.locator(".seat").evaluate_all(fills, "borderLeftColor")
        curve = page.locator(".curve-line").evaluate_all(fills, "stroke")
        dice = [
            page.locator(f"{where} .die rect").evaluate_all(fills, "fill")
            for where in (".stage >> nth=0 >>", ".second")
        ]
        bars = page.locator(".stage >> nth=0 >> .tavern rect[height='12']").evaluate_all(fills, "fill")
        names_beside = page.locator(".second .seat-text").evaluate_all(fills, "color")
        shapes = page.locator(".seats .shape path, .second .shape path").evaluate_all(
            "all => all.map(x => x.getAttribute('d'))"
        )

    looks = [LOOKS[look] for look in looks_of(names)]
    shown = [rgb(getattr(look, scheme)) for look in looks]
    assert strips == curve == shown == names_beside[::-1]
    assert {*bars} == {rgb(look.dark) for look in looks}, "the table is dark in both modes"
    assert [[*dict.fromkeys(each)] for each in dice] == [
        [rgb(look.light) for look in order] for order in (looks, looks[::-1])
    ]
    assert shapes == [look.shape for look in (*looks, *looks[::-1])]


def test_the_curve_ends_at_the_latest_step_that_was_seen(browser: Any, site: Path) -> None:
    """Also after a step back; the last step shows all of it."""
    widths = []
    with opened(browser, written(site, record("shanghaien")).as_uri()) as (page, _):
        ready(page)
        for key in ("Home", "ArrowRight", "ArrowRight", "ArrowLeft", "End", "Home"):
            page.keyboard.press(key)
            widths.append(float(page.locator("#seen rect").get_attribute("width")) - 9)

    steps = len(record("shanghaien").steps)
    assert widths == pytest.approx([0, 1000 / steps, 2000 / steps, 2000 / steps, 1000, 1000])


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))})"


def test_a_finger_takes_steps_and_ids_stand_in_details(browser: Any, site: Path) -> None:
    """To the left on, to the right back, up and down nothing; no hash is seen before the details are opened."""
    move = """([x, y]) => { const node = document.querySelector('.stage');
      const touch = (x, y) => new Touch({ identifier: 1, target: node, clientX: x, clientY: y });
      node.dispatchEvent(new TouchEvent('touchstart', { touches: [touch(200, 200)], bubbles: true }));
      node.dispatchEvent(new TouchEvent('touchend', { changedTouches: [touch(200 + x, 200 + y)], bubbles: true })); }"""
    other = replace(record("shanghaien"), match="c91b78bc3e0c-0-1")
    place = site / "match" / "alone.html"
    place.write_text(match_page(record("shanghaien"), [other], origin="the secret 5b0e1f"))
    with opened(browser, place.as_uri(), has_touch=True) as (page, _):
        ready(page)
        seen = []
        for way in ((-90, 5), (-90, 5), (90, 0), (0, 200), (-20, 0)):
            page.evaluate(move, way)
            seen.append(step(page))
        before = page.inner_text("body")
        page.click(".about summary")
        after, faults = page.inner_text("body"), serious_faults(page)

    assert seen == ["1", "2", "1", "1", "1"]
    ids = ("c91b78bc3e0c-0-0", "secret 5b0e1f", record("shanghaien").seats[0].bot[:8])
    assert [word for word in ids if word in before] == []
    assert [word for word in ids if word in after] == [*ids]
    assert faults == []


def test_jumps_lead_to_rounds_draws_swings_and_faults(browser: Any, site: Path) -> None:
    """Links and keys jump to rounds, draws, swings and faults; a link to a step is the address itself."""
    data = match_data(record("shanghaien"))
    marks = {mark["kind"]: str(mark["step"]) for mark in data["marks"]}
    by_step = [each.get("round", 0) for each in data["steps"]]

    with opened(browser, f"{written(site, record('shanghaien')).as_uri()}#step=41") as (page, _):
        ready(page)
        linked = step(page)
        page.click("text=luckiest draw")
        luckiest = step(page)
        page.click("text=largest swing")
        swing, address = step(page), page.evaluate("location.hash")
        page.keyboard.press("Home")
        page.keyboard.press("PageDown")
        second = step(page)
        page.keyboard.press("PageUp")
        first = step(page)
        page.keyboard.press("End")
        end = step(page)
        page.evaluate("location.hash = '#step=7'")
        page.wait_for_function("document.querySelector('.count').textContent.startsWith('7 ')")

    assert (linked, luckiest, swing) == ("41", marks["luckiest draw"], marks["largest swing"])
    assert address == f"#step={swing}"
    assert (first, second, end) == ("0", str(by_step.index(2)), str(len(data["steps"]) - 1))


def test_a_fault_is_named_and_can_be_jumped_to(browser: Any, site: Path) -> None:
    """The player shows the public sentence of a fault, and has a jump to it."""
    with opened(browser, written(site, record("simulated")).as_uri()) as (page, _):
        ready(page)
        page.click(".jump-fault >> nth=-1")
        told = page.locator(".fault").text_content()

    assert told.startswith("Fault: crash: ")


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
@pytest.mark.parametrize("name", ["nim", "simulated"])
def test_a_match_plays_to_its_end_and_stops(browser: Any, site: Path, name: str, motion: str) -> None:
    """Space plays, the button pauses; with reduced motion nothing moves in between."""
    place = written(site, record(name))

    with opened(browser, place.as_uri(), reduced_motion=motion) as (page, _):
        ready(page)
        page.select_option("[aria-label=Speed]", "8")
        page.keyboard.press("Home")
        page.locator("h1").click()
        page.keyboard.press("Space")
        page.wait_for_selector("[aria-label=Pause]")
        page.wait_for_selector("[aria-label=Play]", timeout=120_000)
        shown = page.locator(".count").text_content()

    last = len(record(name).steps)
    assert shown == f"{last} / {last}"


def test_two_matches_of_a_block_lie_side_by_side(browser: Any, site: Path) -> None:
    """The other one follows by the draws that both have; a match that is not there is told of."""
    one, other = record("shanghaien"), replace(record("shanghaien"), match="c91b78bc3e0c-0-1")
    place = written(site, one, other)

    with opened(browser, f"{place.as_uri()}#step=30") as (page, _):
        ready(page)
        page.click("text=Beside match 1")
        page.wait_for_selector(".second .tavern")
        beside = [page.locator(".second > .line").text_content()]
        page.keyboard.press("ArrowRight")
        beside.append(page.locator(".second > .line").text_content())
        page.click("text=Beside match")
        left = page.locator(".second").count()
    (site / "data" / f"match-{other.match}.js").unlink()
    with opened(browser, place.as_uri(), is_quiet=False) as (page, _):
        ready(page)
        page.click("text=Beside match")
        page.wait_for_selector("text=is not among these pages, or not yet")

    assert [re.match(r"step (\d+): ", line)[1] for line in beside] == ["30", "31"]  # type: ignore[index]
    assert left == 0


def test_hostile_names_notes_and_stderr_stay_text(browser: Any, site: Path) -> None:
    """In the page of a site, of one file and in a notebook's frame: no element comes out of them. Banks are told."""
    played = record("shanghaien")
    steps = tuple(replace(each, note=HOSTILE) if isinstance(each, ActionStep) else each for each in played.steps)
    said = (StderrText(0, HOSTILE),)
    evil = replace(
        played, steps=steps, seats=tuple(replace(seat, player=HOSTILE, stderr=said) for seat in played.seats)
    )
    alone, notebook = site / "match" / "alone.html", site / "match" / "notebook.html"
    alone.write_text(match_page(evil, origin=HOSTILE, private=[HOSTILE]))
    notebook.write_text(f"<!doctype html><title>n</title>{frame_page(match_page(evil, private=[HOSTILE]), 900)}")

    for place in (written(site, evil, private=(HOSTILE,)), alone, notebook):
        with opened(browser, place.as_uri()) as (page, account):
            frame = page.frames[-1]
            frame.wait_for_selector(".steps [aria-current=step]")
            stderr = frame.locator(".note").all_text_contents()
            banks = frame.locator(".seat-clock").all_text_contents()
            frame.locator(".steps a").nth(4).click()
            note, names = frame.locator(".note").text_content(), frame.locator(".seat-name").all_text_contents()
            made = frame.locator("img[onerror], b:text('bold')").count()

        assert HOSTILE in note
        assert stderr == [HOSTILE, HOSTILE]
        assert all("bank 1000 ms" in each for each in banks), banks
        assert names == [HOSTILE, HOSTILE]
        assert made == 0
        assert [url for url in account.requests if not url.startswith((f"{site.as_uri()}/", "data:", "about:"))] == []
    assert escape(HOSTILE) in alone.read_text()


def test_a_page_in_one_file_needs_no_other(browser: Any, tmp_path: Path) -> None:
    """A page in one file requests only itself and pictures within it, also with another match beside."""
    place = tmp_path / "match.html"
    other = replace(record("shanghaien"), match="c91b78bc3e0c-0-1")
    place.write_text(match_page(record("shanghaien"), [other], origin="luck"))

    with opened(browser, place.as_uri()) as (page, account):
        ready(page)
        page.click("text=Beside match")
        page.wait_for_selector(".second .tavern")
        page.keyboard.press("End")

    assert {url for url in account.requests if not url.startswith("data:")} == {place.as_uri()}


def test_without_webgl_stills_are_shown(browser: Any, site: Path) -> None:
    """Without WebGL stills are shown, with a note on the step of a picture where not every step has one."""
    place = written(site, record("riffraff"))

    made = browser.new_context()
    page = made.new_page()
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page.goto(place.as_uri())
    ready(page)
    page.keyboard.press("End")
    alternative, is_loaded = (
        page.locator(".still").get_attribute("alt"),
        page.evaluate(
            "document.querySelector('.still').decode().then(() => document.querySelector('.still').naturalWidth > 0)"
        ),
    )
    made.close()

    assert alternative.startswith("The position after step ")
    assert is_loaded


COUNTED: Final = """
globalThis.drawn = [];
for (const name of ["drawElements", "drawArrays"]) {
  const draw = WebGL2RenderingContext.prototype[name];
  WebGL2RenderingContext.prototype[name] = function (mode, one, other) {
    drawn.push(mode === 4 ? (name === "drawArrays" ? other : one) / 3 : 0);
    return draw.apply(this, arguments);
  };
}"""
"""The triangles of each call that draws, 0 for lines."""
MOTION_S: Final = 3


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_the_ship_moves_while_a_load_settles_and_can_be_turned(browser: Any, site: Path, motion: str) -> None:
    """A headline says who put what where; an empty ship is cheap; who wants no motion gets one picture."""
    data = match_data(record("simulated"))
    number = next(at for at, each in enumerate(data["steps"]) if "motion" in each)
    place = written(site, record("simulated"))

    made = browser.new_context(reduced_motion=motion)
    page = made.new_page()
    page.add_init_script(COUNTED)
    page.goto(f"{place.as_uri()}#step={number - 1}")
    ready(page)
    canvas = page.locator(".harbour canvas")
    pictures = [canvas.screenshot()]
    page.evaluate("drawn.length = 0")
    page.click("[aria-label='Turn to the left']")
    calls, triangles = page.evaluate("[drawn.length, drawn.reduce((sum, each) => sum + each, 0)]")
    pictures.append(canvas.screenshot())
    page.evaluate("drawn.length = 0")
    page.keyboard.press("ArrowRight")
    headline = page.locator(".harbour b").text_content()
    page.wait_for_timeout(1000 * MOTION_S)
    moving = page.evaluate("drawn.length")
    pictures.append(canvas.screenshot())
    told = canvas.get_attribute("aria-label")
    made.close()

    assert len(set(pictures)) == 3
    assert calls <= 37
    assert triangles <= 2472
    assert (moving <= 37) == (motion == "reduce")
    assert headline.startswith(data["steps"][number]["text"])
    assert " put a " in headline
    assert "calm sea" in told
    assert "Aboard: " in told


@pytest.mark.parametrize("width", [1100, 1240, 1440])
def test_names_stay_in_one_line_beside_all_that_a_strip_says(browser: Any, site: Path, width: int) -> None:
    """Points, what is at stake and the chance go below a name that they leave no room for."""
    place = written(site, record("shanghaien"))
    made = browser.new_context(viewport={"width": width, "height": 660})
    page = made.new_page()
    page.goto(f"{place.as_uri()}#step={len(record('shanghaien').steps) - 2}")
    ready(page)
    heights = [name.bounding_box()["height"] for name in page.locator(".seat-name").all()]
    said = page.locator(".seats").text_content()
    made.close()

    assert "at stake" in said
    assert max(heights) < 30


@pytest.mark.parametrize("density", [0.7, 2, 3])
def test_the_ship_fills_its_place_on_screens_of_any_density(browser: Any, site: Path, density: float) -> None:
    """A phone has 2 or 3 pixels for each of CSS, a page that is zoomed out less than one."""
    place = written(site, record("simulated"))
    made = browser.new_context(device_scale_factor=density)
    page = made.new_page()
    page.goto(place.as_uri())
    ready(page)
    boxes = [page.locator(f".harbour {name}").bounding_box() for name in ("canvas", ".water")]
    made.close()

    assert boxes[0] == boxes[1]


def test_a_screen_on_the_wall_plays_one_match_after_the_other(browser: Any, site: Path) -> None:
    """For ever; a match that is not there is left out."""
    one, other = record("nim"), replace(record("shanghaien"), match="c91b78bc3e0c-0-1")
    place = written(site, one, other, shown=f'data-playlist="gone-0-0 {one.match} {other.match}"')

    with opened(browser, place.as_uri(), is_quiet=False) as (page, _):
        page.wait_for_selector(".is-wall .still")
        page.wait_for_selector(".is-wall .tavern", timeout=60_000)
        controls = page.locator(".controls").is_visible()

    assert not controls


def test_the_table_of_shanghaien_fits_a_phone_held_upright(browser: Any, site: Path) -> None:
    """Every text can be read and lies inside; the turned phone shows the wide table at the same step."""
    heights = """texts => texts.filter(text => text.textContent).map(text =>
      parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"""
    outside = """texts => texts.filter(text => text.textContent).map(text => [text.textContent,
      text.getBoundingClientRect(), text.closest('svg').getBoundingClientRect()]).filter(([, own, all]) =>
      own.left < all.left || own.right > all.right || own.bottom > all.bottom).map(([text]) => text)"""
    with opened(browser, written(site, record("expansions")).as_uri(), viewport=PHONE) as (page, _):
        ready(page)
        shown = []
        for number in range(0, len(record("expansions").steps), 9):
            page.evaluate(f"location.hash = '#step={number}'")
            page.wait_for_function(f"document.querySelector('.count').textContent.startsWith('{number} ')")
            shown += page.locator(".tavern text").evaluate_all(outside)
        tall = page.locator(".tavern.is-tall").count()
        smallest = min(page.locator(".tavern text").evaluate_all(heights))
        page.set_viewport_size({"width": PHONE["height"], "height": PHONE["width"]})
        page.wait_for_selector(".tavern:not(.is-tall)")
        turned = page.locator(".tavern").get_attribute("aria-label")
        page.reload()
        ready(page)
        loaded = page.locator(".tavern").get_attribute("aria-label")

    assert shown == []
    assert tall == 1
    assert smallest > 9
    assert turned == loaded


def test_the_table_of_shanghaien_tells_the_task_and_what_is_in_force(browser: Any, site: Path) -> None:
    """The table of Shanghaien names expansions, bans, captains and sharks in force, and at the end the points."""
    views = [load_game("shanghaien").observe(each.after, Seat(0)) for each in replay(record("expansions"))]
    told: dict[str, Any] = {}
    with opened(browser, written(site, record("expansions")).as_uri()) as (page, _):
        ready(page)
        for number, view in enumerate(views, start=1):
            ban, sharks = view["expansions"]["no_shanghai"]["ban"], view["expansions"]["sharks"]["face_down"]
            captain = view["expansions"]["crazy_captain"]["in_force"] is not None
            kinds = [view["phase"], *["ban"] * ban, *["captain"] * captain, *["sharks"] * bool(sharks)]
            if set(kinds) <= set(told):
                continue
            page.evaluate(f"location.hash = '#step={number}'")
            page.wait_for_function(f"document.querySelector('.count').textContent.startsWith('{number} ')")
            text, down = page.locator(".tavern").text_content(), page.locator(".tavern .card.is-down").count()
            told |= dict.fromkeys(kinds, text)
            assert down == (0 if view["phase"] == "over" else len(sharks))

    names = record("expansions").players
    assert {"turn", "rolling", "rolled", "over", "ban", "captain", "sharks"} <= set(told)
    assert f"{names[0]} to move" in told["turn"] or f"{names[1]} to move" in told["turn"]
    assert "must place" in told["rolled"]
    assert "no shanghai in this round" in told["ban"]
    assert "Crazy Captain of " in told["captain"]
    assert any(f"must choose ({kind})" in text for kind, text in told.items())
    assert "(+" in told["over"]
