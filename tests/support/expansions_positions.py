"""Positions and random plays of Shanghaien with expansions, and a scorer, for the tests.

Rule: a position has every card of its variant in one place, so that each test may count them. What happened in a play
is told without asking the rules. ARENA_MANY=1000 plays so many matches of each set; the default keeps the suite short.
"""

import os
from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import Final

from arena.games.api import Decision, Json, Seat
from arena.games.shanghaien.actions import Action, Place, Roll
from arena.games.shanghaien.cards import DECK_SIZE, Card
from arena.games.shanghaien.expansions.crazy_captain import Allow, PlayCaptain
from arena.games.shanghaien.expansions.doubles import PlayDoubles
from arena.games.shanghaien.expansions.no_shanghai import Ban, RerollAll
from arena.games.shanghaien.expansions.sharks import Exchange, Feed
from arena.games.shanghaien.state import Choice, Player, State
from support.games_play import Step, steps
from support.games_positions import FIRST, GAME, SECOND, cards, go, replace

CAPTAIN: Final = "crazy_captain"
NO_SHANGHAI: Final = "no_shanghai"
SHARKS: Final = "sharks"
DOUBLES: Final = "doubles"
ALL: Final = (CAPTAIN, NO_SHANGHAI, SHARKS, DOUBLES)
SPENT_ON: Final[dict[type[Action], str]] = {
    PlayCaptain: CAPTAIN,
    Ban: NO_SHANGHAI,
    RerollAll: NO_SHANGHAI,
    Feed: SHARKS,
    Exchange: SHARKS,
    PlayDoubles: DOUBLES,
}


def card_of(state: State, kind: str, seat: Seat = FIRST) -> Card:
    """The card of that kind which `seat` starts with, or the only one."""
    faces = state.variant.faces
    return Card(faces.index(kind) + (seat if faces.count(kind) > 1 else 0))


def table(
    expansions: tuple[str, ...],
    first: Player | None = None,
    second: Player | None = None,
    *,
    hands: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
    lying: tuple[tuple[str, Seat], ...] = (),
    row: tuple[str, ...] = (),
    seat: Seat = FIRST,
    round_: int = 1,
) -> State:
    """`seat` chooses between roll and shanghai; the numbering is settled, number 1 is on the left.

    `hands`: the expansion cards that each seat holds besides the tricks of `first` and `second`. `lying`: those beside
    the row, with the seat that played them. A doubles card that nobody holds lies there too, other cards are gone.
    `row`: its first cards by their text form.
    """
    state = GAME.resolve(GAME.setup({"expansions": expansions}, 2), tuple(range(DECK_SIZE)))
    players = [first or Player(), second or Player()]
    for owner, kinds in zip((FIRST, SECOND), hands, strict=True):
        added = tuple(card_of(state, kind, owner) for kind in kinds)
        players[owner] = replace(players[owner], tricks=players[owner].tricks + added)
    beside = [card_of(state, kind, owner) for kind, owner in lying]
    if DOUBLES in expansions and not any(DOUBLES in kinds for kinds in hands):
        beside.append(card_of(state, DOUBLES))
    held = {card for side in players for card in (*side.tricks, *side.sailors, *(card for card, _ in side.jokers))}
    laid = cards(*row)
    free = [*laid, *(Card(card) for card in range(DECK_SIZE) if card not in {*held, *laid})]
    pile = free[6 : 6 + 6 * (8 - round_)]
    extra = [Card(card) for card in range(DECK_SIZE, len(state.variant.faces)) if card not in {*held, *beside}]
    return replace(
        state,
        players=(players[0], players[1]),
        table=tuple(beside),
        to_move=seat,
        round=round_,
        one_at="left",
        row=tuple(free[:6]),
        pile=tuple(pile),
        gone=tuple([card for card in free if card not in {*free[:6], *pile}] + extra),
    )


def captained(first: Player | None = None, second: Player | None = None) -> State:
    """Seat 0 is to move, and the captain of seat 1 is in force; no other expansion is on."""
    return table((CAPTAIN,), first, second, lying=((CAPTAIN, SECOND),))


def place(*dice: int) -> Place:
    """Of a round in which the numbering is settled."""
    return Place(dice=dice)


def both_or_one(*dice: int) -> tuple[Place, ...]:
    """The placements under the right to place both dice, which fell in this order."""
    return (Place(dice=tuple(sorted(dice))), *(place(die) for die in dict.fromkeys(dice)))


def rolled(state: State, *dice: int) -> State:
    """The player to move has just rolled these two dice, in his first turn of the round; no hook has run."""
    return replace(go(state, Roll()), phase="rolled", dice=dice)


def unnumbered(state: State) -> State:
    """Nobody has placed a die in this round yet."""
    return replace(state, one_at=None)


def asked(state: State) -> tuple[str, int]:
    """What the view calls the phase, and the seat that decides."""
    turn = GAME.turn(state)
    assert isinstance(turn, Decision), f"nobody decides: {turn}"
    return GAME.observe(state, turn.seats[0])["phase"], turn.seats[0]


MATCHES: Final = int(os.environ.get("ARENA_MANY", "15"))
VARIANTS: Final = [chosen for size in range(5) for chosen in combinations(ALL, size)]

Play = list[Step]


def played(expansions: tuple[str, ...], number: int, *, decided: int | None = None) -> Play:
    """The play of that number: its luck by the number, its decisions too, if not by the number `decided`."""
    rng = Random(number if decided is None else decided)
    return list(steps(GAME, f"expansions {number}", rng, options={"expansions": expansions}))


def is_asking(step: Step) -> bool:
    """What was done is only announced: somebody is asked about it next."""
    return isinstance(step.after.phase, Choice) and step.after.phase.name == "veto"


def happened(play: Play) -> Iterator[tuple[Step, Action]]:
    """Each step of a decision with the action that was carried out in it; an announced one when it was allowed."""
    announced = None
    for step in play:
        for action in step.actions.values():
            if is_asking(step):
                announced = action
            elif isinstance(action, Allow):
                assert announced is not None
                yield step, announced
            else:
                yield step, action


def points_by_the_text(mine: dict[str, Json], theirs: dict[str, Json]) -> int:
    """A scorer of its own, from what lies open before both players."""
    crews = []
    for side in (mine, theirs):
        crew: dict[str, int] = {}
        for nation, value in (sailor.split() for sailor in side["sailors"]):
            crew[nation] = crew.get(nation, 0) + int(value)
        for nation in side["jokers"]:
            crew[nation] += 2
        crews.append(crew)
    own, other = crews
    points = len(mine["tricks"])
    for nation, strength in own.items():
        if nation not in other:
            points += strength
        elif strength > other[nation]:
            points += other[nation]
    return points
