"""The luck of a match on its way: measured where it is played, stored, shown, excluded from scores, and audited."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from support.cli_arena import Terminal
from support.golden import Golden
from support.store_made import reading
from support.tampering import edit_matches, edit_record


def stored_luck(terminal: Terminal) -> list[tuple[tuple[int, ...], str]]:
    """The luck of each stored match by seat, and its version."""
    with reading(terminal.results) as store:
        return [(match.luck, match.luck_version) for match in store.orphans({})]


@pytest.mark.process
def test_luck_is_stored_shown_and_audited(terminal: Terminal) -> None:
    """`show` names draws, and `verify` measures again."""
    terminal.played("greedy", "random", cycles=1, game="shanghaien")

    shown = terminal.arena(f"show {terminal.first_match()}").out
    sound = terminal.arena("verify")
    lucks = [luck for luck, _ in stored_luck(terminal)]
    edit_matches(terminal.results, lambda match: replace(match, luck=(123456, *match.luck[1:])))
    forged = terminal.arena("verify")

    assert all(len(luck) == 2 and luck[0] for luck in lucks)
    assert "luck, in shares of a win (value 2):" in shown
    assert shown.count("luckiest") == 2 * shown.count("unluckiest") == 12
    assert (sound.code, "test: the luck of 2 matches measured again" in sound.out) == (0, True)
    assert "test: luck audit: no outlier (up to 2 matches a player;" in sound.out
    assert forged.code != 0
    assert "its luck is +0.123456 and " in forged.out + forged.err


@pytest.mark.process
def test_luck_of_another_version_is_not_checked(terminal: Terminal, golden: Golden) -> None:
    """Luck of another version cannot be measured again; `verify` says so."""
    terminal.played("greedy", "random", cycles=1, game="shanghaien")
    edit_matches(terminal.results, lambda match: replace(match, luck_version="old"))

    said = terminal.arena("verify")

    golden(said.out)
    assert "its luck is" not in said.out + said.err


@pytest.mark.slow
@pytest.mark.process
def test_luck_can_be_left_out(terminal: Terminal) -> None:
    """A tournament file can leave luck out: none is stored or verified, and the matches are the same."""
    terminal.league("greedy", "random", cycles=1, game="shanghaien", luck=False)
    before = terminal.first_match()

    assert stored_luck(terminal) == [((), "")] * 2
    assert "not shown, as the luck of all its matches by one value function is not" in terminal.arena("stats p0").out
    assert "luck-adjusted score: not shown, as other blocks" in terminal.arena("stats p0 --luck").out
    assert "measured again" not in terminal.arena("verify").out
    assert "test: luck audit: not tested: " in terminal.arena("verify").out
    assert "luck audit" not in terminal.arena("leaderboard test").out
    terminal.league("greedy", "random", cycles=1, game="shanghaien", luck=True)
    assert terminal.first_match() == before


@pytest.mark.process
def test_a_match_by_rules_of_before_is_shown_and_not_called_damaged(terminal: Terminal) -> None:
    """The steps and the luck as they were stored; no picture, no position, no traceback; the page says why."""
    terminal.played("greedy", "random", cycles=1, game="shanghaien")
    old = terminal.first_match()
    edit_record(terminal.results, "(block, rotation) = (0, 0)", lambda record: record.update(rules="1"))

    shown = terminal.arena(f"show {old} --states")
    picture = terminal.arena(f"show {old} --to x.svg")
    page = terminal.arena(f"show {old} --to page.html")

    why = "played by rules 1 of shanghaien; this arena plays rules 2 and cannot replay it"
    assert shown.code == 0
    assert f"{why}; so this is told as it was recorded" in shown.out
    assert 'seat 0 p0 {"do":"roll"} (forced)' in shown.out or 'seat 0 p1 {"do":"roll"} (forced)' in shown.out
    assert "luck, in shares of a win (value 2), as it was stored:" in shown.out
    assert picture.code == 2
    assert f"no picture without a replay: {why}" in picture.err
    assert not list(Path().glob("x.svg"))
    assert page.code == 0
    assert why in Path("page.html").read_text()
