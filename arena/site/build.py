"""The site as files in a folder.

Rule: the folder contains nothing else. Pages of a former build that this one did not write are removed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

import msgspec

from arena.errors import CheckFailed, SpecError
from arena.league.progress import OnStep, ignore_step, steps_of
from arena.match.record import MatchRecord, SimulationStep
from arena.match.results import MatchResult, record_of
from arena.site.leagues import Chosen, LeagueView, league_views, require_players
from arena.site.pages import Pages, all_file
from arena.site.parts import pair_file, player_file, public_reasons
from arena.site.replay import match_data, script
from arena.store.matches import MatchStore

MARK: Final = "made-by-arena.txt"
"""File that marks a folder as a site; a folder with other files and without it is left alone."""
_FOLDERS: Final = ("assets", "data", "league", "match")
MOST_SIMULATIONS: Final = 400
"""Simulations that a build makes again, each in as much time as it took in its match."""
Which = Literal["chosen", "all", "none"]
"""The choice of matches that get a page: the ones worth a look, all, none."""


class Gathered(msgspec.Struct, frozen=True):
    """The contents of a league's pages: its view, the matches worth a look by pair, the ids of matches with a page."""

    view: LeagueView
    chosen: Mapping[tuple[str, str] | None, Chosen]
    shown: Mapping[str, None]


def write_site(
    store: MatchStore,
    names: Sequence[str],
    out: Path,
    which: Which = "chosen",
    private: Sequence[str] = (),
    on_step: OnStep = ignore_step,
) -> int:
    """Write the site of the named leagues, or of all, into a new or a former folder; return the number of files.

    `which`: the matches that get a page. `private`: the players whose notes and stderr are shown. SpecError for a
    folder with other files, and for an unknown player.
    """
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / MARK).exists())):
        raise SpecError(f"--out {out}: found other files, expected a new folder or a site made before")
    out.mkdir(parents=True, exist_ok=True)
    (out / MARK).write_text("`arena site build` made this folder and writes it anew.\n", encoding="utf-8")
    written = set[Path]()
    for path, content in _contents(store, names, which, private, on_step):
        file = out / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        written.add(file)
    for folder in _FOLDERS:
        for file in (out / folder).rglob("*"):
            if file.is_file() and file not in written:
                file.unlink()
    return len(written)


def assets() -> Iterator[tuple[str, bytes]]:
    """Yield path and content of each file that pages share."""
    for asset in (files("arena.site") / "assets").iterdir():
        if asset.is_file():
            yield f"assets/{asset.name}", asset.read_bytes()


def gathered(store: MatchStore, view: LeagueView, which: Which, on_step: OnStep = ignore_step) -> Gathered:
    """Collect the contents of the pages of a league."""
    results = steps_of(view.results(store), f"{view.name}: matches read", view.state.stored, on_step)
    chosen = view.chosen(results, view.pairs)
    shown = {"all": map(str, view.keys), "chosen": _worth_a_look(view, chosen[None]), "none": ()}[which]
    return Gathered(view, chosen, dict.fromkeys(shown))


def _worth_a_look(view: LeagueView, chosen: Chosen) -> Iterator[str]:
    """Yield the ids of the chosen matches and of those in profiles, with all matches of their blocks (same luck)."""
    keys = [match.key for kind in (chosen.latest, chosen.closest, chosen.upsets, chosen.faulty) for match in kind]
    for profile in (view.profile(name).profile for name in view.players):
        keys += [extreme.match for extreme in (*profile.wins, *profile.losses)]
    for key in filter(view.has, keys):
        yield from (str(key._replace(rotation=turn)) for turn in range(view.state.tournament.seats))


def _contents(
    store: MatchStore, names: Sequence[str], which: Which, private: Sequence[str], on_step: OnStep
) -> Iterator[tuple[str, bytes]]:
    yield from assets()
    views = [*league_views(store, names)]
    require_players(views, private)
    leagues = [gathered(store, view, which, on_step) for view in views]
    owners = {match: league.view for league in reversed(leagues) for match in league.shown}
    pages = Pages(owners.__contains__)
    for path, text in _pages(pages, store, leagues, on_step):
        yield path, text.encode()
    films = _Films()
    for league in leagues:
        owned = [match_id for match_id in league.shown if owners[match_id] is league.view]
        for match in steps_of(owned, f"{league.view.name}: matches replayed", len(owned), on_step, every=1):
            for path, text in match_files(pages, store, league.view, match, private, films):
                yield path, text.encode()


class _Films:
    """A budget of simulations to make again: matches get their movements until it is used up."""

    def __init__(self) -> None:
        self._left = MOST_SIMULATIONS

    def __call__(self, record: MatchRecord) -> bool:
        self._left -= sum(isinstance(step, SimulationStep) for step in record.steps)
        return self._left >= 0


def match_files(
    pages: Pages,
    store: MatchStore,
    view: LeagueView,
    match: str,
    private: Sequence[str],
    has_motions: Callable[[MatchRecord], bool] = lambda _: True,
) -> Iterator[tuple[str, str]]:
    """Yield path and text of a match's page and of its data; `has_motions` tells if simulations are made again."""
    stored = store.match(match)
    try:
        record = record_of(stored)
        data = match_data(record, stored, private, has_motions=has_motions(record))
    except CheckFailed as error:
        yield f"match/{match}.html", pages.broken_match(view, match, str(error))
        return
    yield f"match/{match}.html", pages.match(view, match, data)
    yield f"data/match-{match}.js", script(f"match-{match}", data)


def _pages(pages: Pages, store: MatchStore, leagues: Sequence[Gathered], on_step: OnStep) -> Iterator[tuple[str, str]]:
    views = [league.view for league in leagues]
    for name, make in site_pages(pages, views).items():
        yield name, make()
    for league in leagues:
        folder = f"league/{league.view.key}"
        makers = league_pages(pages, store, league.view, views, league.chosen.__getitem__)
        for name, make in steps_of(makers.items(), f"{league.view.name}: pages", len(makers), on_step, every=1):
            yield f"{folder}/{name}", make()


def site_pages(pages: Pages, views: Sequence[LeagueView]) -> dict[str, Callable[[], str]]:
    """Return the makers of the pages that belong to no league, by path."""
    return {
        "index.html": lambda: pages.index(views),
        "bots.html": lambda: pages.bots(views),
        "how-to-read.html": pages.how_to_read,
    }


def league_pages(
    pages: Pages,
    store: MatchStore,
    view: LeagueView,
    leagues: Sequence[LeagueView],
    chosen: Callable[[tuple[str, str] | None], Chosen],
) -> dict[str, Callable[[], str]]:
    """Return the makers of a league's pages, by file name; `leagues` are all leagues of the site.

    `chosen` gives the matches worth a look of a pair, or of the league for None.
    """

    def reasons(of: MatchResult) -> list[str]:
        try:
            return public_reasons(of, record_of(store.match(str(of.key))))
        except CheckFailed as error:
            return [str(error)]

    def player(name: str) -> str:
        return pages.player(view, view.profile(name), leagues)

    def pair_page(pair: tuple[str, str]) -> str:
        return pages.pair(view, pair, chosen(pair))

    def listed(number: int) -> str:
        return pages.all_matches(view, number, view.page(store, number))

    return {
        "index.html": lambda: pages.league(view),
        "matrix.html": lambda: pages.matrix(view),
        "matches.html": lambda: pages.chosen(view, chosen(None)),
        "faults.html": lambda: pages.faults(view, chosen(None), reasons),
        "wall.html": lambda: pages.wall(view, chosen(None)),
        **{player_file(name): partial(player, name) for name in view.players},
        **{pair_file(pair): partial(pair_page, pair) for pair in sorted(view.pairs)},
        **{all_file(number): partial(listed, number) for number in range(1, view.pages + 1)},
    }
