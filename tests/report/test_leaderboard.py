"""The leaderboard: each format says what the standings say, and no name can break one."""

import csv
import io
import json
import re
from typing import Any

import msgspec
import pytest
from support.golden import Golden
from support.leaderboard_made import below, cells, league
from support.made_matches import made_standings

from arena.errors import SpecError
from arena.report.columns import LEADERBOARD
from arena.report.formats import FORMATS, LONGEST_NAME, Style, chance_percent
from arena.report.leaderboard import leaderboard_page
from arena.standings.match_table import match_table
from arena.standings.rows import Entrant
from arena.standings.scores import Mean
from arena.standings.sums import sums_of
from arena.standings.table import Standings, standings_json, timing
from arena.statistics.interval import interval

WIDE = Style(is_wide=True)


def test_the_table_has_seven_columns(golden: Golden) -> None:
    """Rank, player, score with its error, results, TrueSkill, rating, and whether that is sure; then its sources."""
    standings, times = league(["random", "greedy"])
    mu, sigma = standings.rows[0].mu, standings.rows[0].sigma

    found = leaderboard_page(standings, times).render("table")

    lines = found.splitlines()
    assert cells(lines[0]) == ["rank", "player", "score %", "W-D-L", "TrueSkill", "rating", "ahead"]
    assert cells(lines[1]) == ["±95 %", "mu", "sigma", "±95 %", "95 %"]
    assert cells(lines[3])[:4] == ["1", "random", "87.5 -87.5/+12.5", "3-1-0"]
    assert cells(lines[4])[:4] == ["2", "greedy", "12.5 -12.5/+87.5", "0-1-3"]
    assert [float(text) for text in cells(lines[3])[4:6]] == pytest.approx([mu, sigma], abs=0.005)
    assert re.fullmatch(r"\d\d\.\d\d ±\d\.\d\d", cells(lines[3])[6])
    assert [cells(line)[7] for line in lines[3:5]] == ["no", "-"]
    golden(below(found)[0])


def test_the_wide_table_begins_with_the_default_columns() -> None:
    """After them likelihood, margin, mu less three sigma, seats, faults, time, bot."""
    arguments = league(["random", "greedy"])
    lines = leaderboard_page(*arguments).render("table", WIDE).splitlines()

    assert cells(lines[0]) == [
        *cells(leaderboard_page(*arguments).render("table").splitlines()[0]),
        *("LOS", "margin", "mu-3s", "seats", "matches", "faults", "ms/move", "bot"),
    ]
    assert re.fullmatch(r"\d\d\.\d", cells(lines[3])[8])
    assert cells(lines[4])[8:10] == ["-", "-8.67 ±73.41"]
    assert cells(lines[3])[11:] == ["100.0/75.0", "4", "-", "3.75/61.50", "random 1.10 (01234567)"]
    assert cells(lines[4])[11:15] == ["25.0/ 0.0", "4", "1 timeout", "3.75/61.50"]


def test_a_table_before_the_first_match(golden: Golden) -> None:
    """The table has no numbers before there are matches."""
    field = [Entrant("a", "a", "1", "00"), Entrant("b", "b", "1", "11")]

    use = timing(field, sums_of(match_table(())))
    found = leaderboard_page(made_standings(field, [], scheduled=2), use).render("table", WIDE)

    lines = found.splitlines()
    assert cells(lines[3]) == ["-", "a", "-", "0-0-0", "25.00", "8.33", *"----", "0.00", "-", "0", *"--", "a 1 (00)"]
    golden(lines[-1])


def with_score(score: float, blocks: int, error: float = 0.0) -> Standings:
    """The league with another score of its first row."""
    found, _ = league(["a", "b"])
    ends = interval(score, error, degrees=blocks - 1, blocks=blocks, lowest=0.0, highest=1.0)
    mean = Mean(score, error, blocks - 1, blocks, ends)
    margin = Mean(4.0, 0.0, blocks - 1, blocks, interval(4.0, 0.0, degrees=blocks - 1, blocks=blocks))
    row = msgspec.structs.replace(found.rows[0], score=mean, margin=margin)
    return msgspec.structs.replace(found, rows=(row, found.rows[1]))


@pytest.mark.parametrize(
    ("score", "error", "blocks", "cell"),
    [
        (1.0, 0.0, 100, "100.0 -3.0"),
        (1.0, 0.0, 1, "100.0 -95.0"),
        (0.5, 0.0, 100, "50.0 ±1.5"),
        (0.75, 0.0, 10, "75.0 -19.4/+6.5"),
        (0.5, 0.02, 100, "50.0 ±4.2"),
    ],
)
def test_intervals_are_as_long_as_they_can_be(score: float, error: float, blocks: int, cell: str) -> None:
    """Plus-minus where both ways are equal, else each way; CSV and JSON have the same ends in full."""
    found = with_score(score, blocks, error)

    text = leaderboard_page(found, None).render("table")
    (row, _) = json.loads(leaderboard_page(found, None).render("json"))["standings"]["rows"]
    (line, _) = csv.DictReader(io.StringIO(leaderboard_page(found, None).render("csv")))

    assert cells(re.sub(r"(\d) +([-+±]\d)", r"\1 \2", text.splitlines()[3]))[2] == cell
    shown = {sign: float(width) for sign, width in re.findall(r"([-+±])([\d.]+)", cell)}
    for each in (row, line):
        value, low, high = (100 * float(each[name]) for name in ("score", "score_low", "score_high"))
        assert value - low == pytest.approx(shown.get("-", shown.get("±", 0.0)), abs=0.0501)
        assert high - value == pytest.approx(shown.get("+", shown.get("±", 0.0)), abs=0.0501)


def test_a_margin_that_does_not_vary_has_no_known_interval() -> None:
    """The margin has no bounds: the table shows a question mark, JSON null, CSV nothing."""
    found = with_score(1.0, 10)

    assert re.search(r"\+4\.00 +±\? ", leaderboard_page(found, None).render("table", WIDE))
    row = json.loads(leaderboard_page(found, None).render("json"))["standings"]["rows"][0]
    assert (row["margin"], row["margin_low"], row["margin_high"]) == (4.0, None, None)
    (line, _) = csv.DictReader(io.StringIO(leaderboard_page(found, None).render("csv")))
    assert (line["margin"], line["margin_low"], line["margin_high"]) == ("4.0", "", "")


@pytest.mark.parametrize(
    ("los", "cell"),
    [(0.5, "50.0"), (0.9989, "99.9"), (0.9991, ">99.9"), (1.0, ">99.9"), (0.0009, "<0.1"), (None, "-")],
)
def test_no_likelihood_is_certain(los: float | None, cell: str) -> None:
    """100.0 would be."""
    assert chance_percent(los) == cell


def test_headers_are_the_names_of_the_exports() -> None:
    """A column is found in CSV and JSON by its name in small letters, with underscores."""
    arguments = league(["a", "b"])
    document = json.loads(leaderboard_page(*arguments).render("json"))["standings"]["rows"][0]
    (line, _) = csv.DictReader(io.StringIO(leaderboard_page(*arguments).render("csv")))

    for each in LEADERBOARD:
        assert each.header.split("\n")[0].removesuffix(" %") == each.name
        name = each.name.lower().replace("-", "_")
        assert each.fields or (name in line and name in document)
        assert all(any(column.startswith(field) for column in line) for field in each.fields)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 120])
def test_a_table_that_is_too_wide_is_shown_in_parts(width: int) -> None:
    """Each part has rank and player; no column is left out, and other formats have no width."""
    page = leaderboard_page(*league(["random", "greedy"]))
    whole = cells(page.render("table", WIDE).splitlines()[0])

    tables = page.render("table", Style(width=width, is_wide=True)).split("\n\n")[:-2]

    heads = [cells(table.splitlines()[0]) for table in tables]
    assert len(tables) > 1
    assert all(head[:2] == ["rank", "player"] for head in heads)
    assert [name for head in heads for name in head[2:]] == whole[2:]
    wide = [table for head, table in zip(heads, tables, strict=True) if len(head) > 3]
    assert all(len(line) <= width for table in wide for line in table.splitlines())
    for form in ("csv", "json", "markdown"):
        assert page.render(form, Style(width=width)) == page.render(form)


@pytest.mark.parametrize(("wins", "draws", "score", "error"), [(321, 12, 0.97, 0.02), (1234, 123, 0.5, 0.01)])
@pytest.mark.parametrize("width", [80, 90])
def test_the_default_table_fits_eighty_columns(wins: int, draws: int, score: float, error: float, width: int) -> None:
    """Hundreds of matches with an interval at an edge, or thousands: in one part; names are cut where they must be."""
    found, times = league(["x" * 16, "y" * 16])
    cell = with_score(score, 100, error).rows[0].score
    busy: dict[str, Any] = {"wins": wins, "draws": draws, "losses": wins, "score": cell}
    rows = tuple(msgspec.structs.replace(row, **busy) for row in found.rows)

    page = leaderboard_page(msgspec.structs.replace(found, rows=rows), times)

    table = page.render("table", Style(width=width)).split("\n\n")[0].splitlines()
    assert cells(table[0]) == cells(page.render("table").splitlines()[0])
    assert max(map(len, table)) <= width
    assert ("x" * 16 in table[3]) == (width == 90)
    assert ("…" in table[3]) == (width == 80)


def test_columns_are_shown_as_they_are_asked_for() -> None:
    """Columns are chosen by name, in that order, without case and signs; a name of two CSV columns gives both."""
    page = leaderboard_page(*league(["a", "b"]))
    style = Style(columns=("faults", "wdl", "Player", "mu_3s", "seats"))

    assert cells(page.render("table", style).splitlines()[0]) == ["faults", "W-D-L", "player", "mu-3s", "seats"]
    for joined in (("mu",), ("sigma", "mu"), ("trueskill", "sigma")):
        (head, *_) = page.render("table", Style(columns=joined)).splitlines()
        assert cells(head) == ["TrueSkill"], "a column of two fields is found by each, and shown once"
    assert page.render("csv", Style(columns=("TrueSkill",))).startswith("mu,sigma\n")
    (row, _) = csv.DictReader(io.StringIO(page.render("csv", style)))
    assert [*row][5:] == ["wins", "draws", "losses", "player", "mu_3s", "score_seat_0", "score_seat_1"]
    assert all(name.startswith("faults_") for name in [*row][:5])
    (first, _) = json.loads(page.render("json", style))
    assert {name: "" if value is None else str(value) for name, value in first.items()} == row


def test_a_column_of_csv_is_chosen_by_its_own_name(golden: Golden) -> None:
    """Exactly that one, though a column of the table of that name has an interval, too."""
    page = leaderboard_page(*league(["a", "b"]))

    golden(page.render("csv", Style(columns=("player", "score"))))
    assert page.render("csv", Style(columns=("rating_low", "hash"))).startswith("rating_low,hash\n")


@pytest.mark.parametrize("form", FORMATS)
def test_an_unknown_column_is_refused(form: str, golden: Golden) -> None:
    """The error lists the known columns and the nearest one; a column of times without timing is unknown, too."""
    found, times = league(["a", "b"])

    with golden.raises(SpecError):
        leaderboard_page(found, times).render(form, Style(columns=("rank", "playr")))
    with golden.raises(SpecError):
        leaderboard_page(found, None).render(form, Style(columns=("ms/move",)))


def test_long_names_lose_their_middle_but_stay_different() -> None:
    """The table is stretched as far as it takes to tell two players apart, up to a limit."""
    plain = ["monte-carlo-tree-search--depth=12", "another-monte-carlo-tree-search--depth=12"]
    alike = ["monte-carlo-tree-search-v1--depth=12", "monte-carlo-tree-search-v2--depth=12"]

    short = leaderboard_page(*league(plain)).render("table").splitlines()
    stretched = leaderboard_page(*league(alike)).render("table").splitlines()

    assert cells(short[3])[1] == "monte-carlo-tre…depth=12"
    assert len({cells(line)[1] for line in stretched[3:5]}) == 2
    assert len(cells(leaderboard_page(*league(["a" * 5000, "b"])).render("table").splitlines()[3])[1]) == LONGEST_NAME


def test_many_kinds_of_faults_are_added_up(golden: Golden) -> None:
    """The most frequent two by name in a terminal, all in Markdown."""
    found, _ = league(["a", "b"])
    faults = {"illegal_action": 1, "malformed_reply": 2, "timeout": 30, "crash": 4}
    rows = (msgspec.structs.replace(found.rows[0], faults=faults), found.rows[1])
    faulty = msgspec.structs.replace(found, rows=rows)

    golden(leaderboard_page(faulty, None).render("table", WIDE))
    golden(leaderboard_page(faulty, None).render("markdown", WIDE))


def test_markdown_is_a_table_for_github() -> None:
    """The table has the bot, its version and the start of its hash; inner underscores need no escape."""
    style = Style(columns=("rank", "player", "bot", "score"))
    found = leaderboard_page(*league(["greedy_v2", "_random_"])).render("markdown", style).splitlines()

    assert re.fullmatch(r"\|(:?-+:?\|)+", found[1])
    assert [cell.strip() for cell in found[2].split("|")][1:5] == [
        *("1", "greedy_v2", "greedy_v2 1.10 (01234567)", "87.5 -87.5/+12.5")
    ]
    assert [cell.strip() for cell in found[3].split("|")][2] == r"\_random\_"


def test_json_holds_the_canonical_standings() -> None:
    """Byte by byte, with the timing beside it."""
    found, times = league(["a", "b"])

    text = leaderboard_page(found, times).render("json")

    assert standings_json(found).decode() in text
    assert json.loads(text)["timing"] == [msgspec.to_builtins(one) for one in times]
    assert "timing" not in json.loads(leaderboard_page(found, None).render("json"))


def test_an_unknown_format_is_refused(golden: Golden) -> None:
    """The error lists the known formats."""
    with pytest.raises(SpecError) as refused:
        leaderboard_page(*league(["a", "b"])).render("cvs")

    golden(refused.value)
