"""Pages of a league of ten seats, of a game from another package, in a real browser: every name can be read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from support import made_matches
from support.made_matches import bot
from support.plugin_packages import install
from support.scripted_bot import ScriptedBot, answer, played_block, seated
from support.site_browser import DESK, opened, overflow, serious_faults
from support.store_made import reading, writing

from arena import games
from arena.games import load_game
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
CODE: Final = '''
"""Three times all seats say a number at once; the lowest that nobody else said wins a point."""

from typing import Literal

import msgspec

from arena.games.api import Decision, Outcome, Over, Seat, ranks_by_score, with_names
from arena.games.base import BaseGame, NoOptions


class Say(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    number: Literal[1, 2, 3, 4, 5, 6]

    def __str__(self):
        return f"says {self.number}"


class State(msgspec.Struct, frozen=True):
    seats: int
    said: tuple[tuple[int, ...], ...] = ()


class LowestAlone(BaseGame):
    name, rules_version, seat_counts = "lowest_alone", "1", tuple(range(2, 11))
    is_simultaneous = True
    action_type = Say

    def setup(self, options, seats):
        self.read_options(options, seats, NoOptions)
        return State(seats)

    def turn(self, state):
        return Over() if len(state.said) == 3 else Decision(tuple(map(Seat, range(state.seats))))

    def observe(self, state, seat):
        return {"you": seat, "said": [list(each) for each in state.said]}

    def legal(self, state, seat):
        return () if len(state.said) == 3 else tuple(map(Say, range(1, 7)))

    def apply(self, state, actions):
        return State(state.seats, (*state.said, tuple(actions[seat].number for seat in range(state.seats))))

    def outcome(self, state):
        alone = [min((one for one in each if each.count(one) == 1), default=0) for each in state.said]
        scores = tuple(
            sum(each[seat] == lowest for each, lowest in zip(state.said, alone)) for seat in range(state.seats)
        )
        return Outcome(scores=scores, ranks=ranks_by_score(scores))

    def describe(self, state, names=()):
        rounds = [
            f"round {number}: " + ", ".join(f"seat {seat} {one}" for seat, one in enumerate(each))
            for number, each in enumerate(state.said, start=1)
        ]
        lines = [f"seat {seat}: {[each[seat] for each in state.said]}" for seat in range(state.seats)]
        return with_names("\\n".join([*lines, *rounds]), names)
'''


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The site of a league of two blocks: player number n says a number that changes with n and with time."""
    folder = tmp_path_factory.mktemp("ten")
    install(folder / "packages", "lowest_package", CODE, entries={"lowest_alone": "lowest_package:LowestAlone"})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder / "packages")
        games._load_plugin.cache_clear()
        players = tuple(Player(name, bot(f"bot{number}")) for number, name in enumerate(NAMES))
        league = made_matches.tournament(players=players, game="lowest_alone", seats=10, cycles=2, name="ten")
        (pair,) = pairings(league)
        with writing(folder / "results") as store:
            store.save_league(league)
            store.save(
                [played_block(league, fixture(Secret.public(""), pair, block), seats_of(league)) for block in (0, 1)]
            )
        with reading(folder / "results") as store:
            write_site(store, (), folder / "out", "all")
        yield folder / "out"
    games._load_plugin.cache_clear()


def seats_of(league: Any) -> list[Any]:
    """The players, each with its own way to choose."""
    return [
        seated(
            saying(own),
            league.clock,
            game=load_game("lowest_alone"),
            options={},
            seats=10,
            player=each.name,
            digest=each.bot.digest,
        )
        for own, each in enumerate(pairings(league)[0].players)
    ]


def saying(own: int) -> ScriptedBot:
    return ScriptedBot(lambda message, asked: [answer(message, (own * asked + own) % 6)])


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
    assert title == "lowest_alone: 10 players"
    assert wider <= 0


def test_a_seat_that_has_answered_is_no_more_on_move(browser: Any, site: Path) -> None:
    """In a decision of ten seats each step removes the seat that answered from those on move."""
    with opened(browser, match_of(site)) as (page, _):
        page.wait_for_selector(".steps [aria-current=step]")
        waiting = []
        for _step in range(11):
            waiting.append(page.locator(".seat.is-next").count())
            page.keyboard.press("ArrowRight")

    assert waiting == [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 10]


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
