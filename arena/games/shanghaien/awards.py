"""Who gets what: the cards of a round, and the points of a game.

Source: "B. Shanghaien" and "Wertung" in the German rule text. Rule: plain functions of counts, no state.
"""

from arena.games.api import Seat

Counts = tuple[int, ...]


def winners(placed: tuple[Counts, Counts]) -> tuple[Seat | None, ...]:
    """The seat that wins each card, by number 1..6, None for a card that leaves the game.

    `placed[seat][number-1]` counts the dice of that seat on the card. More dice win; equal and not zero: more pips on
    the neighbouring cards win; equal again: nobody.
    """
    mine, theirs = placed
    won: list[Seat | None] = []
    for index, (own, other) in enumerate(zip(mine, theirs, strict=True)):
        if own == other and own:
            won.append(_ahead(neighbour_pips(mine, index), neighbour_pips(theirs, index)))
        else:
            won.append(_ahead(own, other))
    return tuple(won)


def _ahead(own: int, other: int) -> Seat | None:
    return None if own == other else Seat(0) if own > other else Seat(1)


def neighbour_pips(placed: Counts, index: int) -> int:
    """Pips (dice times number) on the one or two cards beside the card at `index` (its number minus 1)."""
    left = placed[index - 1] * index if index > 0 else 0
    right = placed[index + 1] * (index + 2) if index + 1 < len(placed) else 0
    return left + right


def final_scores(strengths: tuple[Counts, Counts], unused_tricks: tuple[int, int]) -> tuple[int, int]:
    """Points of both seats: `strengths[seat][nation]` sums sailors and jokers, each unused trick card adds 1.

    With sailors on both sides the stronger crew scores the weaker crew's strength, equal crews score nothing; alone,
    a crew scores its own strength.
    """
    scores = list(unused_tricks)
    for mine, theirs in zip(*strengths, strict=True):
        if mine != theirs:
            scores[0 if mine > theirs else 1] += min(mine, theirs) or max(mine, theirs)
    return scores[0], scores[1]
