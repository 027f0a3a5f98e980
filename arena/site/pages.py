"""The pages of the site as HTML, by templates: the same for files and for the server.

Rule: a template escapes all text, and every text is printable before. A page refers to others by relative paths, so
that the site works from a file and below any address.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import jinja2
from markupsafe import Markup, escape

from arena import __version__
from arena.league.profiles import ProfilePage
from arena.match.results import MatchResult
from arena.report.columns import LEADERBOARD, PLUS_MINUS, SHOWN_STANDINGS, section_columns
from arena.report.leaderboard import notes
from arena.report.profile import (
    drift_sentence,
    fault_sentences,
    head_sentences,
    time_columns,
    time_sentences,
)
from arena.site.leagues import Chosen, LeagueView
from arena.site.parts import (
    MatchLine,
    bot_table,
    extreme_line,
    form_plot,
    heat_map,
    luck_table,
    match_line,
    pair_file,
    pair_sentence,
    rating_plot,
    rows_of,
    section_tables,
    skill_plot,
    standings_table,
)
from arena.text import counted, printable

POLICY: Final = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file: data:; base-uri 'none';"
    " form-action 'none'"
)
"""Own scripts and styles only, from a file as well; no request leaves the site."""
_NEAR: Final = 3
"""Pages on either side that a page of a list links to."""
_IN_A_LEAGUE: Final = "../../"
_PLAYER: Final = ("assets/player.js",)


def _environment(policy: str) -> jinja2.Environment:
    loader = jinja2.PackageLoader("arena.site")
    found = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    found.filters |= {"code": _with_code, "rows": rows_of}
    found.globals.update(policy=policy, version=__version__)
    return found


def _finalized(value: Any) -> Any:
    """Text without characters that do not print; markup of our own passes, it is escaped already."""
    return printable(value, keep="\n") if type(value) is str else value


def _with_code(text: str) -> Markup:
    """A sentence of a report, with what stands between backticks as code."""
    parts = [escape(printable(part)) for part in text.split("`")]
    is_even = len(parts) % 2
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 and is_even else part for place, part in enumerate(parts)
    )


class Pages:
    """Makes pages; `is_shown` tells of the id of a match whether it has a page.

    `live` is the version of all that is stored, for a server that tells of newer ones; None for files.
    """

    def __init__(self, is_shown: Callable[[str], bool] = lambda _: False, live: str | None = None) -> None:
        self._templates = _environment(POLICY if live is None else f"{POLICY}; connect-src 'self'")
        self._is_shown, self._live = is_shown, live

    def _page(self, template: str, root: str = "", scripts: Sequence[str] = (), **values: Any) -> str:
        return str(
            self._templates.get_template(template).render(
                root=root, scripts=scripts, live=None if scripts else self._live, **values
            )
        )

    def index(self, leagues: Sequence[LeagueView]) -> str:
        """The list of leagues."""
        return self._page("index.html", leagues=leagues)

    def bots(self, leagues: Sequence[LeagueView]) -> str:
        """Every bot with the players that it is, league by league."""
        return self._page("bots.html", bots=bot_table(leagues))

    def how_to_read(self) -> str:
        """The meaning of every column."""
        sections = [("Standings", LEADERBOARD), ("The tables of a player", section_columns("opponent"))]
        told = [(title, [(each.name, each.meaning) for each in columns]) for title, columns in sections]
        return self._page("how-to-read.html", sections=told, plus_minus=PLUS_MINUS)

    def league(self, view: LeagueView) -> str:
        """The standings, with plots."""
        return self._page(
            "league.html",
            _IN_A_LEAGUE,
            view=view,
            standings=standings_table(view),
            shown=SHOWN_STANDINGS,
            notes=notes(view.table, view.timing, view.state.news, {"faults"}),
            skills=skill_plot(view),
            ratings=rating_plot(view),
            luck=luck_table(view),
        )

    def matrix(self, view: LeagueView) -> str:
        """The scores of the best players against each other."""
        return self._page("matrix.html", _IN_A_LEAGUE, view=view, matrix=heat_map(view))

    def player(self, view: LeagueView, page: ProfilePage, leagues: Sequence[LeagueView]) -> str:
        """All about a player of the league; the versions of its bot in `leagues`, too."""
        versions = bot_table(leagues, page.row.bot, "../")
        found = page.profile
        kinds = (("Biggest wins", found.wins), ("Biggest losses", found.losses))
        told = [drift_sentence(found.drift), *time_sentences(page), *fault_sentences(page)] if page.row.matches else []
        return self._page(
            "player.html",
            _IN_A_LEAGUE,
            view=view,
            name=page.row.name,
            head=[*head_sentences(page)],
            versions=versions if len(versions[0].cells) > 1 else None,
            tables=section_tables(page),
            form=form_plot(page),
            times=time_columns(page) if page.timing.moves else None,
            tail=told,
            matches=[(kind, [extreme_line(one, self._is_shown) for one in own]) for kind, own in kinds if own],
        )

    def chosen(self, view: LeagueView, chosen: Chosen) -> str:
        """The matches worth a look."""
        told = ["An upset: the winner is behind a loser in skill by all matches; the largest difference first."]
        return self._matches(view, "matches.html", "Matches worth a look", self._kinds(chosen), notes=told)

    def pair(self, view: LeagueView, pair: tuple[str, str], chosen: Chosen) -> str:
        """The matches of two players worth a look, and the pages of the list that have all of them."""
        links = [(all_file(each), each) for each in view.pages_of(pair)]
        told = [pair_sentence(one) for one in view.matrix.meetings if (one.player, one.opponent) == pair]
        title = f"{pair[0]} against {pair[1]}"
        return self._matches(view, pair_file(pair), title, self._kinds(chosen), notes=told, links=links)

    def faults(self, view: LeagueView, chosen: Chosen, reasons: Callable[[MatchResult], Sequence[str]]) -> str:
        """The matches with a fault, forfeits first, with their reasons."""
        lines = [match_line(one, self._is_shown, reasons(one)) for one in chosen.faulty]
        left = chosen.faults - len(lines)
        told = [f"{counted(left, 'more match', 'more matches')} with faults: `arena league matches --faults`."]
        return self._matches(view, "faults.html", "Faults", [("", lines)], notes=told if left else [])

    def all_matches(self, view: LeagueView, page: int, found: Iterable[MatchResult]) -> str:
        """A page of the list of all matches, pairing by pairing; the first page is 1."""
        title = f"All matches, page {page} of {view.pages}"
        return self._matches(view, all_file(page), title, [("", self._lines(found))], page=page)

    def wall(self, view: LeagueView, chosen: Chosen) -> str:
        """The latest matches, one after the other."""
        playlist = [str(one.key) for one in chosen.latest if self._is_shown(str(one.key))]
        return self._page("wall.html", _IN_A_LEAGUE, _PLAYER if playlist else (), view=view, playlist=playlist)

    def match(self, view: LeagueView, match: str, data: Mapping[str, Any]) -> str:
        """The player of a match, around `data`; without a script its steps as text."""
        module = [f"assets/{data['module']}.js"] if data["module"] else []
        return self._page(
            "match.html",
            "../",
            [*_PLAYER, *module, f"data/match-{match}.js"],
            view=view,
            id=match,
            title=data["title"],
            notes=[data["result"], *filter(None, [data.get("notice", "")])],
            steps=[_step_words(step, data["players"]) for step in data["steps"]],
        )

    def broken_match(self, view: LeagueView, match: str, reason: str) -> str:
        """The page of a match that cannot be replayed."""
        return self._page("match.html", "../", view=view, id=match, title=f"Match {match}", notes=[reason], steps=[])

    def _matches(
        self,
        view: LeagueView,
        here: str,
        title: str,
        sections: Sequence[tuple[str, Sequence[MatchLine]]],
        *,
        notes: Sequence[str] = (),
        page: int = 0,
        links: Sequence[tuple[str, int]] = (),
    ) -> str:
        pages = range(1, view.pages + 1)
        near = [each for each in pages if each in {1, view.pages} or abs(each - (page or 1)) <= _NEAR]
        links = links or [(all_file(each), each) for each in near]
        values: dict[str, Any] = {"title": title, "sections": sections, "notes": notes, "page": page, "links": links}
        return self._page("matches.html", _IN_A_LEAGUE, view=view, here=here, **values)

    def _kinds(self, chosen: Chosen) -> list[tuple[str, Sequence[MatchLine]]]:
        kinds = (("Latest", chosen.latest), ("Closest", chosen.closest), ("Biggest upsets", chosen.upsets))
        return [(kind, self._lines(found)) for kind, found in kinds]

    def _lines(self, found: Iterable[MatchResult]) -> list[MatchLine]:
        return [match_line(one, self._is_shown) for one in found]


def _step_words(step: Mapping[str, Any], players: Sequence[Mapping[str, Any]]) -> str:
    """A step of a match as a line."""
    seat, note, fault = step.get("seat"), step.get("note"), step.get("fault")
    name = "" if seat is None else f"{players[seat]['name']}: "
    told = [f"{name}{step['text']}", f"note: {note}" if note else "", f"fault: {fault}" if fault else ""]
    return "; ".join(filter(None, told))


def all_file(page: int) -> str:
    """A page of the list of all matches within the folder of the league."""
    return f"all-{page}.html"
