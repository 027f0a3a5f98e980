"""The site as files, at each step of a league: links lead somewhere, names stay text, numbers are the reports'."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace
from support.cli_arena import Terminal
from support.made_matches import bot
from support.site_made import NAMES, Read, made_site, pages_of
from support.store_made import block_of, blocks_of, fill, reading, tournament, writing
from support.tampering import delete_match, opened

from arena.errors import SpecError
from arena.games.looks import LOOKS
from arena.league.history import EndedRun
from arena.league.schedule import jobs, pairings
from arena.league.schedules.settings import Swiss
from arena.league.tournament import Player, Tournament
from arena.library.match import load_match
from arena.match.record import SimulationStep, unpack
from arena.match.results import MatchResult
from arena.operations.leagues import load_league
from arena.report.columns import LEADERBOARD
from arena.report.formats import Style
from arena.report.leaderboard import table_rows
from arena.site.build import _MotionBudget, site_pages, write_site
from arena.site.leagues import key_of, league_view
from arena.site.pages import Pages
from arena.site.plots import interval_plot, line_plot
from arena.site.serve import LiveSite
from arena.standings.rows import row_fields
from arena.statistics.interval import Interval
from arena.text import printable


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a league whose players are called as attackers would."""
    return made_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def pages(site: Path) -> list[Read]:
    return pages_of(site)


def of_players(pages: list[Read]) -> Iterator[Read]:
    return (page for page in pages if page.page.name.startswith("player-"))


def test_every_link_leads_to_a_file_of_the_site(site: Path, pages: list[Read]) -> None:
    """Every link is a relative path to a file, so that the site works from a file and below any address."""
    for page in pages:
        for target in page.targets:
            assert not re.match(r"[a-z]+:|/", target), (page.page, target)
            assert (page.page.parent / target).resolve().is_relative_to(site.resolve())
            assert (page.page.parent / target).is_file(), (page.page, target)


def test_every_page_can_be_reached(site: Path, pages: list[Read]) -> None:
    """From the first page, by links."""
    by_place = {page.page.resolve(): page for page in pages}
    seen, left = set[Path](), [(site / "index.html").resolve()]
    while left:
        if (place := left.pop()) not in seen and place in by_place:
            seen.add(place)
            left += [(place.parent / target).resolve() for target in by_place[place].targets]

    assert seen == set(by_place)


def test_nothing_stands_in_a_page_that_its_policy_refuses(pages: list[Read]) -> None:
    """No inline script or style, no handler; and each page has the policy, a language, a title and one heading."""
    for page in pages:
        (policy,) = [each["content"] for each in page.all("meta") if each.get("http-equiv")]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert page.all("html") == [{"lang": "en"}]
        assert len(page.all("h1")) == len(page.all("title")) == 1
        assert not page.all("style")
        assert all(each.get("src") for each in page.all("script"))
        for tag, attributes in page.elements:
            assert not any(name == "style" or name.startswith("on") for name in attributes), (page.page, tag)
        ids = [own["id"] for _, own in page.elements if "id" in own]
        assert len(ids) == len(set(ids)), page.page


def test_hostile_names_are_text_and_stand_in_no_name_of_a_file(site: Path, pages: list[Read]) -> None:
    """Every page parses with every element closed, and shows the names as they are."""
    images = [own for page in pages for own in page.all("img")]
    assert images
    assert all(re.fullmatch(r"[./]*match/[0-9a-f]{12}-\d+-\d\.svg", own["src"]) and len(own) == 3 for own in images)
    assert not any(page.all("b") for page in pages)
    titles = {page.text.split("\n")[0]: page for page in of_players(pages)}
    shown = "\n".join(page.text for page in of_players(pages))
    assert len(titles) <= len(NAMES) == len([*of_players(pages)])
    for name in NAMES:
        assert printable(name) in shown
    for path in site.rglob("*"):
        assert re.fullmatch(r"[a-zA-Z0-9.-]+", path.name), path
        assert not any(word in path.name for word in ("cheat", "evil", "alert"))


def test_the_standings_show_the_cells_of_the_leaderboard(tmp_path: Path) -> None:
    """The standings have the digits of the leaderboard, in the same order."""
    fill(tmp_path, tournament("ann", "bob", "cid"))
    with reading(tmp_path) as store:
        view = league_view(store, "test")
    page, rows = Pages().league(view), table_rows(view.table, view.timing)

    for column in LEADERBOARD:
        if column.name in {"rank", "player", "score", "rating", "TrueSkill", "W-D-L", "LOS", "ms/move"}:
            for cell in column.cells(rows, Style()):
                assert f">{cell.strip()}<" in page, column.name


def test_a_player_has_one_look_on_all_pages_and_in_one_file(terminal: Terminal) -> None:
    """Cards, plots, match pages, stills, `show --to` and the library agree, in a league whose names are not sorted."""
    names, results, out = ("zoe", "bob", "adam"), terminal.results, Path("out")
    league = tournament(*names, game="connect_four")
    for each in (replace(league, name="another", players=league.players[::2]), league):
        fill(results, each)
    with reading(results) as store:
        write_site(store, ["test"], out, "all")
    match = next(page.stem for page in out.glob("match/*.html") if "bob" in page.read_text())
    terminal.arena(f"show {match} --to one.html"), terminal.arena(f"show {match} --to one.svg")
    one, (folder,) = load_match(match, results=results), out.glob("league/*")

    for text in ((out / f"data/match-{match}.js").read_text(), Path("one.html").read_text(), str(one.player())):
        colours = re.findall(r'"name":"(\w+)","bot":"\w+","colours":\["(#\w+)"', text)
        assert len(colours) >= 2
        assert all(colour == LOOKS[names.index(name)].light for name, colour in colours)
    assert Path("one.svg").read_text() == (out / f"match/{match}.svg").read_text() == str(one.picture())
    cards = re.findall(r'side look-(\d)">(\w+)', (folder / "matches.html").read_text())
    assert {*cards} == {(str(look), name) for look, name in enumerate(names)}
    assert {*re.findall(r"look-(\d)", (folder / "index.html").read_text())} == {"0", "1", "2"}


def test_how_to_read_it_explains_what_the_page_of_a_league_shows(tmp_path: Path) -> None:
    """Each heading with a meaning, each word of the sentences below, and nothing that is not there."""
    fill(tmp_path, tournament("ann", "bob", "cid"))
    with reading(tmp_path) as store:
        league = Pages().league(league_view(store, "test"))
    explained = re.findall(r"<dt>([^<]*)</dt>", Pages().how_to_read())

    headings = [heading.split()[0] for heading in re.findall(r'<th [^>]*title="[^>]*>([^<]*)</th>', league)]
    assert headings
    assert {*headings} <= {*explained}
    assert {"luck", "seat advantage", "commitment", "isolation"} <= {*explained}
    assert not {"mu-3s", "bot"} & {*explained}


def test_ratings_over_time_end_with_those_of_the_standings(tmp_path: Path) -> None:
    """To the last bit, however many parts there are; the first ones are those of newcomers."""
    fill(tmp_path, tournament("ann", "bob", "cheat", cycles=5))
    with reading(tmp_path) as store:
        view = league_view(store, "test")

    assert view.ratings[0][0] == 0
    assert {rating.mu for rating in view.ratings[0][1].values()} == {25.0}
    assert view.ratings[-1][0] == view.table.matches
    assert {name: rating.mu for name, rating in view.ratings[-1][1].items()} == {
        row.name: row.mu for row in view.table.rows
    }


def test_names_in_plots_are_no_formulas() -> None:
    """In legends and on axes; one that begins with an underscore is there as well."""
    names = ["$x^2$", "_hidden", "$\\frac{1}{0}$"]

    lines = line_plot([0, 1], [(name, 0) for name in names], [[1.0, 2.0]] * 3, "told", ("x", "y"))
    points = interval_plot([(name, 0) for name in names], [Interval(0.0, 0.0, 1.0)] * 3, "told")

    for svg in (lines, points):
        texts = [
            ("".join(each.itertext())).strip("\u200b \n")
            for each in ET.fromstring(f"<p>{svg}</p>").iter()
            if each.tag.endswith("text")
        ]
        assert {*names} <= {*texts}


def test_a_fault_is_told_with_its_reason_and_without_what_only_its_author_may_read(site: Path) -> None:
    """The refused action is named; the lines both ways and the end of stderr are not there."""
    page = Read(next((site / "league").glob("*/faults.html")))

    assert "illegal_action by cheat" in page.text
    assert "cheat: illegal_action: " in page.text
    assert "got " not in page.text
    assert "stderr" not in page.text


def test_matches_of_a_block_that_is_not_whole_are_not_shown(tmp_path: Path) -> None:
    """Its luck is that of a match that is still to come."""
    fill(tmp_path, tournament("ann", "bob", cycles=3))
    delete_match(tmp_path, lambda match: match.key[1:] == (1, 1))
    with reading(tmp_path) as store:
        write_site(store, (), tmp_path / "out", "all")

    shown = {path.stem.split("-", 1)[1] for path in (tmp_path / "out" / "match").iterdir()}
    assert shown == {"0-0", "0-1", "2-0", "2-1"}
    text = "".join(page.text for page in pages_of(tmp_path / "out") if page.page.name.startswith("all-"))
    assert "-0-0" in text
    assert "-1-0" not in text


def test_a_site_is_written_over_a_former_one_and_never_over_other_files(tmp_path: Path) -> None:
    """Pages of the former one that are not made any more go."""
    out = made_site(tmp_path, "ann", "bob", which="all")
    assert any((out / "match").iterdir())
    with reading(tmp_path / "results") as store:
        write_site(store, (), out, "none")
        assert not any((out / "match").iterdir())

        other = tmp_path / "other"
        other.mkdir()
        (other / "thesis.txt").write_text("mine")
        with pytest.raises(SpecError, match="found other files"):
            write_site(store, (), other)
        with pytest.raises(SpecError, match="no league"):
            write_site(store, ("none such",), tmp_path / "third")
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]
    assert (out / "made-by-arena.txt").exists()


def test_long_lists_come_page_by_page_and_the_page_of_standings_stays_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of all matches is split into pages, and contains each match once."""
    monkeypatch.setattr("arena.site.leagues.MATCHES_ON_A_PAGE", 10)
    out = made_site(tmp_path, *(f"player {number}" for number in range(6)), which="none", cycles=1)
    (folder,) = (out / "league").iterdir()
    listed = [row for page in sorted(folder.glob("all-*")) for row in re.findall(r"[0-9a-f]{12}-0-\d", Read(page).text)]

    assert len([*folder.glob("all-*")]) == 3
    assert len(listed) == len(set(listed)) == 30
    assert (folder / "index.html").stat().st_size < 200_000


def test_a_page_of_the_list_reads_its_own_rows_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Page by page they are all matches of whole blocks, also where a page ends within a block, or one is torn."""
    monkeypatch.setattr("arena.site.leagues.MATCHES_ON_A_PAGE", 7)
    read = list[MatchResult]()

    def counting(one: MatchResult) -> MatchResult:
        read.append(one)
        return one

    fill(tmp_path, tournament("ann", "bob", "cid", cycles=9))
    second = pairings(tournament("ann", "bob", "cid", cycles=9))[1].key
    delete_match(tmp_path, lambda match: match.key == (second, 4, 1))
    with reading(tmp_path) as store:
        view = league_view(store, store.leagues()[0])
        everything = [*view.results(store)]
        results = store.results
        monkeypatch.setattr(store, "results", lambda *of: map(counting, results(*of)))
        listed = [[*view.page(store, number)] for number in range(1, view.pages + 1)]

    assert [len(part) for part in listed] == [7] * 7 + [3]
    assert [one for part in listed for one in part] == everything
    assert [str(key) for key in view.keys] == [str(one.key) for one in everything]
    assert len(read) <= len(everything) + 4 * len(listed)


def test_matches_worth_a_look_have_reasons_the_best_of_each_kind_first(tmp_path: Path) -> None:
    """One match of a block; a swing leads to its step; the filter names the kinds that are there."""
    fill(tmp_path, tournament("ann", "bob", "cheat", cycles=20))
    with reading(tmp_path) as store:
        view = league_view(store, "test")
        highlights = view.highlights(view.results(store))[None]
    swung = str(highlights.matches("latest")[3].key)
    marks = {swung: [{"kind": "largest swing", "step": 7, "text": "", "size": 0.314}]}
    page = Pages(lambda _: True, marks=marks).highlights(view, highlights)
    cards = re.findall(r'<li class="([\w ]+)">(.*?)</li>', page, re.DOTALL)
    kinds = [kind for kinds, _ in cards for kind in kinds.split()]

    assert re.findall(r'value="(\w+)"', page) == ["all", "swing", "closest", "fault", "latest"]
    assert (kinds[0], {*kinds[:4]}) == ("swing", {"swing", "closest", "fault", "latest"})
    assert f'<a href="../../match/{swung}.html#step=7">largest swing 31 %</a>' in cards[0][1]
    assert all("illegal_action by cheat" in text for kinds, text in cards if "fault" in kinds)
    blocks = re.findall(r"<code>(\w+-\d+)-\d</code>", page)
    assert len(blocks) == len(cards)
    assert [kinds.count(kind) for kind in ("closest", "fault", "latest")] == [12, 12, 12]
    assert all(len({match.key[:2] for match in highlights.matches(kind)}) == 12 for kind in ("closest", "latest"))


def test_the_wall_names_who_passed_whom_since_the_last_run_with_another_result(tmp_path: Path) -> None:
    """Most passed ones first, at most six; a run with the same standings is not the one to compare with."""
    players = tuple(Player(name, bot(f"bot{number}")) for number, name in enumerate(("ann", "bob", "<b>")))
    fill(tmp_path, tournament(players=players, cycles=20))
    with reading(tmp_path) as store:
        view = league_view(store, "test")
        highlights = view.highlights(view.results(store))[None]
    first, second, last = view.players
    before = tuple({"player": name, "rating": 1.0} for name in (last, second, first, "gone"))
    now = tuple(row_fields(row) for row in view.table.rows)
    runs = (EndedRun(1, "2026-11-27", 9, (), before, 9), EndedRun(2, "2026-11-28", 9, (), now, 9))
    pages = [Pages().wall(replace(view, runs=shown), highlights) for shown in (runs, runs[1:], ())]

    news = [re.findall(r"<li>(version .*?)</li>", page) for page in pages]
    texts = [name.replace("<b>", "&lt;b&gt;") for name in view.players]
    assert news == [
        [
            f"version 1 of {texts[0]} passed {texts[1]} and {texts[2]} since run 1",
            f"version 1 of {texts[1]} passed {texts[2]} since run 1",
        ],
        [],
        [],
    ]


def test_a_cell_of_the_matrix_leads_to_the_matches_of_the_pair(tmp_path: Path) -> None:
    """Theirs and nobody else's, with the pages of the list that have all of them, seen from either player."""
    out = made_site(tmp_path, "ann", "bob", "cid", which="all")
    folder = out / "league" / key_of("../evil & <b>")
    matrix, files = Read(folder / "matrix.html"), {path.name for path in folder.glob("pair-*.html")}

    linked = [own["href"] for own in matrix.all("a") if own["href"].startswith("pair-")]
    assert sorted(linked) == sorted([*files, *files])
    page = Read(folder / f"pair-{key_of('ann')}-{key_of('cid')}.html")
    assert re.search(r"ann against cid: \d+-\d+-\d+ in 4 matches", page.text)
    assert len(set(re.findall(r"[0-9a-f]{12}-\d-\d", page.text))) == 2
    assert "bob" not in page.text
    assert {"all-1.html", "matrix.html"} <= {*page.targets}


def test_a_player_page_tells_of_the_other_versions_of_its_bot(tmp_path: Path) -> None:
    """In all leagues of the site, with their results; nothing where there is only one."""
    first, second = bot("walker", "a" * 64, "1"), bot("walker", "b" * 64, "2")
    players = (Player("old", first), Player("new", second), Player("other", bot("sitter")))
    fill(tmp_path, tournament(players=players, name="both"))
    with reading(tmp_path) as store:
        write_site(store, (), tmp_path / "out", "none")

    folder = tmp_path / "out" / "league" / key_of("both")
    old, other = (Read(folder / f"player-{key_of(name)}.html") for name in ("old", "other"))
    assert "Players of the bot" in old.text
    assert f"../{key_of('both')}/player-{key_of('new')}.html" in old.targets
    assert "Players of the bot" not in other.text


def test_a_build_makes_few_simulations_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build makes the simulations of the first matches worth a look only, however many matches there are."""
    monkeypatch.setattr("arena.site.build.MOST_SIMULATIONS", 3)
    records = [
        unpack(match.record) for block in blocks_of(tournament("ann", "bob", cycles=2)) for match in block.results
    ]
    films, simulations = _MotionBudget(), (SimulationStep("a", {}), SimulationStep("b", {}))

    asked = [films(replace(record, steps=(*record.steps, *simulations))) for record in records]

    assert asked == [True, False, False, False]


def test_the_empty_store_and_a_league_without_matches_have_pages(tmp_path: Path) -> None:
    """An empty store and a league without matches have pages that say so."""
    assert "No league is stored yet" in Pages().index([])
    made = tournament("ann", "bob")
    fill(tmp_path, made)
    with opened(tmp_path) as connection:
        for table in ("record", "block"):
            connection.execute(f"DELETE FROM {table}")
    with reading(tmp_path) as store:
        write_site(store, (), tmp_path / "out")

    assert "0 of 8 matches" in Read(tmp_path / "out" / "index.html").text


def test_without_the_packages_of_the_extra_a_sentence_says_what_to_install(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the packages of the extra a sentence names them, and nothing is written."""
    monkeypatch.setitem(sys.modules, "arena.site.build", None)

    said = terminal.arena("site build --to site")

    assert said.code == 2
    assert f"{sys.executable} -m pip install 'jinja2>=3.1' 'matplotlib>=3.9'" in said.err
    assert not Path("site").exists()


def test_the_matrix_has_the_score_and_the_marks_of_each_meeting(tmp_path: Path) -> None:
    """`>` and `<` tell who is surely better, and stand beside the score of the row's player."""
    fill(tmp_path, tournament("ann", "cheat", cycles=30))
    with reading(tmp_path) as store:
        page = Pages().matrix(league_view(store, "test"))

    assert re.search(r">ann</a></th>.*>100\.0 &gt;<", page)
    assert re.search(r">cheat</a></th>.*>0\.0 &lt;<", page)


@pytest.mark.parametrize(
    ("league", "place"),
    [
        (tournament("ann", "bob", "cid", cycles=1), 0),
        (tournament("ann", "bob", "cid", cycles=1), -1),
        (tournament("ann", "bob", "cid", "dan", schedule=Swiss(rounds=2), cycles=0), -1),
    ],
    ids=["first", "last", "swiss"],
)
def test_every_page_of_a_growing_league_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, league: Tournament, place: int
) -> None:
    """Only the first pairing has begun, or only the last one; a live server lists the same matches as files."""
    monkeypatch.setattr("arena.site.leagues.MATCHES_ON_A_PAGE", 3)
    with writing(tmp_path / "results") as store:
        store.save_league(league)
        stored = 0
        while not (state := load_league(store, league.name)).is_complete:
            left = jobs(league, state.finished, round_=state.rounds[-1])
            missing = [(job.pairing, planned.block) for job in left for planned in job.fixtures]
            store.save([block_of(league, *missing[place])])
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
