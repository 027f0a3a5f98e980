"""Pages of a league of ten seats in a real browser: every name can be read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from support import made_matches
from support.lottery import GAME, Lottery, lottery_on_offer
from support.made_matches import bot
from support.scripted_bot import ScriptedBot, answer, played_block, seated
from support.site_browser import DESK, opened, overflow, serious_faults
from support.store_made import writing

from arena.league.schedule import fixture, pairings
from arena.league.tournament import Player
from arena.match.secret_luck import Secret
from arena.site.build import write_site

pytestmark = [pytest.mark.slow, pytest.mark.process]

NAMES: Final = (
    "jo",
    "fritz",
    "heinrich_the_patient",
    "Alexandria-of-Low",
    "Emmanuel-the-Second.of-Lower-Saxony",
    "isabella.minimax",
    "W" * 16,
    "christopher_robin",
    "dora",
    "q" * 40,
)
"""Short and long, with and without a place to break the line; 40 letters are the most."""
PHONE: Final = {"width": 390, "height": 844}
BOTH: Final = pytest.mark.parametrize("size", [DESK, PHONE], ids=lambda size: f"{size['width']} px")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The site of a league of two blocks, in which player number n buys n mod 3 + 1 tickets."""
    folder = tmp_path_factory.mktemp("ten")
    players = tuple(Player(name, bot(f"bot{number}")) for number, name in enumerate(NAMES))
    league = made_matches.tournament(players=players, game=Lottery.name, seats=10, cycles=2, name="ten")
    with lottery_on_offer(), writing(folder / "results") as store:
        (pair,) = pairings(league)
        seats = [
            seated(
                buying(number), league.clock, game=GAME, options={}, seats=10, player=each.name, digest=each.bot.digest
            )
            for number, each in enumerate(pair.players)
        ]
        store.save_league(league)
        store.save([played_block(league, fixture(Secret.public(""), pair, block), seats) for block in (0, 1)])
        write_site(store, (), folder / "out", "all")
        yield folder / "out"


def buying(number: int) -> ScriptedBot:
    return ScriptedBot(plain=lambda message: answer(message, number % 3))


def page_of(site: Path, name: str) -> str:
    (league,) = (site / "league").iterdir()
    return (league / name).as_uri()


def match_of(site: Path) -> str:
    return min((site / "match").glob("*.html")).as_uri()


LETTERS_BY_LINE: Final = """
nodes => nodes.map(node => {
  const range = document.createRange();
  range.selectNodeContents(node);
  const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top))).size;
  const box = node.getBoundingClientRect();
  const isCut = node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== 'inline';
  return { text: node.textContent, lines, isCut, isIn: box.left >= 0 && box.right <= innerWidth };
})
"""


def unreadable(page: Any, selector: str) -> list[Any]:
    """The names that are cut, lie outside the window, or stand there letter by letter."""
    shown = page.locator(selector).evaluate_all(LETTERS_BY_LINE)
    assert len(shown) >= len(NAMES)
    return [
        each for each in shown if each["isCut"] or not each["isIn"] or each["lines"] > 1 + len(each["text"].strip()) / 7
    ]


@BOTH
@pytest.mark.parametrize("name", ["index.html", "matrix.html"])
def test_each_name_of_a_table_can_be_read(browser: Any, site: Path, name: str, size: dict[str, int]) -> None:
    """The whole name or its beginning and end, on a line or a few; also once the table is scrolled to its end."""
    with opened(browser, page_of(site, name), viewport=size) as (page, _):
        before = unreadable(page, "table tbody th >> a")
        page.locator(".scroll").first.evaluate("node => node.scrollLeft = node.scrollWidth")
        after = unreadable(page, "table tbody th >> a")
        wider = overflow(page)

    assert before == after == []
    assert wider <= 0


@BOTH
def test_each_name_at_the_table_can_be_read(browser: Any, site: Path, size: dict[str, int]) -> None:
    """In the match player, at the start, while seats act and at the end; each seat has a colour of its own."""
    with opened(browser, match_of(site), viewport=size) as (page, _):
        page.wait_for_selector(".steps [aria-current=step]")
        names = page.locator(".seat-name").all_text_contents()
        found = list(unreadable(page, ".seat-name"))
        page.keyboard.press("End")
        found += unreadable(page, ".seat-name")
        colours = page.locator(".seat").evaluate_all(
            "nodes => nodes.map(node => getComputedStyle(node).borderLeftColor)"
        )
        faults = serious_faults(page)
        title = page.inner_text("h1")
        wider = overflow(page)

    assert sorted(names) == sorted(NAMES)
    assert found == []
    assert len(set(colours)) == len(NAMES)
    assert faults == []
    assert title == "lottery: 10 players"
    assert wider <= 0


@BOTH
def test_names_in_the_picture_are_inside_it(browser: Any, site: Path, size: dict[str, int]) -> None:
    """No line of the text runs over the edge; on a phone a line of letters is no smaller than 9 pixels high."""
    with opened(browser, f"{match_of(site)}#30", viewport=size) as (page, _):
        page.wait_for_selector("img.still")
        page.keyboard.press("End")
        still = page.locator("img.still").get_attribute("src")
        shown = page.locator("img.still").bounding_box()
        page.goto(still)
        drawing = page.evaluate(
            """() => ({ width: Number(document.documentElement.getAttribute('width')), right: Math.max(
               ...[...document.querySelectorAll('text')].map(each => each.getBBox().x + each.getBBox().width)) })"""
        )

    assert drawing["right"] <= drawing["width"]
    assert shown is not None
    assert 14 * shown["width"] / drawing["width"] >= 9 or size == DESK
