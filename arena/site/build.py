"""The site as files in a folder.

Rule: the folder is ours alone. A page that a former build wrote and this one did not is removed.
"""

from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Final, Literal

import msgspec

from arena.api import record_of
from arena.errors import CheckFailed, SpecError
from arena.match.results import MatchKey, MatchResult
from arena.report.profile import ProfilePage
from arena.site.leagues import Chosen, LeagueView, league_views
from arena.site.pages import MATCHES_ON_A_PAGE, Pages, all_file
from arena.site.parts import player_file, public_reasons
from arena.site.replay import match_data, script
from arena.store.matches import MatchStore

MARK: Final = "made-by-arena.txt"
"""In every site: a folder with other files is left alone."""
_FOLDERS: Final = ("assets", "data", "league", "match")
Which = Literal["chosen", "all", "none"]
"""The matches that get a page: those worth a look, all, none."""


class Gathered(msgspec.Struct, frozen=True):
    """A league, the profiles of its players, the matches worth a look, and the ids of those that get a page."""

    view: LeagueView
    profiles: tuple[ProfilePage, ...]
    chosen: Chosen
    shown: frozenset[str]


def write_site(
    store: MatchStore, names: Sequence[str], out: Path, which: Which = "chosen", private: Sequence[str] = ()
) -> int:
    """Write the site of these leagues, or of all, into a new folder or over a former one; the number of files.

    `which` matches get a page; notes and stderr are those of the players `private` only. SpecError for a folder with
    other files.
    """
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / MARK).exists())):
        raise SpecError(f"--out {out}: found other files, expected a new folder or a site made before")
    out.mkdir(parents=True, exist_ok=True)
    (out / MARK).write_text("`arena site build` made this folder and writes it anew.\n", encoding="utf-8")
    written = set[Path]()
    for path, content in _contents(store, names, which, private):
        place = out / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        written.add(place)
    for folder in _FOLDERS:
        for place in (out / folder).rglob("*"):
            if place.is_file() and place not in written:
                place.unlink()
    return len(written)


def assets() -> Iterator[tuple[str, bytes]]:
    """The files that pages share."""
    for each in (files("arena.site") / "assets").iterdir():
        if each.is_file():
            yield f"assets/{each.name}", each.read_bytes()


def gathered(store: MatchStore, view: LeagueView, which: Which) -> Gathered:
    """All that the pages of a league are made from."""
    profiles = tuple(view.profile(store, name) for name in view.players)
    chosen = view.chosen(view.results(store))
    if which == "all":
        shown = {str(one.key) for one in view.results(store)}
    else:
        shown = {*_worth_a_look(view, chosen, profiles)} if which == "chosen" else set()
    return Gathered(view, profiles, chosen, frozenset(shown))


def _worth_a_look(view: LeagueView, chosen: Chosen, profiles: Sequence[ProfilePage]) -> Iterator[str]:
    """The chosen matches and those that profiles name, each with the others of its block: they share its luck."""
    keys = [one.key for found in (chosen.latest, chosen.closest, chosen.upsets, chosen.faulty) for one in found]
    for page in profiles:
        keys += [one.match for one in (*page.profile.wins, *page.profile.losses)]
    for key in keys:
        if (key.pairing, key.block) not in view.torn:
            yield from (str(MatchKey(key.pairing, key.block, turn)) for turn in range(view.state.tournament.seats))


def _contents(
    store: MatchStore, names: Sequence[str], which: Which, private: Sequence[str]
) -> Iterator[tuple[str, bytes]]:
    yield from assets()
    leagues = [gathered(store, view, which) for view in league_views(store, names)]
    owners = {match: one.view for one in reversed(leagues) for match in one.shown}
    pages = Pages(owners.__contains__)
    for path, text in _pages(pages, store, leagues):
        yield path, text.encode()
    for match in sorted(owners):
        for path, text in match_files(pages, store, owners[match], match, private):
            yield path, text.encode()


def match_files(
    pages: Pages, store: MatchStore, view: LeagueView, match: str, private: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """The page of a match, and its data."""
    found = store.match(match)
    try:
        data = match_data(record_of(match, found), found, private)
    except CheckFailed as error:
        yield f"match/{match}.html", pages.broken_match(view, match, str(error))
        return
    yield f"match/{match}.html", pages.match(view, match, data)
    yield f"data/match-{match}.js", script(f"match-{match}", data)


def _pages(pages: Pages, store: MatchStore, leagues: Sequence[Gathered]) -> Iterator[tuple[str, str]]:
    views = [one.view for one in leagues]
    yield "index.html", pages.index(views)
    yield "bots.html", pages.bots(views)
    yield "how-to-read.html", pages.how_to_read()
    for one in leagues:
        for name, text in _of_league(pages, store, one):
            yield f"league/{one.view.key}/{name}", text


def _of_league(pages: Pages, store: MatchStore, one: Gathered) -> Iterator[tuple[str, str]]:
    def reasons(of: MatchResult) -> list[str]:
        try:
            return public_reasons(of, record_of(str(of.key), store.match(str(of.key))))
        except CheckFailed as error:
            return [str(error)]

    view = one.view
    yield "index.html", pages.league(view)
    yield "matrix.html", pages.matrix(view)
    yield "matches.html", pages.chosen(view, one.chosen)
    yield "faults.html", pages.faults(view, one.chosen, reasons)
    yield "wall.html", pages.wall(view, one.chosen)
    for page in one.profiles:
        yield player_file(page.row.name), pages.player(view, page)
    for number, found in enumerate(_in_parts(view.results(store)), start=1):
        yield all_file(number), pages.all_matches(view, number, found)


def _in_parts(results: Iterator[MatchResult]) -> Iterator[list[MatchResult]]:
    while part := [*islice(results, MATCHES_ON_A_PAGE)]:
        yield part
