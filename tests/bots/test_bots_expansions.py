"""The bots of the house play Shanghaien with every set of expansions, and sensible plays their cards well."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from bots_driver import TEMPLATES, VARIANTS, Bot, Played, Prepare, play_bots, started

pytestmark = pytest.mark.process

ALL: Final = VARIANTS[-1]
# What a player does with cards of the expansions where he could do something else; the words of protocol.md.
OF_EXPANSIONS: Final = {
    *("crazy_captain", "veto", "no_shanghai", "reroll_all", "feed", "exchange", "doubles", "take_doubles")
}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [(name, ()) for name in ["random", "greedy", "greedy-c", "sensible", *TEMPLATES]] + [("sensible", ("--plain",))],
)
def test_a_process_plays_all_sixteen_variants(prepare: Prepare, name: str, arguments: tuple[str, ...]) -> None:
    """Two processes play the variants one after the other, each against random, with no illegal action."""
    with started(prepare(name), arguments=arguments) as bot, started(prepare("random")) as other:
        for number, options in enumerate(VARIANTS):
            bots = (bot, other) if number % 2 else (other, bot)

            played = play_bots(bots, f"seed {number}", bot_seed=number, options=options)

            assert {seat for seat, _ in played.actions} == {0, 1}
        assert bot.stderr() == ""


@pytest.mark.parametrize("name", ["random", "greedy", "greedy-c", "sensible"])
def test_a_variant_leaves_nothing_behind(prepare: Prepare, name: str) -> None:
    """A match with all expansions is the same before and after matches of other variants."""
    with started(prepare(name)) as first, started(prepare(name)) as second:
        before = play_bots((first, second), "luck", options=ALL)
        play_bots((first, second), "luck", options=VARIANTS[0])
        play_bots((first, second), "luck", options=VARIANTS[6])

        assert play_bots((first, second), "luck", options=ALL) == before


def test_greedy_uses_no_card_of_an_expansion(prepare: Prepare) -> None:
    """Where its rule is silent the first legal action is no use of a card: of two equal dice it rolls one again."""
    with started(prepare("greedy")) as greedy, started(prepare("random")) as other:
        matches = [play_bots((greedy, other), f"block {number}", options=ALL) for number in range(6)]

    used = _used(matches, 0)
    assert used >= {"roll", "place", "roll_one"}
    assert not used & OF_EXPANSIONS


@pytest.mark.slow
def test_sensible_uses_every_card_and_gains_by_it(prepare: Prepare) -> None:
    """Against itself without the cards, in mirrored blocks with all expansions: 62 % were measured."""
    with started(prepare("sensible")) as sensible, started(prepare("sensible"), arguments=["--plain"]) as plain:
        blocks = list(_blocks(sensible, plain, 30))

    used, used_by_plain = (
        _used([there for there, _ in blocks], seat) | _used([back for _, back in blocks], 1 - seat) for seat in (0, 1)
    )
    assert used >= OF_EXPANSIONS
    assert not used_by_plain & OF_EXPANSIONS
    assert sum(there.scores[0] - there.scores[1] + back.scores[1] - back.scores[0] for there, back in blocks) > 0


def _blocks(first: Bot, second: Bot, count: int) -> Iterator[tuple[Played, Played]]:
    """Blocks of two matches with the same luck, in the second of which the seats are swapped."""
    for number in range(count):
        seed = f"block {number}"
        yield play_bots((first, second), seed, options=ALL), play_bots((second, first), seed, options=ALL)


def _used(matches: list[Played], seat: int) -> set[str]:
    """The names of all actions of that seat."""
    return {_name(action) for played in matches for mover, action in played.actions if mover == seat}


def _name(action: Any) -> str:
    return str(action.__struct_config__.tag)
