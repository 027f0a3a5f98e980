"""The site of a league at each step of its growth: every page can be made, and the list has each match once."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.site_made import Read
from support.store_made import block_of, blocks_of, reading, tournament, writing
from support.tampering import delete_match

from arena.league.schedule import Pairing, jobs, pairings
from arena.league.schedules.settings import Swiss
from arena.operations.leagues import load_league
from arena.site.build import site_pages, write_site
from arena.site.leagues import league_view
from arena.site.pages import Pages
from arena.site.serve import LiveSite

Missing = tuple[Pairing, int]
NAMES = ("ann", "bob", "cid", "dan")
SWISS = {"schedule": Swiss(rounds=2), "cycles": 0}


@pytest.mark.parametrize(
    ("names", "settings", "choose"),
    [
        (NAMES[:3], {"cycles": 1}, lambda blocks: blocks[0]),
        (NAMES[:3], {"cycles": 1}, lambda blocks: blocks[-1]),
        (NAMES, SWISS, lambda blocks: blocks[-1]),
    ],
    ids=["first", "last", "swiss"],
)
def test_every_page_of_a_growing_league_can_be_made(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    names: tuple[str, ...],
    settings: dict[str, Any],
    choose: Callable[[Sequence[Missing]], Missing],
) -> None:
    """Only the first pairing has begun, or only the last one; a live server lists the same matches as files."""
    monkeypatch.setattr("arena.site.leagues.MATCHES_ON_A_PAGE", 3)
    league = tournament(*names, **settings)
    with writing(tmp_path / "results") as store:
        store.save_league(league)
        stored = 0
        while not (state := load_league(store, league.name)).is_complete:
            left = jobs(league, state.finished, round_=state.rounds[-1])
            missing = [(job.pairing, planned.block) for job in left for planned in job.fixtures]
            store.save([block_of(league, *choose(missing))])
            stored += 2
            write_site(store, (), tmp_path / "out", "none")

            paths = sorted((tmp_path / "out" / "league").rglob("all-*.html"))
            site = LiveSite(tmp_path / "results", ())
            assert all(site.file(str(path.relative_to(tmp_path / "out"))) for path in paths)
            lists = [Read(path).text for path in paths]
            listed = [match for text in lists for match in re.findall(r"[0-9a-f]{12}-\d+-\d", text)]
            assert len(listed) == len({*listed}) == stored
            assert len(lists) == -(-stored // 3)
    assert stored >= 6


def test_a_pairing_of_which_the_only_block_is_torn_has_no_place_in_the_list(tmp_path: Path) -> None:
    """In the middle of the list, where the pairing before it and the one after it have whole blocks."""
    league = tournament("ann", "bob", "cid", cycles=1)
    with writing(tmp_path) as store:
        store.save_league(league)
        store.save(blocks_of(league))
    second = pairings(league)[1].key
    delete_match(tmp_path, lambda match: match.key[::2] == (second, 1))

    with reading(tmp_path) as store:
        view = league_view(store, league.name)
        listed = [one.key for one in view.page(store, 1)]
        assert listed == [*view.keys]
        assert site_pages(Pages(lambda _: False), [view])["index.html"]()
    assert [view.pages_of(pair) for pair in (("ann", "bob"), ("ann", "cid"), ("bob", "cid"))].count([1]) == 2
    assert len(listed) == 4
