"""Friendlies: one table of any size a game is for, whose players have names of their own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.golden import Golden
from support.made_matches import bot
from support.toy_game import NAME

from arena.errors import SpecError
from arena.league.exhibition import exhibition, name_players
from arena.league.schedule import match_count, pairings
from arena.league.tournament import Tournament
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings
from arena.text import describe_range

pytestmark = pytest.mark.usefixtures("toy_game")
CLOCK = ClockSettings()


def meeting(*names: str, game: str = NAME, **options: int) -> Tournament:
    players = name_players([bot(name) for name in names])
    return exhibition(players, game=game, options=dict(options), clock=CLOCK, secret=Secret.public("1"), blocks=3)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_all_sit_at_one_table(seats: int) -> None:
    """A block has a match for each rotation."""
    found = meeting(*("ann", "bob", "cid", "dot")[:seats])

    (pairing,) = pairings(found)
    assert len(pairing.players) == found.seats == seats
    assert match_count(found) == 3 * seats


@given(st.lists(st.sampled_from(["a", "a-1", "a-2", "b", "a-1-1"]), min_size=2, max_size=4))
def test_everybody_has_a_name_of_his_own(names: list[str]) -> None:
    """A bot that meets no other of its name keeps it; a number that is taken is not given again."""
    players = name_players([bot(name) for name in names])

    found = [player.name for player in players]
    assert len(set(found)) == len(found)
    assert [player.bot.name for player in players] == names
    assert all(given == name for given, name in zip(found, names, strict=True) if names.count(name) == 1)


def test_equal_names_are_numbered_in_their_order() -> None:
    """Numbers begin with 1."""
    assert [player.name for player in name_players([bot("a"), bot("b"), bot("a")])] == ["a-1", "b", "a-2"]


@pytest.mark.parametrize(("names", "found"), [(("ann",), 1), (("ann", "bob", "cid", "dot", "eve"), 5)])
def test_the_game_says_how_many_can_play(names: tuple[str, ...], found: int) -> None:
    """The error for too few and too many players names the possible numbers."""
    with pytest.raises(SpecError, match=f"toy is for 2 to 4 players, found {found}"):
        meeting(*names)


@pytest.mark.parametrize(
    ("numbers", "told"), [((2,), "2"), ((2, 3), "2 to 3"), ((2, 3, 4), "2 to 4"), ((2, 4), "2 or 4")]
)
def test_numbers_in_a_row_are_told_by_their_ends(numbers: tuple[int, ...], told: str) -> None:
    """Numbers with a gap are listed one by one."""
    assert describe_range(numbers) == told


def test_options_are_looked_at_before_anything_is_played(golden: Golden) -> None:
    """The game checks them."""
    with golden.raises(SpecError):
        meeting("ann", "bob", count=3)
