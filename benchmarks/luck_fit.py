"""The frequencies `chances` of the value of Shanghaien, found again by self-play of bots/sensible.

    python benchmarks/luck_fit.py --matches 3500 --seed fit        # about 10 minutes on one core

Prints rows for arena/games/shanghaien/value/constants.json: by the dice both sides have placed and by how a card stands
for the side to move, how often that side won the card and how often the other did; a card counts by what it was
worth. The constants there come from a run of this kind. New ones make a new version of the value.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from luck_players import Sensible

from arena.games import load_game
from arena.games.api import Chance, Decision
from arena.games.luck import derive, draw
from arena.games.shanghaien.state import ROUNDS, State, order_by_number
from arena.games.shanghaien.value.constants import CONSTANTS
from arena.games.shanghaien.value.placed import WINNERS, placed_dice
from arena.games.shanghaien.value.stakes import pool_of, stakes_of

_SLIPS: Final = 0.03
"""The share of random moves in every other match, so that odd positions occur as well."""
_PRIOR: Final = 200.0
"""The weight of the present table, because some standings hardly ever occur."""


def rounds(seed: str, slips: float) -> Iterator[list[State]]:
    """Yield for each round of a match the states in which a side is to move; the last one ended it."""
    game: Any = load_game("shanghaien")
    players = [Sensible(slips=slips) for _ in range(2)]
    for seat, player in enumerate(players):
        player.start(int(derive("bot", seed, seat)[:13], 16))
    state, states = game.setup({}, 2), []
    while isinstance(turn := game.turn(state), Decision | Chance):
        if isinstance(turn, Chance):
            state = game.resolve(state, draw(seed, turn))
            continue
        seat = turn.seats[0]
        legal = game.legal(state, seat)
        if state.phase == "turn" and state.one_at is not None:
            states.append(state)
        after = game.apply(state, {seat: legal[0 if len(legal) == 1 else players[seat].act(state, seat, legal)]})
        if after.row != state.row:
            yield states
            states = []
        state = after


def count_cards(states: list[State]) -> Iterator[tuple[int, int, int, float]]:
    """Yield for each card: dice placed, standing for the side to move, winner (1, other side -1, or 0), weight."""
    last = states[-1]
    for state in states:
        seat = state.to_move
        mine, theirs = state.players[seat], state.players[1 - seat]
        dice = min(CONSTANTS.most_dice, sum(mine.placed) + sum(theirs.placed))
        won = WINNERS[placed_dice(last.players[seat].placed, last.players[1 - seat].placed).won_left]
        pool = pool_of(state.row + state.pile)
        assert state.one_at is not None, "only such states are met"
        row = order_by_number(state.row, state.one_at)
        for card, stand, winner in zip(row, placed_dice(mine.placed, theirs.placed).standings, won, strict=True):
            stake, _ = stakes_of(card, mine.strength, theirs.strength, pool, ROUNDS - state.round)
            yield dice, stand, winner, abs(stake.won - stake.lost) + 0.3


def main() -> None:
    """Play, count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matches", type=int, default=500)
    parser.add_argument("--seed", default="fit")
    options = parser.parse_args()
    weights: defaultdict[tuple[int, int, int], float] = defaultdict(float)
    for number in range(options.matches):
        for states in rounds(f"{options.seed}/{number}", _SLIPS * (number % 2)):
            for dice, stand, winner, weight in count_cards(states):
                weights[dice, stand, winner] += weight
    for dice, row in enumerate(CONSTANTS.chances):
        pairs = []
        for stand, (win, lose) in enumerate(row):
            won, drawn, lost = [weights[dice, stand, winner] for winner in (1, 0, -1)]
            total = won + drawn + lost + _PRIOR
            pairs.append([round((won + _PRIOR * win) / total, 3), round((lost + _PRIOR * lose) / total, 3)])
        print(json.dumps(pairs) + ("," if dice < CONSTANTS.most_dice else ""))


if __name__ == "__main__":
    main()
