"""The design: a new expansion is a value plugged in; the base knows none by name."""

import json
from itertools import combinations
from random import Random

import msgspec
import pytest
from support.expansions_positions import ALL, CAPTAIN, DOUBLES, MATCHES, VARIANTS, happened, played
from support.expansions_quiz import NAME, QUIZ, Farewell, Greet, PlayQuiz
from support.games_play import steps
from support.games_positions import FIRST, GAME, every_card, replace

from arena.errors import IllegalAction
from arena.games.api import Chance, Decision, Seat
from arena.games.luck import draw
from arena.games.shanghaien.actions import Action, Joker, Place, Reroll, Roll, Shanghai
from arena.games.shanghaien.cards import Card
from arena.games.shanghaien.expansions import EXPANSIONS
from arena.games.shanghaien.expansions.crazy_captain import Allow, Veto
from arena.games.shanghaien.expansions.doubles import PlayDoubles, RollOne
from arena.games.shanghaien.expansions.no_shanghai import RerollAll
from arena.games.shanghaien.rules import Shanghaien
from arena.games.shanghaien.state import State

FIRST_OF_ALL = Shanghaien(expansions={NAME: QUIZ} | EXPANSIONS)
LAST_OF_ALL = Shanghaien(expansions=EXPANSIONS | {NAME: QUIZ})
SETS = [(*chosen, NAME) for size in (0, 1, 4) for chosen in combinations(ALL, size)]


def begun(game: Shanghaien, *expansions: str) -> State:
    """Seat 0 is to move in round 1; the captain of seat 1, if he is in play, is in force."""
    state = game.resolve(game.setup({"expansions": (*expansions, NAME)}, 2), tuple(range(48)))
    if CAPTAIN not in expansions:
        return state
    captain = Card(state.variant.faces.index(CAPTAIN) + 1)
    first, second = (replace(side, tricks=tuple({*side.tricks} - {captain})) for side in state.players)
    two_placed = replace(first, placed=(1, 1, 0, 0, 0, 0))
    return replace(state, players=(two_placed, second), table=(captain,), one_at="left")


def after(game: Shanghaien, state: State, *events: Action | tuple[int, ...]) -> State:
    for event in events:
        turn = game.turn(state)
        if isinstance(event, tuple):
            assert isinstance(turn, Chance)
            state = game.resolve(state, event)
        else:
            assert isinstance(turn, Decision)
            assert event in game.legal(state, turn.seats[0])
            state = game.apply(state, {turn.seats[0]: event})
    return state


@pytest.mark.parametrize("expansions", SETS, ids="+".join)
@pytest.mark.parametrize("game", [FIRST_OF_ALL, LAST_OF_ALL], ids=["first", "last"])
def test_a_fifth_expansion_plays_with_any_of_the_four(game: Shanghaien, expansions: tuple[str, ...]) -> None:
    """Cards, decisions, hooks, view and drawing; the base game is as it was."""
    seen: set[type[Action]] = set()
    for number in range(5):
        play = list(steps(game, f"quiz {number}", Random(number), options={"expansions": expansions}))
        for step in play:
            seen |= {type(action) for action in step.actions.values()}
            assert game.observe(step.state, FIRST)["expansions"][NAME]["played"] in (0, 1, 2)
            assert "the quiz has counted" in game.describe(step.state)
        for step in play[1::7]:
            assert every_card(step.state) == list(range(len(step.state.variant.faces)))
            for seat in step.turn.seats if isinstance(step.turn, Decision) else ():
                for action in game.legal(step.state, seat):
                    assert game.parse(step.state, seat, json.loads(msgspec.json.encode(action))) == action

    assert seen >= {PlayQuiz, Greet, Farewell, Joker}


@pytest.mark.parametrize("game", [FIRST_OF_ALL, LAST_OF_ALL], ids=["first", "last"])
def test_two_expansions_may_ask_about_one_action(game: Shanghaien) -> None:
    """Expansions ask in the order of play; the answer to one question leads to the next."""
    state = begun(game, CAPTAIN)
    answers: list[Action] = [Farewell(is_silent=True), Allow()]
    if game is LAST_OF_ALL:
        answers.reverse()

    ended = after(game, state, Shanghai(), *answers)

    assert ended.round == 2


def test_a_veto_leaves_the_next_one_nothing_to_ask_about() -> None:
    """A vetoed action does not happen, so no other expansion asks about it."""
    state = begun(LAST_OF_ALL, CAPTAIN)

    stopped = after(LAST_OF_ALL, state, Shanghai(), Veto())

    assert LAST_OF_ALL.legal(stopped, FIRST) == (Roll(),)


@pytest.mark.parametrize(
    ("game", "names", "answers"),
    [(FIRST_OF_ALL, ["greet", "doubles"], (Greet(), RollOne())), (LAST_OF_ALL, ["doubles"], (RollOne(),))],
    ids=["first", "last"],
)
def test_two_expansions_may_ask_about_one_roll(game: Shanghaien, names: list[str], answers: tuple[Action, ...]) -> None:
    """Two fours: the first one's question keeps the second one waiting; each asks about the dice that lie there."""
    state = after(game, begun(game, DOUBLES), Roll(), (4, 4))
    asked = []
    for answer in answers:
        asked.append(game.observe(state, FIRST)["phase"])
        state = after(game, state, answer)

    done = after(game, state, (5,))

    assert asked == names
    assert (done.phase, done.dice) == ("rolled", (4, 5))
    assert game.observe(done, FIRST)["expansions"][NAME]["greetings"] == len(names) - 1


@pytest.mark.parametrize("game", [FIRST_OF_ALL, LAST_OF_ALL], ids=["first", "last"])
def test_a_question_about_new_dice_is_asked_anew(game: Shanghaien) -> None:
    """Two threes, one rolled again: an eight."""
    state = after(game, begun(game, DOUBLES), Roll(), (3, 3), RollOne(), (5,))

    greeted = after(game, state, Greet())

    assert game.observe(state, FIRST)["phase"] == "greet"
    assert (greeted.phase, greeted.dice) == ("rolled", (3, 5))


def test_an_expansion_may_share_an_action_of_the_base_game() -> None:
    """The quiz has a joker side; when it is off, a joker of the base game is no action of its own."""
    state = LAST_OF_ALL.setup({}, 2)
    state = LAST_OF_ALL.resolve(state, tuple(range(48)))

    with pytest.raises(IllegalAction, match="joker comes after a roll"):
        LAST_OF_ALL.parse(state, FIRST, {"do": "joker", "card": "both", "nation": "dutch"})
    with pytest.raises(IllegalAction, match="belongs to the expansion quiz, which is off"):
        LAST_OF_ALL.parse(state, FIRST, {"do": "greet"})


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
