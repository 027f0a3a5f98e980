"""Matches at games of OpenSpiel: each seat hears its own information, and nothing besides."""

from collections import defaultdict
from collections.abc import Iterator
from random import Random
from typing import Any

import pyspiel
import pytest
from support.scripted_bot import RandomBot, match_of, seated

from arena.conformance.play import played_table
from arena.games import load_game, openspiel
from arena.games.api import Decision
from arena.games.luck import derive
from arena.games.openspiel.game import SpielState
from arena.match.record import ActionStep, MatchRecord
from arena.match.replay import replay

pytestmark = pytest.mark.slow

LONG = {"battleship", "colored_trails", "coop_box_pushing", "cribbage", "dark_chess", "kriegspiel", "phantom_go", "rbc"}
"""Few of these matches are played."""
DEALS = [
    *("bargaining", "bridge", "crazy_eights", "dou_dizhu", "gin_rummy", "go_fish", "hanabi", "hearts", "oh_hell"),
    *("skat", "spades"),
]
"""The deals are so many that no seat knows the same in two of a few matches: here cards are exchanged."""


def hidden_games() -> list[str]:
    """All registered games in which something is hidden and that can be played without parameters."""
    return sorted(
        kind.short_name
        for kind in pyspiel.registered_games()
        if kind.default_loadable and kind.information.name != "PERFECT_INFORMATION" and not openspiel.refusal(kind)
    )


def match_with(
    name: str, luck: int, salt: int, seats: int = 0
) -> tuple[MatchRecord, list[RandomBot], list[list[bytes]]]:
    """A match of random bots, those bots, and the lines that each got."""
    game = load_game(name)
    bots = [RandomBot(salt * (seat + 7)) for seat in range(seats or game.seat_counts[0])]
    players = [seated(bot, game=game, seats=len(bots)) for bot in bots]
    record = match_of(*players, game=name, seed=derive("test", luck))
    return record, bots, [[line for _, way, line in each.transcript if way == ">"] for each in players]


def oracle(record: MatchRecord) -> list[list[tuple[tuple[str, ...], str]]]:
    """Return by seat, for each request, what OpenSpiel lets the seat know, with its actions and all that happened."""
    known: list[list[tuple[tuple[str, ...], str]]] = [[] for _ in record.seats]
    past: list[tuple[str, ...]] = [() for _ in record.seats]
    for step in replay(record):
        if isinstance(step.step, ActionStep):
            seat, spiel = step.step.seat, step.before.spiel
            past[seat] += (known_to(spiel, seat),)
            if not step.step.forced:
                known[seat].append((past[seat], str(spiel.history())))
            past[seat] += (str(step.action.id),)
    return known


@pytest.mark.parametrize("name", hidden_games())
def test_equal_information_states_get_equal_bytes(name: str) -> None:
    """Among matches of other luck and other opponents: nothing but its own information reaches a bot."""
    told: dict[Any, set[bytes]] = defaultdict(set)
    histories: dict[Any, set[str]] = defaultdict(set)
    for number in range(6 if name in {*LONG, *DEALS} else 40):
        record, bots, lines = match_with(f"openspiel:{name}", number // 4, number)
        for seat, known in enumerate(oracle(record)):
            requests = [line for line in lines[seat] if line.startswith(b'{"type":"request"')]
            for (text, history), line in zip(known, requests, strict=True):
                told[seat, text].add(line)
                histories[seat, text].add(history)
            heard = [event for message in bots[seat].heard for event in message.get("events", ())]
            assert {event.get("seat") for event in heard} <= {seat}

    assert [found for found in told.values() if len(found) > 1] == []
    is_one_shot = pyspiel.load_game(name).get_type().information.name == "ONE_SHOT"
    assert is_one_shot or name in DEALS or any(len(found) > 1 for found in histories.values())


@pytest.mark.parametrize("name", DEALS)
def test_a_seat_sees_the_same_whatever_the_others_were_dealt(name: str) -> None:
    """Views and legal actions: with one card of the deal exchanged, or two, so that this seat knows the same."""
    parameters = "(use_double_dummy_result=false)" if name == "bridge" else ""  # each deal would be solved
    game, rng, found = load_game(f"openspiel:{name}{parameters}"), Random(name), 0
    table = played_table(game, game.seat_counts[0], plays=2)
    for play in table.plays:
        for step in [step for step in play if isinstance(step.turn, Decision)][:4:3]:
            for other in dealt_otherwise(step.state, rng):
                for seat in table.all_seats():
                    if known_to(other.spiel, seat) == known_to(step.state.spiel, seat):
                        found += 1
                        assert game.observe(other, seat) == game.observe(step.state, seat)
                        assert game.legal(other, seat) == game.legal(step.state, seat)

    assert found > 0


def known_to(spiel: Any, seat: int) -> str:
    """The information state; in a game without one the observation, and the actions that the rules allow the seat.

    The observation of Dou Dizhu, for one, forgets the bids of the others, by which some actions are closed.
    """
    if spiel.get_game().get_type().provides_information_state_string:
        told: str = spiel.information_state_string(seat)
        return told
    return f"{spiel.observation_string(seat)} {spiel.legal_actions(seat)}"


def dealt_otherwise(state: SpielState, rng: Random) -> Iterator[SpielState]:
    """States with the same decisions after other draws, as far as the rules allow them."""
    history = state.spiel.full_history()
    draws = [at for at, each in enumerate(history) if each.player < 0]
    for _ in range(100 if len(draws) > 1 else 3000):
        actions = [each.action for each in history]
        one, two = rng.choice(draws), rng.choice(draws)
        if one == two:
            actions[one] = rng.randrange(2000)
        actions[one], actions[two] = actions[two], actions[one]
        if actions == state.spiel.history():
            continue
        spiel = state.spiel.get_game().new_initial_state()
        for action in actions:
            if spiel.is_terminal() or action not in spiel.legal_actions():
                break
            spiel.apply_action(action)
        else:
            yield state.after(spiel)
