"""The contract of a game, checked by random plays: the tests of bundled games, and `arena check-game` for all others.

Rule: a check yields sentences for the author of the game, and none if all is well. It asks for no wording: messages,
texts and pictures are the game's own.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from hashlib import sha256
from itertools import islice
from typing import Final, NamedTuple
from xml.etree import ElementTree as ET

import msgspec

from arena.conformance.exchange import early_views, sightings
from arena.conformance.hidden import hidden_draws, hidden_legal, hidden_texts, private_actions
from arena.conformance.play import AnyGame, GameStep, PlayedTable, played_table
from arena.conformance.training import encoded_views, numbered_actions, training_data
from arena.conformance.value import fair_values, sound_values, unknowing_values
from arena.errors import BotFault, CheckFailed, SpecError
from arena.games import api, load_game
from arena.match.baseline import BaselinePlayer
from arena.match.record import decode_record, encode_record
from arena.match.referee import play_match
from arena.match.replay import problems
from arena.match.results import result_of
from arena.match.secret_luck import Secret, draw_block
from arena.match.settings import ClockSettings, MatchSettings, spec_of
from arena.plugins import describe_error
from arena.text import cut, printable

_TOLD: Final = 3
"""The most sentences of a check; more of the same kind do not help."""
_PLAYS: Final = 3
"""Random plays for each number of seats; one for a game with a simulator."""
_LONGEST: Final = 600
"""The most characters of a message to a bot."""
_LONG: Final = "x" * 100_000
HOSTILE: Final[tuple[api.Json, ...]] = (
    *(None, True, 0, -1, 1.5, float("nan"), float("inf"), 10**30, 10**5000, "", "roll", _LONG, [], [[]], [{}], {}),
    *({"": None}, {_LONG: 1}, {"do": []}, {"do": _LONG}, {"no_such_field": 10**5000}, [0] * 100_000, "\ud800", "\0"),
)
"""Values that a bot may send and that are no actions of any game."""


Check = Callable[[PlayedTable], Iterator[str]]


class CheckedPart(NamedTuple):
    """A check and the sentences of its findings; only the author of the game can judge the sentences `to_read`."""

    title: str
    seats: int
    findings: tuple[str, ...]
    to_read: tuple[str, ...] = ()


def check_game(game: AnyGame, *, options: Mapping[str, api.Json] | None = None) -> Iterator[CheckedPart]:
    """Make all checks for every number of seats; yield the result of each.

    Where a random play fails, that is the only result for this number of seats. An exception of the game is a finding.
    """
    plays = _PLAYS if api.simulator_of(game) is None else 1
    for seats in game.seat_counts:
        try:
            table = played_table(game, seats, options=options, plays=plays)
        except Exception as error:  # noqa: BLE001 - the game is not ours
            finding = str(error) if isinstance(error, CheckFailed) else f"a play failed: {describe_error(error)}"
            yield CheckedPart("random plays come to an end", seats, (finding,))
            continue
        yield CheckedPart("random plays come to an end", seats, ())
        for title, check in CHECKS.items():
            yield CheckedPart(title, seats, findings(check, table))
        if listed := findings(sightings, table, most=table.seats):
            yield CheckedPart("hidden draws are seen when they may be", seats, (), listed)


def findings(check: Check, table: PlayedTable, *, most: int = _TOLD) -> tuple[str, ...]:
    """Return the first sentences of a check; an exception of the game becomes one more."""
    sentences: list[str] = []
    try:
        sentences.extend(islice(check(table), most))
    except Exception as error:  # noqa: BLE001 - the game is not ours
        sentences.append(f"the game failed: {describe_error(error)}")
    return tuple(sentences)


def _check_setup(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless setup refuses unknown options and odd numbers of seats, and repeats itself."""
    game = table.game
    for options, seats, what in (
        ({"no_such_option": 1}, table.seats, "an unknown option"),
        *((table.options, seats, f"{seats} seats") for seats in (-1, 0, 1, 1000)),
    ):
        try:
            game.setup(options, seats)
        except SpecError:
            continue
        yield f"setup accepts {what}: raise SpecError with a sentence"
    if game.setup(table.options, table.seats) != game.setup(table.options, table.seats):
        yield "setup gives two states that are not equal: make the state a frozen struct of values"
    info = api.game_info_of(game, table.options, table.seats)
    if json.loads(msgspec.json.encode(info)) != json.loads(json.dumps(info)):
        yield "game_info gives other values than plain JSON"


def _check_turns(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless each state has one turn with valid seats or a valid draw, and each key comes once."""
    for play in table.plays:
        keys: set[str] = set()
        for number, step in enumerate(play, start=1):
            place, turn = f"step {number}", step.turn
            if table.game.turn(step.state) != turn:
                yield f"{place}: turn gives something else when it is asked twice"
            if isinstance(turn, api.Decision):
                yield from _check_movers(table, place, turn)
            elif isinstance(turn, api.Chance | api.Simulation):
                if not turn.key or turn.key in keys:
                    yield f"{place}: the key {turn.key!r} comes twice in a match, or is empty: number the draws"
                keys.add(turn.key)
            if isinstance(turn, api.Chance):
                yield from _check_draw(place, turn)


def _check_movers(table: PlayedTable, place: str, turn: api.Decision) -> Iterator[str]:
    """Yield sentences unless the seats of a decision are of this table, and several only in a simultaneous game."""
    movers = turn.seats
    if not movers or len(set(movers)) != len(movers) or not set(movers) <= set(range(table.seats)):
        yield f"{place}: the seats {movers} decide, expected some of 0 to {table.seats - 1}, each once"
    if len(movers) > 1 and not api.is_simultaneous(table.game):
        yield f"{place}: {len(movers)} seats decide at once; say `is_simultaneous = True` in the game"


def _check_draw(place: str, turn: api.Chance) -> Iterator[str]:
    """Yield sentences unless a draw has something to draw from."""
    match turn.kind:
        case api.Dice(count, faces) if count < 1 or faces < 1:
            yield f"{place}: {turn.kind} cannot be thrown"
        case api.Shuffle(size) if size < 1:
            yield f"{place}: {turn.kind} has nothing to shuffle"
        case api.Weighted(weights):
            is_whole = all(type(weight) is int and weight >= 0 for weight in weights)
            if not is_whole or not 0 < sum(weights) <= 1 << 63:
                yield f"{place}: {turn.kind} needs whole weights from 0, together from 1 to 2^63"


def _check_legal(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless legal actions contain the sampled one, are distinct, and keep their order."""
    game = table.game
    for place, step, seat, action in table.decisions():
        legal = game.legal(step.state, seat)
        if legal is None:
            continue
        if action not in legal:
            yield f"{place}: sample gives {action}, which legal does not list"
        if not legal:
            yield f"{place}: the seat must act and has no legal action"
        if len({msgspec.json.encode(listed) for listed in legal}) != len(legal):
            yield f"{place}: legal lists an action twice, or two with one JSON form"
        if game.legal(step.state, seat) != legal:
            yield f"{place}: legal gives another order when it is asked twice"


def _check_other_seats(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless seats that do not decide have no legal action, and parse refuses theirs."""
    game = table.game
    for place, step, _, action in table.decisions():
        for other in set(table.all_seats()) - set(step.actions):
            if game.legal(step.state, other) != ():
                yield f"{place}: seat {other} does not decide here; its legal actions must be ()"
            try:
                game.parse(step.state, other, msgspec.to_builtins(action))
            except BotFault:
                continue
            yield f"{place}: parse accepts an action of seat {other}, which does not decide here; raise IllegalAction"


def _check_actions(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless each legal action can be parsed from its JSON form and applied, and has its own text."""
    game = table.game
    for place, step, seat, sampled in table.decisions():
        legal = game.legal(step.state, seat) or (sampled,)
        for action in legal:
            if game.parse(step.state, seat, json.loads(msgspec.json.encode(action))) != action:
                yield f"{place}: the JSON form of {action} is parsed as another action"
            game.turn(game.apply(step.state, {**step.actions, seat: action}))
        texts = [str(action) for action in legal]
        if len(set(texts)) != len(texts) or not all(text and text.isprintable() for text in texts):
            listed = cut(", ".join(texts))
            yield f"{place}: str() of each legal action must be one line that no other has, found {listed}"


def _check_hostile(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless parse refuses each of the values of `HOSTILE` with a message of moderate length."""
    for place, step, seat, _ in islice(table.decisions(), 30):
        for raw in HOSTILE:
            try:
                table.game.parse(step.state, seat, raw)
            except BotFault as fault:
                if not 0 < len(fault.message) < _LONGEST:
                    yield f"{place}: the message about {raw!r:.30} has {len(fault.message)} characters"
                continue
            except Exception as error:  # noqa: BLE001 - the game is not ours
                problem = describe_error(error)
                yield f"{place}: parse of {raw!r:.30} failed: {problem}; raise MalformedReply (see read_action)"
                continue
            yield f"{place}: parse accepts {raw!r:.30}"


def _check_purity(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless repeating a step gives an equal state, and states are not changed by later ones."""
    game, simulator = table.game, table.simulator
    for place, step in table.steps():
        before = repr(step.state)
        if step.actions:
            again = game.apply(step.state, step.actions)
        elif step.drawn:
            again = game.resolve(step.state, step.drawn)
        elif isinstance(step.turn, api.Simulation) and simulator is not None:
            again = simulator.apply_result(step.state, simulator.simulate(step.state))
        else:
            again = step.after
        if again != step.after:
            yield f"{place}: the same once more leads to another state: it must follow from its arguments alone"
        if repr(step.state) != before:
            yield f"{place}: a state was changed by what followed it: return a new one"


def _check_views(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless views are plain JSON, share nothing with the state, and equal the views for bots.

    One more if `observe` changes the state.
    """
    game, sent = table.game, api.observer_of(table.game)
    for place, step in table.steps():
        before = repr(step.state)
        for seat in table.all_seats():
            view = game.observe(step.state, seat)
            text = msgspec.json.encode(view)
            if json.loads(text) != json.loads(json.dumps(view)):
                yield f"{place}: the view of seat {seat} is not plain JSON"
            if msgspec.json.encode(sent(step.state, seat)) != text:
                yield f"{place}: observe and view_for_bots of seat {seat} differ"
            spoil(view)
            if msgspec.json.encode(game.observe(step.state, seat)) != text:
                yield f"{place}: the view of seat {seat} is not its own: what its reader changes there comes back"
        if repr(step.state) != before:
            yield f"{place}: observe changed the state"


def spoil(value: api.Json) -> None:
    """Clear every list and dict within a JSON value."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            spoil(inner)
        value.clear()


def _check_texts(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless states have a printable description, a picture with its size, points and news."""
    game, names = table.game, [f"player-{seat}" for seat in table.all_seats()]
    for place, step in _steps_to_draw(table):
        text, drawing = game.describe(step.state), ET.fromstring(game.picture(step.state))  # noqa: S314 - our own process
        if not text.strip() or not all(printable(line) == line for line in text.splitlines()):
            yield f"{place}: describe gives no text, or characters that do not print"
        if drawing.tag != "{http://www.w3.org/2000/svg}svg" or not (drawing.get("width") and drawing.get("height")):
            yield f"{place}: picture gives no SVG document with width and height"
        points, news = api.points_of(game, step.state), api.news_of(game, step.state, step.after, names)
        if points and [isinstance(pair, tuple) and len(pair) for pair in points] != [2] * table.seats:
            yield f"{place}: points gives {cut(repr(points))}: expected a pair of numbers for each seat"
        if not all(isinstance(line, str) and line.isprintable() for line in news) or isinstance(news, str):
            yield f"{place}: news gives {cut(repr(news))}: expected a list of lines that print"


def _steps_to_draw(table: PlayedTable) -> list[tuple[str, GameStep]]:
    """Return all steps; with a simulator, whose drawings take long, every eleventh and the last."""
    steps = list(table.steps())
    return steps if table.simulator is None else [*steps[::11], steps[-1]]


def _check_outcomes(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless outcomes have an exact score for each seat, and ranks that count better seats."""
    for play in table.plays:
        outcome = table.game.outcome(play[-1].state)
        scores, ranks = outcome.scores, outcome.ranks
        if not len(scores) == len(ranks) == table.seats:
            yield f"outcome: found {len(scores)} scores and {len(ranks)} ranks for {table.seats} seats"
        if not all(type(score) in {int, Fraction} for score in scores):
            yield f"outcome: scores are whole numbers or fractions, found {cut(repr(scores))}"
        if tuple(ranks) != tuple(sum(other < rank for other in ranks) for rank in ranks):
            yield f"outcome: each rank is the number of better seats (0 is best, equal is a tie), found {ranks}"


def _check_capabilities(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless fallback actions are legal, and results of a simulator can be read back."""
    policy, simulator, game = api.fault_policy_of(table.game), table.simulator, table.game
    for place, step, seat, _ in table.decisions():
        if policy is not None:
            action = policy.fallback_action(step.state, seat)
            if game.parse(step.state, seat, msgspec.to_builtins(action)) != action:
                yield f"{place}: the fallback action {action} is not legal"
            game.turn(game.apply(step.state, {**step.actions, seat: action}))
    for place, step in table.steps():
        if simulator is not None and isinstance(step.turn, api.Simulation):
            again = json.loads(msgspec.json.encode(step.result))
            if simulator.apply_result(step.state, again) != step.after or simulator.distance(
                step.state, again, step.result
            ):
                yield f"{place}: a result of the simulator read back from JSON leads to another state"
            if not simulator.describe_result(step.state, again, step.after).isprintable():
                yield f"{place}: describe_result gives more than one line"


def _check_replay(table: PlayedTable) -> Iterator[str]:
    """Play a match of baseline players, store it and read it back; yield the differences of its replay."""
    drawn = draw_block(Secret.public("check-game"), "check-0", table.seats)
    settings = MatchSettings(table.game.name, dict(table.options), ClockSettings(decides="wall"))
    spec = spec_of(settings, f"{0:012x}-0-0", drawn, 0, "none")
    players = [BaselinePlayer() for _ in table.all_seats()]
    record = decode_record(encode_record(play_match(spec, players, game=table.game, simulator=table.simulator)))
    yield from (f"played again from its record: {problem}" for problem in problems(record, table.game))
    result_of(record)


def difference_elsewhere(name: str, options: Mapping[str, api.Json]) -> str:
    """Play in two processes with other hash seeds; return a sentence if one plays otherwise or fails, empty if not."""
    here = play_digest(name, options)
    code = f"from arena.conformance.game import play_digest; print(play_digest({name!r}, {dict(options)!r}))"
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True, check=False
        )
        if done.stdout.strip() != here:
            reason = done.stderr.strip().splitlines()[-1:] or ["it depends on the order of a set, or on a hash"]
            return f"in another process the same luck leads to another play: {reason[0]}"
    return ""


def play_digest(name: str, options: Mapping[str, api.Json]) -> str:
    """Return the SHA-256 of the views, actions, outcomes and encodings of a random play for each number of seats."""
    game, digest = load_game(name), sha256()
    for seats in game.seat_counts:
        table = played_table(game, seats, options=options, plays=1)
        digest.update(training_data(table))
        for _, step in table.steps():
            views = [game.observe(step.state, seat) for seat in table.all_seats()]
            digest.update(msgspec.json.encode((views, list(step.actions.values()), step.drawn)))
        digest.update(repr(game.outcome(table.plays[0][-1].state)).encode())
    return digest.hexdigest()


CHECKS: Final[dict[str, Check]] = {
    "setup refuses what cannot be played": _check_setup,
    "turns are whole, and no key of luck comes twice": _check_turns,
    "legal actions are listed once, in a fixed order": _check_legal,
    "a seat that does not decide can do nothing": _check_other_seats,
    "each action survives its JSON form and has a line of text": _check_actions,
    "nothing that a bot sends makes the game fail": _check_hostile,
    "the game is pure: states stay as they are, the same leads to the same": _check_purity,
    "views are plain JSON, and the reader's own": _check_views,
    "states can be described and drawn": _check_texts,
    "outcomes are exact, ranks fit": _check_outcomes,
    "optional capabilities keep their word": _check_capabilities,
    "private actions stay private": private_actions,
    "a draw that is not public hides something": hidden_draws,
    "the text for a person hides what their view hides": hidden_texts,
    "legal actions tell nothing that a view hides": hidden_legal,
    "no view tells of a hidden draw before its seat may know": early_views,
    "each action has a number": numbered_actions,
    "views are encoded in one shape, and alike": encoded_views,
    "a value is a payoff for each seat": sound_values,
    "a value that waits for luck is the mean over what can fall": fair_values,
    "a value knows nothing that is yet to be turned up": unknowing_values,
    "a stored match is replayed to the same end": _check_replay,
}
"""The checks by the promise that each one tests."""
