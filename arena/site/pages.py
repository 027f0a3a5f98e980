"""The pages of the site as HTML, by templates: the same for files and for the server.

Rule: a template escapes all text, and every text is printable before. A page refers to others by relative paths, so
that the site works from a file and below any address.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import jinja2
from markupsafe import Markup, escape

from arena import __version__
from arena.league.profiles import ProfilePage
from arena.match.results import MatchResult
from arena.report.columns import PLUS_MINUS, SHOWN, SHOWN_STANDINGS, section_columns
from arena.report.history import (
    MOST_RUNS_SHOWN,
    hand_in_columns,
    passing_sentences,
    run_columns,
    run_sentence,
    standing_columns,
)
from arena.report.leaderboard import notes
from arena.report.profile import (
    drift_sentence,
    fault_sentences,
    head_sentences,
    time_columns,
    time_sentences,
)
from arena.site.leagues import Highlights, LeagueView
from arena.site.parts import (
    CARD_KINDS,
    LUCK_MEANING,
    ON_PHONE,
    STANDINGS,
    Card,
    Marks,
    MatchLine,
    bot_table,
    cards_of,
    extreme_line,
    form_plot,
    heat_map,
    history_plot,
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
"""Content security policy: scripts and styles of the site only, from files too; no request leaves the site."""
_WORDS: Final = (
    ("luck", LUCK_MEANING),
    ("seat advantage", "the points of score that a seat is worth against equals"),
    ("commitment", "a hash of the secret of the luck, from before the first match: nobody chose the luck later"),
    ("isolation", "`sandbox`: bots had no network and no files of others; `none`: they could read those files"),
)
"""Words of the page of a league that are no columns of its standings, with their meanings."""
_NEAR: Final = 3
"""The number of pages on either side that a page of a list links to."""
_MOST_OF_PAIR: Final = 12
"""The most matches on the page of two players."""
_ON_WALL: Final = 4
"""Columns of the standings on the wall: rank, player, score, rating."""
_MOST_NEWS: Final = 6
_IN_A_LEAGUE: Final = "../../"
_PLAYER: Final = ("assets/player.js",)


def _environment(policy: str) -> jinja2.Environment:
    """Return the environment of the templates, with this content security policy."""
    loader = jinja2.PackageLoader("arena.site")
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_make_printable,
    )
    environment.filters |= {"code": _mark_code, "rows": rows_of}
    environment.globals.update(policy=policy, version=__version__, on_phone=ON_PHONE)
    return environment


def _make_printable(value: Any) -> Any:
    """Return text without characters that do not print; our own markup passes, it is escaped already."""
    return printable(value, keep="\n") if type(value) is str else value


def _mark_code(text: str) -> Markup:
    """Return a sentence of a report as markup, with the words between backticks as code."""
    parts = [escape(printable(part)) for part in text.split("`")]
    is_even = len(parts) % 2
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 and is_even else part for place, part in enumerate(parts)
    )


class Pages:
    """A maker of the site's pages; `has_page` tells if a match, by its id, has a page, and with it a picture.

    `live`: the stored version that a server shows, so that the page can learn of newer ones; None for files. `marks`
    of matches by id, as far as they are known. `growing`: leagues of which more matches are stored by and by.
    """

    def __init__(
        self,
        has_page: Callable[[str], bool] = lambda _: False,
        live: str | None = None,
        *,
        marks: Marks = MappingProxyType({}),
        growing: Collection[str] = (),
    ) -> None:
        self._templates = _environment(POLICY if live is None else f"{POLICY}; connect-src 'self'")
        self._has_page, self._live, self._marks, self._growing = has_page, live, marks, growing

    def _render(self, template: str, root: str = "", scripts: Sequence[str] = (), **values: Any) -> str:
        """Return a page made from a template; `root` is the way from its folder to that of the site.

        A match, which never changes, does not watch for newer versions.
        """
        return str(
            self._templates.get_template(template).render(
                root=root, scripts=scripts, live=None if template == "match.html" else self._live, **values
            )
        )

    def index(self, leagues: Sequence[LeagueView]) -> str:
        """Return the first page of the site: the leagues, the one that ended last first, after those that grow."""
        ends = {view.name: view.runs[-1].ended_at[:16].replace("T", " ") if view.runs else "" for view in leagues}
        pictures = {view.name: str(view.latest) for view in leagues if self._has_page(str(view.latest))}
        ordered = sorted(leagues, key=lambda view: (view.name in self._growing, ends[view.name]), reverse=True)
        return self._render("index.html", leagues=ordered, ends=ends, pictures=pictures, growing=self._growing)

    def bots(self, leagues: Sequence[LeagueView]) -> str:
        """Return the page of all bots, each with its players, league by league."""
        return self._render("bots.html", bots=bot_table(leagues))

    def how_to_read(self) -> str:
        """Return the page with the meaning of every column."""
        sections = [("Standings", STANDINGS), ("The tables of a player", section_columns("opponent"))]
        definitions = [(title, [(column.name, column.meaning) for column in columns]) for title, columns in sections]
        definitions.insert(1, ("Below the standings", [*_WORDS]))
        return self._render("how-to-read.html", sections=definitions, plus_minus=PLUS_MINUS)

    def league(self, view: LeagueView) -> str:
        """Return the page of the standings, with plots."""
        return self._render(
            "league.html",
            _IN_A_LEAGUE,
            view=view,
            standings=standings_table(view),
            shown=SHOWN_STANDINGS,
            notes=notes(view.table, view.timing, view.state.news, {"faults"}),
            skills=skill_plot(view),
            ratings=rating_plot(view),
            history=history_plot(view),
            runs=run_columns(view.runs[-MOST_RUNS_SHOWN:]) if view.runs else None,
            news=[*map(run_sentence, view.runs[-MOST_RUNS_SHOWN:]), *passing_sentences(view.runs, view.table.rows)],
            luck=luck_table(view),
        )

    def matrix(self, view: LeagueView) -> str:
        """Return the page of the scores of the best players against each other."""
        return self._render("matrix.html", _IN_A_LEAGUE, view=view, matrix=heat_map(view))

    def player(self, view: LeagueView, page: ProfilePage, leagues: Sequence[LeagueView]) -> str:
        """Return the page of a player of the league, with the versions of its bot in `leagues`."""
        players = bot_table(leagues, page.row.bot, "../")
        hand_ins = [hand_in for hand_in in view.hand_ins if hand_in[0] == page.row.bot]
        profile, drift = page.profile, page.profile.drift
        kinds = (("Biggest wins", profile.wins), ("Biggest losses", profile.losses))
        tail = [drift_sentence(drift), *time_sentences(page), *fault_sentences(page)] if page.row.matches else []
        return self._render(
            "player.html",
            _IN_A_LEAGUE,
            view=view,
            name=page.row.name,
            head=[*head_sentences(page)],
            versions=hand_in_columns(hand_ins) if hand_ins else None,
            runs=standing_columns(page.row.name, view.runs) if view.runs else None,
            players=players if len(players[0].cells) > 1 else None,
            tables=section_tables(page),
            shown=SHOWN,
            form=form_plot(view, page),
            times=time_columns(page) if page.timing.moves else None,
            tail=tail,
            matches=[(kind, [extreme_line(match, self._has_page) for match in most]) for kind, most in kinds if most],
        )

    def highlights(self, view: LeagueView, highlights: Highlights) -> str:
        """Return the page of the matches worth a look."""
        return self._list_page(view, "matches.html", "Matches worth a look", [], cards=self._cards(view, highlights))

    def pair(self, view: LeagueView, pair: tuple[str, str], highlights: Highlights) -> str:
        """Return the page of two players: their result, some matches worth a look, and links to lists of all of theirs.

        Matches that have a page come first.
        """
        links = [(all_file(number), number) for number in view.pages_of(pair)]
        result = [pair_sentence(cell) for cell in view.matrix.meetings if (cell.player, cell.opponent) == pair]
        title = f"{pair[0]} against {pair[1]}"
        cards = sorted(self._cards(view, highlights), key=lambda card: not card.has_page)[:_MOST_OF_PAIR]
        return self._list_page(view, pair_file(pair), title, [], notes=result, links=links, cards=cards)

    def faults(self, view: LeagueView, highlights: Highlights, reasons: Callable[[MatchResult], Sequence[str]]) -> str:
        """Return the page of the matches with a fault, forfeits first, with their reasons."""
        lines = [match_line(result, self._has_page, reasons(result)) for result in highlights.matches("faulty")]
        unlisted = highlights.faults - len(lines)
        sentences = [f"{counted(unlisted, 'more match', 'more matches')} with faults: `arena league matches --faults`."]
        return self._list_page(view, "faults.html", "Faults", [("", lines)], notes=sentences if unlisted else [])

    def all_matches(self, view: LeagueView, page: int, results: Iterable[MatchResult]) -> str:
        """Return a page of the list of all matches, pairing by pairing; the first page is 1."""
        title = f"All matches, page {page} of {view.pages}"
        return self._list_page(view, all_file(page), title, [("", self._match_lines(results))], page=page)

    def wall(self, view: LeagueView, highlights: Highlights) -> str:
        """Return the page that plays the latest matches in a row."""
        playlist = [str(result.key) for result in highlights.matches("latest") if self._has_page(str(result.key))]
        return self._render(
            "wall.html",
            _IN_A_LEAGUE,
            _PLAYER if playlist else (),
            view=view,
            playlist=playlist,
            standings=[column for column in standings_table(view) if column.header.split()[0] in ON_PHONE][:_ON_WALL],
            news=passing_sentences(view.runs, view.table.rows)[:_MOST_NEWS],
        )

    def match(self, view: LeagueView, match: str, data: Mapping[str, Any]) -> str:
        """Return the page of a match, which loads and plays `data/match-ID.js`, a file that the caller provides.

        `data`, of which that file is made, gives the title, the notes, and the steps as text for want of a script.
        """
        module = [f"assets/{data['module']}.js"] if data["module"] else []
        return self._render(
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
        """Return the page of a match that cannot be replayed."""
        return self._render("match.html", "../", view=view, id=match, title=f"Match {match}", notes=[reason], steps=[])

    def _list_page(
        self,
        view: LeagueView,
        here: str,
        title: str,
        sections: Sequence[tuple[str, Sequence[MatchLine]]],
        *,
        notes: Sequence[str] = (),
        page: int = 0,
        cards: Sequence[Card] = (),
        links: Sequence[tuple[str, int]] = (),
    ) -> str:
        """Return a page of lists of matches, with links to the pages of the list of all matches.

        `sections` are titles with their matches. `page` is the number of this page in that list, 0 outside it.
        `links` are (file, page number), by default of the pages near this one.
        """
        pages = range(1, view.pages + 1)
        near = [number for number in pages if number in {1, view.pages} or abs(number - (page or 1)) <= _NEAR]
        links = links or [(all_file(number), number) for number in near]
        values: dict[str, Any] = {"title": title, "sections": sections, "notes": notes, "page": page, "links": links}
        present = {kind for card in cards for kind in card.kinds}
        values |= {"cards": cards, "kinds": [entry for entry in CARD_KINDS.items() if entry[0] in present]}
        return self._render("matches.html", _IN_A_LEAGUE, view=view, here=here, **values)

    def _cards(self, view: LeagueView, highlights: Highlights) -> list[Card]:
        return cards_of(view, highlights, self._has_page, self._marks)

    def _match_lines(self, results: Iterable[MatchResult]) -> list[MatchLine]:
        return [match_line(result, self._has_page) for result in results]


def _step_words(step: Mapping[str, Any], players: Sequence[Mapping[str, Any]]) -> str:
    """Return a step of a match as a line of text."""
    seat, note, fault = step.get("seat"), step.get("note"), step.get("fault")
    name = "" if seat is None else f"{players[seat]['name']}: "
    parts = [f"{name}{step['text']}", f"note: {note}" if note else "", f"fault: {fault}" if fault else ""]
    return "; ".join(filter(None, parts))


def all_file(page: int) -> str:
    """Return the file of a page of the list of all matches, within the folder of the league."""
    return f"all-{page}.html"
