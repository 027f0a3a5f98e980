"""The expansions and keyed luck: the same seed brings the same dice, whatever the players do."""

import pytest
from expansions_positions import ALL, CAPTAIN, DOUBLES, MATCHES, NO_SHANGHAI, VARIANTS, happened, played, rolled, table
from games_positions import GAME, SECOND, Event, chance_key, go, player

from arena.games.api import Chance, Seat
from arena.games.luck import draw
from arena.games.shanghaien.actions import Place, Reroll, Roll, Shanghai
from arena.games.shanghaien.expansions.crazy_captain import Allow, Veto
from arena.games.shanghaien.expansions.doubles import PlayDoubles, RollOne, TakeDoubles
from arena.games.shanghaien.expansions.no_shanghai import KeepBack, RerollAll

BOTH_TURNS = ("roll/1/1/1/1", "roll/1/0/2/1")


class Tally:
    """Counts rounds, turns and rolls of a play by itself, and says the key of the next draw."""

    def __init__(self) -> None:
        self.round, self.turns, self.rolls, self.again, self.is_many = 1, [0, 0], 0, 0, False

    def count(self, seat: Seat, action: object, vetoed: object) -> None:
        """After `action` was carried out; `vetoed` is what a veto stopped."""
        self.is_many = isinstance(action, RerollAll)
        match action:
            case Roll():
                self.turns[seat] += 1
                self.rolls, self.again = 1, 0
            case Reroll() | PlayDoubles():
                self.rolls, self.again = self.rolls + 1, 0
            case Veto() if isinstance(vetoed, Place):
                self.rolls, self.again = self.rolls + 1, 0
            case RollOne():
                self.again += 1
            case Shanghai():
                self.round, self.turns = self.round + 1, [0, 0]

    def key(self, seat: Seat) -> str:
        """Of the draw that comes next, in the turn of `seat`."""
        named = f"{self.round}/{seat}/{self.turns[seat]}/{self.rolls}"
        if self.is_many:
            return f"many/{named}"
        return f"again/{named}/{self.again}" if self.again else f"roll/{named}"


@pytest.mark.parametrize("expansions", VARIANTS, ids=lambda chosen: "+".join(chosen) or "base")
def test_every_draw_is_known_from_the_round_the_seat_the_turn_and_the_roll(expansions: tuple[str, ...]) -> None:
    """Two plays with the same luck and other decisions: the test predicts each of their draws by counting."""
    for number in range(MATCHES // 4):
        for decided in (number, -number - 1):
            play = played(expansions, number, decided=decided)
            tally, done = Tally(), {id(step): action for step, action in happened(play)}
            announced: object = None
            for step in play[1:]:
                mover = step.state.to_move
                if isinstance(step.turn, Chance):
                    named = Chance(key=tally.key(mover), kind=step.turn.kind)
                    assert step.turn == named
                    assert step.drawn == draw(f"expansions {number}", named)
                if id(step) in done:
                    tally.count(mover, done[id(step)], announced)
                announced = next(iter(step.actions.values()), announced)


@pytest.mark.parametrize(
    "events",
    [
        (Place(dice=(2,)),),
        (Place(dice=(2,)), Veto(), (1, 6), Place(dice=(1,))),
        (PlayDoubles(), Allow(), (1, 6), Place(dice=(1,)), Veto(), (1, 6), Place(dice=(1,))),
        (PlayDoubles(), Veto(), Place(dice=(2,))),
        (RerollAll(), Allow(), (1, 1), KeepBack(die=1)),
        (PlayDoubles(), Allow(), (3, 3), RollOne(), (3,), RollOne(), (4,), Place(dice=(3,)), Allow()),
        (PlayDoubles(), Allow(), (3, 3), TakeDoubles()),
    ],
    ids=lambda events: ", ".join(type(event).__name__ for event in events),
)
def test_nothing_in_a_turn_shifts_a_later_roll(events: tuple[Event, ...]) -> None:
    """Neither the opponent's next one nor the own."""
    state = rolled(table(ALL, hands=((DOUBLES, NO_SHANGHAI), ()), lying=((CAPTAIN, SECOND),)), 2, 5)
    if isinstance(events[0], Place) and len(events) == 1:
        events = (*events, Allow())

    theirs = go(state, *events, Roll())
    own = go(theirs, (1, 2), Place(dice=(1,)), Roll())

    assert (chance_key(theirs), chance_key(own)) == BOTH_TURNS


def test_a_vetoed_shanghai_is_no_turn_more() -> None:
    """He rolls what he would have rolled without calling it."""
    state = table((CAPTAIN,), player(dice=(1, 2)), lying=((CAPTAIN, SECOND),))

    assert chance_key(go(state, Shanghai(), Veto(), Roll())) == chance_key(go(state, Roll())) == "roll/1/0/1/1"


def test_the_deck_does_not_depend_on_the_expansions() -> None:
    """The 48 cards of the tavern lie in the same order for every set; the others are dealt or lie in the middle."""
    rows = set()
    for expansions in VARIANTS:
        state = GAME.setup({"expansions": expansions}, 2)
        turn = GAME.turn(state)
        assert isinstance(turn, Chance)
        dealt = GAME.resolve(state, draw("deck", turn))
        rows.add((dealt.row, dealt.pile))

    assert len(rows) == 1


def test_the_same_decisions_lead_to_the_same_play() -> None:
    """State for state, with everything on."""
    first, second = (played(ALL, 3, decided=5) for _ in range(2))

    assert [step.after for step in first] == [step.after for step in second]
