"""The site as files in a folder.

Rule: the folder contains nothing else. Pages of a former build that this one did not write are removed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from arena.errors import CheckFailed, SpecError
from arena.games import load_game
from arena.games.api import picture_with_names
from arena.games.looks import LOOKS
from arena.league.profiles import ignored_fields
from arena.league.progress import OnStep, ignore_step, steps_of
from arena.match.judgement import Judgement
from arena.match.record import MatchRecord, SimulationStep
from arena.match.replay import state_before
from arena.match.results import MatchResult, record_of
from arena.site.leagues import Highlights, LeagueView, league_views, require_players
from arena.site.pages import Pages, all_file
from arena.site.parts import pair_file, player_file, public_reasons
from arena.site.replay import match_data, script
from arena.store.made_folder import claim_folder
from arena.store.matches import MatchStore

_FOLDERS: Final = ("assets", "data", "league", "match")
MOST_SIMULATIONS: Final = 400
"""Simulations that a build makes again, each in as much time as it took in its match."""
MatchChoice = Literal["chosen", "all", "none"]
"""The choice of matches that get a page: the ones worth a look, all, none."""


class LeagueContents(msgspec.Struct, frozen=True):
    """The contents of a league's pages: its view, the matches worth a look by pair, the ids of matches with a page."""

    view: LeagueView
    highlights: Mapping[tuple[str, str] | None, Highlights]
    match_ids: Mapping[str, None]


def write_site(
    store: MatchStore,
    names: Sequence[str],
    out: Path,
    which: MatchChoice = "chosen",
    private: Sequence[str] = (),
    on_step: OnStep = ignore_step,
) -> int:
    """Write the site of the named leagues, or of all, into a new or a former folder; return the number of files.

    `which`: the matches that get a page. `private`: the players whose notes and stderr are shown. Files of a former
    build that are not written again are removed. SpecError for a folder with other files, an unknown league or player.
    """
    claim_folder(out, "arena site build")
    written = set[Path]()
    for path, content in _site_files(store, names, which, private, on_step):
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
    yield "assets/looks.css", "".join(map(_look_rule, range(len(LOOKS)))).encode()


def _look_rule(number: int) -> str:
    """Return the CSS of the class `look-N`: `--look` is the colour of the players with that look, `--shape` a mask."""
    light, dark, shape = LOOKS[number]
    mask = f"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'><path d='{shape}'/></svg>"
    return f'.look-{number} {{ --look: light-dark({light}, {dark}); --shape: url("{mask}"); }}\n'


def collect_contents(
    store: MatchStore, view: LeagueView, which: MatchChoice, on_step: OnStep = ignore_step
) -> LeagueContents:
    """Read the results of a league once: pick its highlights, and the ids of the matches that get a page by `which`."""
    results = steps_of(view.results(store), f"{view.name}: matches read", view.state.stored, on_step)
    highlights = view.highlights(results, view.pairs)
    match_ids = {"all": map(str, view.keys), "chosen": _highlighted_ids(view, highlights[None]), "none": ()}[which]
    return LeagueContents(view, highlights, dict.fromkeys(match_ids))


def _highlighted_ids(view: LeagueView, highlights: Highlights) -> Iterator[str]:
    """Yield the ids of the highlights, and of the biggest wins and losses in profiles; some come more than once.

    Each comes with all matches of its block, which have the same luck.
    """
    keys = [match.key for match in highlights.matches(*highlights.kinds)]
    for profile in (view.profile(name).profile for name in view.players):
        keys += [extreme.match for extreme in (*profile.wins, *profile.losses)]
    for key in filter(view.has, keys):
        yield from (str(key._replace(rotation=turn)) for turn in range(view.state.tournament.seats))


def _site_files(
    store: MatchStore, names: Sequence[str], which: MatchChoice, private: Sequence[str], on_step: OnStep
) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of each file of the site: shared files, matches with their data, then pages.

    SpecError for an unknown league, or an unknown player in `private`.
    """
    yield from assets()
    views = [*league_views(store, names)]
    require_players(views, private)
    leagues = [collect_contents(store, view, which, on_step) for view in views]
    owners = {match: league.view for league in reversed(leagues) for match in league.match_ids}
    marks = dict[str, Any]()
    pages, motions = Pages(owners.__contains__, marks=marks), _MotionBudget()
    for league in leagues:
        owned = [match_id for match_id in league.match_ids if owners[match_id] is league.view]
        for match in steps_of(owned, f"{league.view.name}: matches replayed", len(owned), on_step, every=1):
            yield f"match/{match}.svg", picture_file(store, league.view, match).encode()
            for path, text in match_files(pages, store, league.view, match, private, motions, marks=marks):
                yield path, text.encode()
    for path, text in _page_files(pages, store, leagues, on_step):
        yield path, text.encode()


class _MotionBudget:
    """A budget of simulations to make again: matches get their movements until it is used up."""

    def __init__(self) -> None:
        self._left = MOST_SIMULATIONS

    def __call__(self, record: MatchRecord) -> bool:
        """Take the simulations of a match off the budget; return False if it is exceeded, and for all matches after."""
        self._left -= sum(isinstance(step, SimulationStep) for step in record.steps)
        return self._left >= 0


def match_files(
    pages: Pages,
    store: MatchStore,
    view: LeagueView,
    match: str,
    private: Sequence[str],
    has_motions: Callable[[MatchRecord], bool] = lambda _: True,
    judge: Callable[[MatchRecord], Sequence[Judgement]] = lambda _: (),
    marks: dict[str, Any] | None = None,
) -> Iterator[tuple[str, str]]:
    """Yield path and text of a match's page and data; if the record contradicts the rules, of a page with the reason.

    `has_motions` tells if simulations are made again. Decisions have the costs that are kept beside the results;
    without any, those by `judge`. The marks of the match are put into `marks`, under its id.
    """
    stored = store.match(match)
    try:
        record = record_of(stored)
        judgements = store.judgements.read_all(stored) or judge(record)
        data = match_data(record, stored, private, judgements, league=view.names, has_motions=has_motions(record))
    except CheckFailed as error:
        yield f"match/{match}.html", pages.broken_match(view, match, str(error))
        return
    if marks is not None:
        marks[match] = data["marks"]
    yield f"match/{match}.html", pages.match(view, match, data)
    yield f"data/match-{match}.js", script(f"match-{match}", data)


def picture_file(store: MatchStore, view: LeagueView, match: str) -> str:
    """Return the last position of a match as SVG; an empty picture if it cannot be replayed."""
    try:
        record = record_of(store.match(match))
        state = state_before(record, len(record.steps) + 1)
        game = load_game(record.game)
    except (CheckFailed, SpecError):
        return '<svg xmlns="http://www.w3.org/2000/svg"/>'
    return picture_with_names(game, state, record.players, view.names)


def _page_files(
    pages: Pages, store: MatchStore, leagues: Sequence[LeagueContents], on_step: OnStep
) -> Iterator[tuple[str, str]]:
    """Yield path and text of each page that is not of a match."""
    views = [league.view for league in leagues]
    for name, make in site_pages(pages, views).items():
        yield name, make()
    for league in leagues:
        folder = f"league/{league.view.key}"
        makers = league_pages(pages, store, league.view, views, league.highlights.__getitem__)
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
    highlights: Callable[[tuple[str, str] | None], Highlights],
) -> dict[str, Callable[[], str]]:
    """Return the makers of a league's pages, by file name; `leagues` are all leagues of the site.

    `highlights` gives the matches worth a look of a pair, or of the league for None.
    """

    def reasons(of: MatchResult) -> list[str]:
        """Return the reasons of a match's faults, or why its record cannot be read."""
        try:
            return public_reasons(of, record_of(store.match(str(of.key))))
        except CheckFailed as error:
            return [str(error)]

    def player(name: str) -> str:
        ignored = ignored_fields(view.state, name, store.matches)
        return pages.player(view, replace(view.profile(name), ignored=ignored), leagues)

    def pair_page(pair: tuple[str, str]) -> str:
        return pages.pair(view, pair, highlights(pair))

    def list_page(number: int) -> str:
        return pages.all_matches(view, number, view.page(store, number))

    return {
        "index.html": lambda: pages.league(view),
        "matrix.html": lambda: pages.matrix(view),
        "matches.html": lambda: pages.highlights(view, highlights(None)),
        "faults.html": lambda: pages.faults(view, highlights(None), reasons),
        "wall.html": lambda: pages.wall(view, highlights(None)),
        **{player_file(name): partial(player, name) for name in view.players},
        **{pair_file(pair): partial(pair_page, pair) for pair in sorted(view.pairs)},
        **{all_file(number): partial(list_page, number) for number in range(1, view.pages + 1)},
    }
