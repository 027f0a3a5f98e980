"""What is read of stored leagues: status and standings, as values."""

from pathlib import Path

import pytest
from support.golden import Golden
from support.report_made import Kept

from arena.errors import SpecError
from arena.operations.read_standings import ReadStandings, read_standings
from arena.operations.read_status import ReadStatus, read_status


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("reading"))


def test_the_only_league_need_not_be_named(kept: Kept) -> None:
    """Its standings are those of all its matches."""
    table = read_standings(ReadStandings(results=kept.results))

    assert table == read_standings(ReadStandings(results=kept.results, league=kept.league.name))
    assert (table.standings.matches, table.standings.is_complete) == (12, True)
    assert {use.name for use in table.timing} == {"ann", "bob", "cheat"}


def test_the_status_counts_the_matches_of_each_league(kept: Kept) -> None:
    """No cluster played them."""
    status = read_status(ReadStatus(results=kept.results))

    (league,) = status.leagues
    assert (league.state.stored, league.state.scheduled, status.damage) == (12, 12, ())
    assert league.machines == ()
    assert status.history.size == 12


def test_unknown_names_are_refused(kept: Kept, tmp_path: Path, golden: Golden) -> None:
    """The known ones are listed; a folder without results has none."""
    for request in (
        ReadStatus(results=kept.results, league="tset"),
        ReadStandings(results=kept.results, league="tset"),
    ):
        with pytest.raises(SpecError, match=f'no league "tset" in .*; known: {kept.league.name}'):
            read_status(request) if isinstance(request, ReadStatus) else read_standings(request)
    with golden.raises(SpecError):
        read_status(ReadStatus(results=tmp_path))
