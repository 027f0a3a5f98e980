"""El-dado: its values are those of a brute force over the engine, it uses every card, and needs little time."""

import random
from collections import Counter
from collections.abc import Iterator
from itertools import count, product
from pathlib import Path
from typing import Any, Final

import pytest
from support.bots_driver import VARIANTS, Bot, Prepare, play, started
from support.scripted_bot import match_of

from arena.games.api import Chance, Decision, Seat
from arena.games.luck import draw
from arena.games.shanghaien.actions import Action, Joker
from arena.games.shanghaien.cards import DECK_SIZE, NATIONS, card_winners
from arena.games.shanghaien.rules import Shanghaien
from arena.games.shanghaien.state import ROUNDS, Player, State, order_by_number
from arena.games.shanghaien.value.stakes import Endings, Side, before_dice, pool_of
from arena.league.tournament import Player as Entrant
from arena.league.worker import make_bot_player
from arena.match.analyst import opinion_of_bot
from arena.match.judgement import Judgement, judge
from arena.match.participant import ActionRequest, Participant
from arena.match.record import MatchRecord
from arena.match.settings import ClockSettings, MatchSettings
from arena.process.manifest import read_bot
from arena.protocol import messages as m

pytestmark = pytest.mark.process

GAME: Final = Shanghaien()
ROLLS: Final = Counter(tuple(sorted(roll)) for roll in product(range(1, 7), repeat=2))
DIGITS: Final = {None: 0, Seat(0): 1, Seat(1): 2}
PLAYED_CARDS: Final = {
    *("crazy_captain", "veto", "no_shanghai", "reroll_all", "feed", "exchange", "doubles", "take_doubles")
}


class BruteForce:
    """The chance to win of the seat to move, over all dice that can still be placed in the round.

    The engine gives the actions and what they lead to, arena's value what comes after the round. Later jokers are
    looked at in the last round only, and at the nation where they gain most now.
    """

    def __init__(self, root: State) -> None:
        first, second = map(_side, root.players)
        _, jokers = before_dice(ROUNDS - root.round, pool_of(root.row + root.pile), first, second)
        self._nations = tuple(NATIONS[joker.nation] if joker.first > 0 else "" for joker in jokers)
        self._known: dict[Any, float] = {}

    def value_of(self, state: State, action: Action) -> float:
        """Return the value of an action to the seat that takes it."""
        if action.tag == "shanghai":
            return _payoff_of_shanghai(state)
        after = GAME.apply(state, {state.to_move: action})
        if after.to_move != state.to_move:
            return 1 - self._turn(after)
        if after.phase == "rolling":
            return sum(ways * self._best(GAME.resolve(after, roll)) for roll, ways in ROLLS.items()) / 36
        return self._best(after)

    def _turn(self, state: State) -> float:
        key = (
            state.to_move,
            *[(side.placed, side.strength, side.tricks, side.has_used_trick) for side in state.players],
        )
        if key not in self._known:
            self._known[key] = self._best(state)
        return self._known[key]

    def _best(self, state: State) -> float:
        actions = GAME.legal(state, state.to_move)
        return max(self.value_of(state, action) for action in actions if self._is_seen(state, action))

    def _is_seen(self, state: State, action: Action) -> bool:
        if not isinstance(action, Joker):
            return True
        return state.round == ROUNDS and action.nation == self._nations[state.to_move]


def _side(player: Player) -> Side:
    jokers = sum(card < DECK_SIZE for card in player.tricks)
    return Side(player.strength, len(player.tricks), jokers, player.has_used_trick)


def _payoff_of_shanghai(state: State) -> float:
    first, second = state.players
    assert state.one_at is not None
    winners = order_by_number(card_winners((first.placed, second.placed)), state.one_at)
    won = sum(DIGITS[winner] * 3**place for place, winner in enumerate(winners))
    endings = Endings(state.round, state.row, state.pile, (_side(first), _side(second)))
    payoff = endings.payoff(won, 1 - state.to_move)
    return payoff if state.to_move == 0 else 1 - payoff


def _late_positions(seed: int) -> Iterator[State]:
    """Yield positions of a match at random in which a seat decides and seven dice or more have been placed."""
    rng = random.Random(seed)
    state = GAME.setup({}, 2)
    while isinstance(turn := GAME.turn(state), Chance | Decision):
        if isinstance(turn, Chance):
            state = GAME.resolve(state, draw(f"luck {seed}", turn))
            continue
        legal = GAME.legal(state, state.to_move)
        if len(legal) > 1 and sum(sum(side.placed) for side in state.players) >= 7:
            yield state
        plain = [action for action in legal if action.tag in ("roll", "place")] or legal
        state = GAME.apply(state, {state.to_move: rng.choice(plain if rng.random() < 0.9 else legal)})


def _evaluate(bot: Bot, state: State) -> tuple[float, ...]:
    """Return the bot's values of the legal actions."""
    seat = state.to_move
    view, legal = GAME.observe(state, seat), GAME.legal(state, seat)
    values: tuple[float, ...] = bot.ask(m.Evaluate(1, "m1", view, (), legal, 100)).values
    return values


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_late_positions_have_the_values_of_a_brute_force(prepare: Prepare, seed: int) -> None:
    """Each legal action has its value within the precision of a float."""
    compared = Counter[str]()
    with started(prepare("el-dado")) as bot:
        bot.start_match()
        for state in _late_positions(seed):
            reference = BruteForce(state)
            for action, value in zip(GAME.legal(state, state.to_move), _evaluate(bot, state), strict=True):
                is_joker = isinstance(action, Joker)  # after which nations gain otherwise
                after = BruteForce(GAME.apply(state, {state.to_move: action})) if is_joker else reference

                assert value == pytest.approx(after.value_of(state, action), abs=1e-5), (state, action)
                compared[action.tag] += 1

    assert min(compared[tag] for tag in ("roll", "shanghai", "place", "adjust", "reroll", "joker")) > 1


@pytest.mark.slow
def test_every_card_is_used_and_an_answer_takes_little_time(prepare: Prepare) -> None:
    """In matches of all sixteen variants against itself, 99 % of the answers take less than 50 ms of CPU time."""
    times: list[float] = []
    used = set[str]()
    with started(prepare("el-dado")) as bot:

        def choose(_seat: Seat, request: m.Request) -> Any:
            before = bot.cpu_s()
            answer = bot.ask(request)
            times.append(bot.cpu_s() - before)
            assert request.legal is not None
            action = request.legal[answer.action] if isinstance(answer.action, int) else answer.action
            used.add(action["do"])
            return answer.action

        for number, options in enumerate(VARIANTS * 2):
            bot.start_match(options=options)
            play("shanghaien", f"luck {number}", choose, options=options)

    assert used >= PLAYED_CARDS
    assert sorted(times)[len(times) * 99 // 100] < 0.05


class _Evaluator(Participant):
    """A player that takes el-dado's best action, and once, if a `blunder` is wanted, a bad one.

    It waits for a decision from the one of that number on in which an action is worse by 0.05 of a win or more.
    """

    def __init__(self, bot: Bot, blunder: int | None) -> None:
        super().__init__("el-dado", "0" * 64, ClockSettings().terms())
        self.blunder_step = 0
        self._bot, self._blunder = bot, blunder
        bot.start_match()

    def ask(self, request: ActionRequest) -> m.Answer:
        """Return the best action, or the blunder."""
        assert request.legal is not None
        message = m.Evaluate(request.step, "m1", request.view, (), request.legal, 100)
        values = self._bot.ask(message).values
        self.moves += 1
        chosen, least = values.index(max(values)), min(values)
        if self._blunder is not None and self.moves >= self._blunder and max(values) - least >= 0.05:
            chosen, self._blunder, self.blunder_step = values.index(least), None, request.step
        return m.Answer(id=self.moves, action=chosen)


@pytest.mark.slow
def test_a_planted_blunder_is_the_costliest_decision_and_clean_matches_have_none(prepare: Prepare) -> None:
    """In ten matches of el-dado against itself, with one blunder of 5 % of a win or more, and in ten without."""
    folder = prepare("el-dado")
    with started(folder) as first, started(folder) as second:
        for number in range(10):
            for blunder in (None, 1 + 2 * number):
                players = (_Evaluator(first, blunder), _Evaluator(second, None))
                record = match_of(*players, game="shanghaien", seed=f"blunder {number}")
                costliest = _judged(record, folder).costliest(1, (0, 1))

                assert [decision.step for decision in costliest] == (
                    [] if blunder is None else [players[0].blunder_step]
                )


def _judged(record: MatchRecord, folder: Path) -> Judgement:
    """Judge a match by processes of el-dado."""
    settings = MatchSettings(record.game, record.options, ClockSettings(move_ms=1000, idle_ms=3_600_000))
    judges = (make_bot_player(Entrant("judge", read_bot(folder)), settings, "none") for _ in count())
    return judge(record, opinion_of_bot(record, "judge", lambda _: next(judges)))
