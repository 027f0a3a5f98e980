"""The head-to-head page: order, cells, shades, widths, and what it says of cycles and of one skill per player."""

import csv
import io
import json
import re
from itertools import combinations
from statistics import NormalDist

import msgspec
import pytest
from support.golden import Golden
from support.made_matches import SETTINGS
from support.profile_made import page_of
from support.report_leagues import FOUR, league, mirrored, odd_leagues, ranks_of, result

from arena.match.results import MatchResult
from arena.report.formats import Style
from arena.report.matrix import matrix_page, matrix_sentences, shade, surprise_mark
from arena.standings.matrix import HeadToHead, Intransitive, _players_to_leave_out, compare_players
from arena.standings.ratings import RatingSettings
from arena.standings.skills import MOST_PLAYERS
from arena.statistics.matrix import Cell, Intransitivity, Matrix

ROCK_PAPER_SCISSORS = {("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")}


def found(results: list[MatchResult], *names: str) -> HeadToHead:
    return compare_players("test", names or FOUR, ranks_of(results), SETTINGS)


def circle(cycles: int = 30) -> HeadToHead:
    """Three of equal skill of whom each beats the next."""
    skills = dict.fromkeys(("rock", "paper", "scissors", "alice", "bruno", "clara"), 25.0)
    results = league(skills, cycles, 1, lambda one, other: 5.0 * ((one, other) in ROCK_PAPER_SCISSORS))
    return found(results, *skills)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_cells_are_scores_in_the_order_of_skill(golden: Golden) -> None:
    """Bob wins three of four matches against ann, so he comes first; who never played comes last, without a skill."""
    page = found([*mirrored(0, "ann", "bob", -3, -2), *mirrored(1, "ann", "bob", 4, -1)])

    lines = matrix_page(page).render("table").splitlines()
    assert [one.name for one in page.players] == ["bob", "ann", "cid", "dan"]
    assert lines[0].split() == ["#", "player", "rating", "bob", "ann", "cid", "dan"]
    golden(lines[3])
    golden(lines[4])
    golden(lines[5])
    assert (page.players[2].matches, page.players[2].rating) == (0, None)


def test_a_field_that_is_too_large_is_listed_by_name(golden: Golden) -> None:
    """The page says what is left out; everybody's matches are counted."""
    names = [*FOUR, *(f"x{number}" for number in range(MOST_PLAYERS - 3))]
    page = found(mirrored(0, "ann", "bob", -3, -2), *names)

    golden([*matrix_sentences(page)])
    assert [(one.name, one.matches, one.rank) for one in page.players[:3]] == [
        ("ann", 2, None),
        ("bob", 2, None),
        ("cid", 0, None),
    ]
    assert (page.matches, page.meetings) == (2, ())


def test_skills_are_moved_like_the_ratings() -> None:
    """An anchor has the mu of the league without an error; differences stay the same."""
    results = league(dict(zip(FOUR, (22.0, 24.0, 26.0, 28.0), strict=True)), 10, 8)
    anchored = RatingSettings(anchor="bob", mu=100.0)

    free, moved = (compare_players("test", FOUR, ranks_of(results), chosen) for chosen in (SETTINGS, anchored))

    gaps = [(one.rating or 0.0) - (other.rating or 0.0) for one, other in zip(moved.players, free.players, strict=True)]
    bob = next(one for one in moved.players if one.name == "bob")
    assert (bob.rating, bob.rating_low, bob.rating_high) == (100.0, 100.0, 100.0)
    assert gaps == pytest.approx([gaps[0]] * 4)


@pytest.mark.parametrize(
    ("z", "expected"),
    [(0.0, ""), (1.99, ""), (2.0, "+"), (2.99, "+"), (3.0, "++"), (99.0, "++"), (-2.5, "-"), (-4, "--")],
)
def test_surprises_are_marked_from_two_and_three_errors_on(z: float, expected: str) -> None:
    """Marks exist for better and for worse results."""
    assert surprise_mark(z) == expected


def test_shades_grow_with_the_surprise() -> None:
    """Three tints either way, and none below one standard error."""
    tints = {shade("x", z) for z in (1.0, 2.0, 3.0, -1.0, -2.0, -3.0)}

    assert len(tints) == 6
    assert all(plain(tint) == "x" and tint.endswith("\x1b[0m") for tint in tints)
    assert shade("x", 0.99) == shade("x", -0.99) == "x"


def test_only_a_table_asked_for_colours_has_any() -> None:
    """Without the colours the text is the same, at every width."""
    page = circle()

    for width in (None, 100, 60, 40):
        coloured = matrix_page(page, is_coloured=True).render("table", Style(width=width))
        assert "\x1b[48;5;75" in coloured
        assert [line.rstrip() for line in plain(coloured).splitlines()] == [
            line.rstrip() for line in matrix_page(page).render("table", Style(width=width)).splitlines()
        ]
    for form in ("markdown", "csv", "json"):
        assert "\x1b" not in matrix_page(page, is_coloured=True).render(form)


def test_a_circle_is_found_marked_and_told(golden: Golden) -> None:
    """Each step has its likelihood; one skill per player cannot explain the circle."""
    page = circle()

    text = matrix_page(page).render("table")
    (cycle,) = page.cycles
    assert {*zip(cycle.players, (*cycle.players[1:], cycle.players[0]), strict=True)} == ROCK_PAPER_SCISSORS
    assert min(cycle.likelihoods) > 0.95
    assert text.count("++") - text.count("+ or ++") == 3
    golden(text)


def test_skills_alone_are_seen_as_such(golden: Golden) -> None:
    """A league that was made with one skill per player has no circle, and none is claimed."""
    page = found(league(dict(zip(FOUR, (22.0, 24.0, 26.0, 28.0), strict=True)), 30, 2))

    text = matrix_page(page).render("table")
    assert page.intransitivity.degrees == 3
    golden(text)
    assert "No cycles" in text


def test_who_only_wins_or_loses_is_left_out_of_the_test(golden: Golden) -> None:
    """A single upset of such a pair would outweigh all other pairs."""
    skills = {"ann": 24.0, "bob": 25.0, "cid": 26.0, "dan": 27.0, "random": 0.0}

    page = found(league(skills, 30, 3), *skills)

    assert page.intransitivity.left_out == ("random",)
    assert page.intransitivity.degrees == 3
    golden(matrix_page(page).render("table"))


@pytest.mark.parametrize(
    ("results", "why_not"),
    [
        ([], "nobody met in a circle"),
        (mirrored(0, "ann", "bob", 1, 1), "nobody met in a circle"),
        (league(dict.fromkeys(FOUR, 25.0), 9, 4), "it takes 10 blocks of every pair, and one has 9"),
        (league(dict(zip(FOUR, (0.0, 25.0, 50.0, 75.0), strict=True)), 20, 4), "close enough"),
        ([result(block, ("ann", "bob", "cid"), (block % 3, 1, 1)) for block in range(30)], "more than two seats"),
    ],
)
def test_without_a_sound_test_it_says_why(results: list[MatchResult], why_not: str) -> None:
    """The page gives no number of a test that cannot be trusted."""
    page = found(results)

    assert why_not in page.intransitivity.why_not
    assert (page.intransitivity.p, page.intransitivity.chi_square) == (None, None)
    if results:
        assert (
            f"Not tested whether one skill per player explains the results: {page.intransitivity.why_not}"
            in matrix_page(page).render("table")
        )


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 140, 200])
def test_a_table_fits_its_terminal(width: int) -> None:
    """With less width, names above the columns go first, then matches, then decimals; then the table is cut."""
    names = [f"player-number-{number:02}" for number in range(1, 13)]
    page = found(league({name: 20.0 + place for place, name in enumerate(names)}, 5, 5), *names)

    tables, sentences = matrix_page(page).render("table", Style(width=width)).rsplit("\n\n", 1)

    parts = tables.split("\n\n")
    above = " ".join(part.splitlines()[0] for part in parts).split()
    assert max(map(len, (*tables.splitlines(), *sentences.splitlines()))) <= width
    assert all(len(part.splitlines()) in {14, 15} for part in parts)
    assert [head for head in above if head.isdigit()] == ([str(number) for number in range(1, 13)])


def test_csv_has_a_row_for_each_cell() -> None:
    """CSV has each pair from both sides, so that a spreadsheet can build the matrix."""
    page = found(mirrored(0, "ann", "bob", 1, 0))

    rows = list(csv.DictReader(io.StringIO(matrix_page(page).render("csv"))))

    assert [(row["player"], row["opponent"], row["score"], row["wins"], row["draws"]) for row in rows] == [
        ("ann", "bob", "0.75", "1", "1"),
        ("bob", "ann", "0.25", "0", "1"),
    ]
    for name in ("z", "rating_difference"):
        assert float(rows[0][name]) == -float(rows[1][name])
    assert float(rows[0]["expected"]) == pytest.approx(1.0 - float(rows[1]["expected"]))
    assert rows[0]["p"] == rows[1]["p_holm"]
    assert [row["is_better"] for row in rows] == ["0", "0"]


def test_who_is_surely_better_is_marked_from_both_sides() -> None:
    """The rating decides, with Holm's correction: for six pairs the smallest p is multiplied by six."""
    page = found(league(dict(zip(FOUR, (22.0, 22.5, 27.0, 33.0), strict=True)), 40, 2))

    text = matrix_page(page).render("table")
    by_pair = {(one.player, one.opponent): one for one in page.meetings}
    best, worst = page.players[0].name, page.players[-1].name
    assert by_pair[best, worst].is_better
    assert not by_pair[worst, best].is_better
    assert not any(by_pair[pair].is_better for pair in (("ann", "bob"), ("bob", "ann")))
    assert min(one.p_holm / one.p for one in page.meetings) >= 1.0
    assert max(one.p_holm / one.p for one in page.meetings) == pytest.approx(6.0)
    assert (page.pairs, page.decided) == (6, sum(one.is_better for one in page.meetings))
    assert f"Significant for {page.decided} of 6 pairs" in text
    assert text.count(") >") == text.count(") <") == page.decided


def test_a_difference_by_map_has_the_p_of_the_normal_distribution() -> None:
    """Two-sided, and the half width is 1.96 standard errors of it."""
    page = found(league(dict.fromkeys(FOUR, 25.0), 10, 4))

    for one in page.meetings:
        z = one.rating_difference / ((one.rating_difference_high - one.rating_difference_low) / 2 / 1.959964)
        assert one.p == pytest.approx(2.0 * NormalDist().cdf(-abs(z)), rel=1e-5)


@pytest.mark.parametrize("name", odd_leagues())
def test_the_score_of_a_cell_has_the_interval_of_the_page_of_a_player(name: str) -> None:
    """Intervals are equal to the last digit at tables of any size, and mirrored for the other side."""
    results = odd_leagues()[name]
    page = found(results)
    cells = {(one.player, one.opponent): one for one in page.meetings if one.matches}
    scored = 0
    for player in FOUR:
        for other in page_of(player, results).opponents:
            cell, mirror = cells[player, other.name], cells[other.name, player]
            assert other.score is not None
            ends = other.score.interval
            assert (cell.score, cell.score_low, cell.score_high) == (ends.value, ends.low, ends.high)
            assert (mirror.score_low, mirror.score_high) == pytest.approx((1.0 - ends.high, 1.0 - ends.low))
            scored += 1
    assert scored == len(cells)


def test_players_who_never_met_are_compared_through_others(golden: Golden) -> None:
    """A sure difference is marked in a cell without a score."""
    chain = [
        one
        for block in range(40)
        for one in (*mirrored(2 * block, "ann", "bob", 1, 1), *mirrored(2 * block + 1, "bob", "cid", 1, 1))
    ]

    page = found(chain)

    (cell,) = (one for one in page.meetings if (one.player, one.opponent) == ("ann", "cid"))
    assert (cell.matches, cell.score, cell.z, cell.is_better) == (0, None, None, True)
    golden(matrix_page(page).render("table"))
    assert not [one for one in page.meetings if "dan" in (one.player, one.opponent)]


def test_the_best_are_shown_and_the_rest_is_counted(golden: Golden) -> None:
    """Ranks and tests are those of the whole league; the page says who is left out."""
    results = ranks_of(league(dict(zip(FOUR, (22.0, 24.0, 26.0, 28.0), strict=True)), 20, 6))
    whole = compare_players("test", FOUR, results, SETTINGS)

    two = compare_players("test", FOUR, results, SETTINGS, top=2)
    chosen = compare_players("test", FOUR, results, SETTINGS, top=2, only=("ann", "bob", "dan"))

    assert two.players == whole.players[:2]
    assert [one.name for one in chosen.players] == [one.name for one in whole.players if one.name != "cid"]
    assert {one.p_holm for one in two.meetings} <= {one.p_holm for one in whole.meetings}
    assert two.intransitivity == whole.intransitivity
    golden(matrix_page(two).render("table"))
    assert "not shown" not in matrix_page(whole).render("table")
    assert [line.split()[0] for line in matrix_page(chosen).render("table").splitlines()[3:6]] == [
        str(one.rank) for one in chosen.players
    ]


@pytest.mark.parametrize(("unusual", "left_out"), [(2, set()), (3, {"a"})])
def test_more_than_a_fifth_of_unusual_pairs_leaves_somebody_out_of_the_test(unusual: int, left_out: set[str]) -> None:
    """Ten pairs expect 10 points on either side, but the first `unusual` ones, all of player a, expect three."""
    cells = tuple(
        Cell(one, other, 20, 10, 10, 0, 10, 0.5, 0.15 if number < unusual else 0.5, 0.1, 0.0, 0.5)
        for number, (one, other) in enumerate(combinations("abcde", 2))
    )

    assert _players_to_leave_out(Matrix(tuple("abcde"), cells, Intransitivity(0.0, 0, None), (), 0, 0.0)) == left_out


def test_many_names_are_counted_not_listed(golden: Golden) -> None:
    """Eighty players who are left out of the test, and groups of as many: five of each are named, JSON has all."""
    names = tuple(f"b{number:02}" for number in range(80))
    page = found(mirrored(0, "ann", "bob", 1, 0))
    crowded = msgspec.structs.replace(page, groups=(names, FOUR), intransitivity=Intransitive(names, 9.0, 3, 0.5, ""))

    text = " ".join(matrix_page(crowded).render("table").split())

    golden(text)
    assert f"can be compared: b00, b01, b02, b03, b04 and 75 more; {', '.join(FOUR)}." in text
    assert json.loads(matrix_page(crowded).render("json"))["intransitivity"]["left_out"] == [*names]
