"""montecarlo: tries each action in random playouts. Plays any game of OpenSpiel that arena plays.

The rules come from the package open_spiel, in the Python that bots see (ARENA_RUNTIMES; docs/openspiel.md). If the view
has the history of the match, the state is the one that it leads to. If something is hidden, states are guessed: random
plays in which this seat saw what it has seen, and did what it did.
"""

import json
import math
import random
import sys
import time

try:
    import pyspiel
except ImportError:
    sys.exit("montecarlo needs a Python with the package open_spiel: name its environment in ARENA_RUNTIMES")

PLAYOUTS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
GUESSES = 30  # states that are thought possible
WORDS = ("information_state_string", "observation_string")


def step(state, seat, action):
    """Play on: `action` for this seat if it is to move, a random one for all others, and for luck."""
    if state.is_chance_node():
        actions, chances = zip(*state.chance_outcomes())
        state.apply_action(random.choices(actions, chances)[0])
    elif state.is_simultaneous_node():
        own = {seat: action}
        legal = [state.legal_actions(each) or [0] for each in range(state.num_players())]
        chosen = [own[each] if own.get(each) is not None else random.choice(of) for each, of in enumerate(legal)]
        state.apply_actions(chosen)
    else:
        is_own = state.current_player() == seat and action is not None
        state.apply_action(action if is_own else random.choice(state.legal_actions()))


def is_to_move(state, seat):
    if state.is_chance_node() or state.is_terminal():
        return False
    return bool(state.legal_actions(seat)) if state.is_simultaneous_node() else state.current_player() == seat


class Match:
    """The memory of one match: what this seat saw and did, and the states that it thought possible."""

    def __init__(self, game, seat, seed):
        random.seed(seed)
        self.game, self.seat = game, seat
        self.past, self.possible, self.text = [], [], ""

    def act(self, view, legal, seconds):
        begun = time.process_time()
        self.look(view, begun + seconds / 2)
        action = self.best([each["id"] for each in legal], begun + seconds)
        self.past.append((self.text, action))
        return action

    def look(self, view, end):
        """Note what the seat sees, and the states in which it sees that."""
        self.word = next(word for word in WORDS if word in view)
        self.text = view[self.word]
        if "history" in view:
            self.possible = [self.replayed(view["history"])]
        else:
            self.possible = self.guessed(self.text, end)

    def evaluate(self, view, legal, events, seconds):
        """The mean payoff of each action in playouts, and its standard error; `events` have the seat's last action."""
        begun = time.process_time()
        own = [event["action"]["id"] for event in events if event.get("seat") == self.seat and not event.get("forced")]
        self.past += [(self.text, action) for action in own]
        self.look(view, begun + seconds / 2)
        sums, count = [0.0] * len(legal), 0
        while self.possible and time.process_time() < begun + seconds:
            played = [self.payoff(each["id"], begun + seconds) for each in legal]
            if None in played:
                break
            sums = [total + payoff for total, payoff in zip(sums, played)]
            count += 1
        chances = [(total + 0.5) / (count + 1) for total in sums]
        return chances, [math.sqrt(chance * (1 - chance) / (count + 1)) for chance in chances]

    def payoff(self, action, end):
        """The payoff of a random playout after the action, the mean over the other seats; None if the time is up."""
        state = random.choice(self.possible).clone()
        step(state, self.seat, action)
        while not state.is_terminal() and time.process_time() < end:
            step(state, self.seat, None)
        if not state.is_terminal():
            return None
        returns = state.returns()
        own, others = returns[self.seat], returns[: self.seat] + returns[self.seat + 1 :]
        return sum((own > other) + (own == other) / 2 for other in others) / len(others)

    def replayed(self, history):
        """OpenSpiel's state after these actions and draws."""
        state, rest = self.game.new_initial_state(), list(history)
        while rest:
            if state.is_simultaneous_node():
                count = self.game.num_players()
                state.apply_actions(rest[:count])
                rest = rest[count:]
            else:
                state.apply_action(rest.pop(0))
        return state

    def guessed(self, text, end):
        """States in which this seat sees `text`, by random play from those possible at its last move, or at first."""
        found, known = [], [(state, len(self.past) - 1) for state in self.possible]
        while len(found) < GUESSES and time.process_time() < end:
            state, seen = random.choice(known) if known else (self.game.new_initial_state(), 0)
            state = self.walked(state.clone(), seen, text)
            if state is not None:
                found.append(state)
        return found

    def walked(self, state, seen, text):
        """The state in which this seat is to move and sees `text`; None if the play goes otherwise than the match."""
        while not state.is_terminal():
            action = None
            if is_to_move(state, self.seat):
                now = getattr(state, self.word)(self.seat)
                if seen == len(self.past) and now == text:
                    return state
                if seen < len(self.past) and now == self.past[seen][0]:
                    action = self.past[seen][1]
                    seen += 1
                elif len(state.legal_actions(self.seat)) > 1:  # nobody was asked about the only one
                    return None
            step(state, self.seat, action)
        return None

    def best(self, actions, end):
        """The action with the best mean, by UCB1; a random one if no state is thought possible."""
        if not self.possible:
            return random.choice(actions)
        least, most = self.game.min_utility(), self.game.max_utility()
        sums, counts = dict.fromkeys(actions, 0.0), dict.fromkeys(actions, 0)
        for number in range(PLAYOUTS):
            untried = [each for each in actions if not counts[each]]
            bonus = 2 * math.log(number + 1)
            action = (
                random.choice(untried)
                if untried
                else max(actions, key=lambda each: sums[each] / counts[each] + math.sqrt(bonus / counts[each]))
            )
            state = random.choice(self.possible).clone()
            step(state, self.seat, action)
            while not state.is_terminal() and time.process_time() < end:
                step(state, self.seat, None)
            if not state.is_terminal():
                break
            counts[action] += 1
            sums[action] += (state.returns()[self.seat] - least) / ((most - least) or 1)
        return max(actions, key=lambda each: (sums[each] / counts[each] if counts[each] else -1.0, counts[each]))


for line in sys.stdin:
    message = json.loads(line)
    match message["type"]:
        case "hello":
            game = pyspiel.load_game(message["material"]["game"])
            answer = {"type": "hello", "protocols": [1], "version": "1", "capabilities": ["evaluate"]}
        case "match_start":
            match_now = Match(game, message["seat"], message["bot_seed"])
            answer = {"type": "ready", "match": message["match"]}
        case "request":
            seconds = 0.6 * message["clock"]["move_ms"] / 1000
            action = match_now.act(message["view"], message["legal"], seconds)
            answer = {"type": "action", "id": message["id"], "action": {"id": action}}
        case "evaluate":
            seconds = 0.6 * message["budget_ms"] / 1000
            values, errors = match_now.evaluate(message["view"], message["legal"], message["events"], seconds)
            answer = {"type": "evaluation", "id": message["id"], "values": values, "errors": errors}
        case "quit":
            break
        case _:
            continue
    print(json.dumps(answer), flush=True)
