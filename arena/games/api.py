"""The contract of a game, and the optional capabilities: each is an attribute that a game may define.

Rule: a game is pure. It knows no clock, file, process, log or global random; every state is a frozen value;
everything random is asked for by name (`Chance`) and drawn by somebody else.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Annotated, Any, ClassVar, Final, NewType, Protocol, TypeVar, cast

import msgspec

from arena import validation
from arena.errors import MalformedReply
from arena.games.looks import looks_of, paint_seats
from arena.text import printable, shorten

Seat = NewType("Seat", int)
"""A place at the table, 0..n-1, in the order of the rule book."""

Json = Any
"""A plain JSON value: None, bool, int, float, str, or lists, tuples and string-keyed dicts of these."""

Number = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""A whole number in an action. Longer ones are malformed: no message should have to print a thousand digits."""

Word = Annotated[str, msgspec.Meta(max_length=100)]
"""A name in an action, short enough to be quoted in a message."""


MOST_SEATS: Final = 10
"""The most seats of a table: the rank of a seat is one digit."""
OPENING: Final = "opening"
"""The option that begins a match of a game with the capability `openings`; a process gets it with each match."""
BOOK: Final = "openings"
"""The option that names a book of openings: its file, or `sha256` and `count` once it was read."""
HEADING: Final = "--- "
"""The beginning of a line of news that opens a part of a match."""
_SEATS: Final = re.compile(r"\bseat \d+\b|\bseats \d+(?:(?:, | and | or )\d+)*\b")
SHORT_NAME_MAX: Final = 16
"""The longest name, in characters, in a picture, which has room for little more than `seat 0`, and before a person."""


class Dice(msgspec.Struct, frozen=True):
    """`count` dice with faces 1..`faces`; the outcome lists the faces in the order of the dice."""

    count: int
    faces: int = 6


class Shuffle(msgspec.Struct, frozen=True):
    """A permutation of 0..`size`-1; the outcome lists the items from first to last."""

    size: int


class Weighted(msgspec.Struct, frozen=True):
    """A choice of one result, with probabilities in proportion to `weights`: whole numbers, 2^63 together at most.

    The outcome lists its index only, from 0. A result of weight 0 never comes.
    """

    weights: tuple[int, ...]


class Decision(msgspec.Struct, frozen=True):
    """A turn in which `seats` must act: one alone, or several at once, hidden from each other."""

    seats: tuple[Seat, ...]


class Chance(msgspec.Struct, frozen=True):
    """A turn that needs luck. `key` names the draw within the match and never repeats in it.

    `is_public` tells whether all seats see the outcome (dice) or nobody does (the order of a draw pile).
    """

    key: str
    kind: Dice | Shuffle | Weighted
    is_public: bool = True


class Simulation(msgspec.Struct, frozen=True):
    """A turn in which the game's `simulator` computes a result from the state alone; the record keeps it.

    `key` names this result within the match and never repeats in it. Only games with a simulator ask for it.
    """

    key: str


class Over(msgspec.Struct, frozen=True):
    """The end of play; `Game.outcome` may be asked."""


Turn = Decision | Chance | Simulation | Over


class Outcome(msgspec.Struct, frozen=True):
    """The result by the rules. By seat: `scores` in the game's own points, `ranks` from 0 (best), equal = tie.

    A score is exact: a whole number or a `Fraction`, never a float.
    """

    scores: tuple[int | Fraction, ...]
    ranks: tuple[int, ...]


class Randomness(Protocol):
    """The part of `random.Random` that `Game.sample` may use."""

    def choice(self, seq: Sequence[Any], /) -> Any:
        """Return one item of `seq`, all equally likely."""


S = TypeVar("S")
A = TypeVar("A")


class Game(Protocol[S, A]):
    """The rules of a game. `S` is its state, `A` its action; both are immutable values."""

    name: ClassVar[str]
    rules_version: ClassVar[str]
    """Changes whenever the same actions and luck could lead to another outcome."""
    seat_counts: ClassVar[tuple[int, ...]]
    """The numbers of seats that can be played."""

    def setup(self, options: Mapping[str, Json], seats: int) -> S:
        """Return the first state; SpecError names an unknown or impossible option and lists the known ones.

        SpecError as well for a number of seats that cannot play.
        """

    def turn(self, state: S) -> Turn:
        """Return the next turn: a decision, chance, a simulation, or the end."""

    def observe(self, state: S, seat: Seat) -> dict[str, Json]:
        """Return all that `seat` may know, as JSON values. Hidden information leaves through this method only."""

    def legal(self, state: S, seat: Seat) -> tuple[A, ...] | None:
        """Return the actions open to `seat`, in a fixed order; None where they cannot be listed.

        Asked in a decision only; an empty tuple for a seat that does not decide then.
        """

    def parse(self, state: S, seat: Seat, raw: Json) -> A:
        """Return the legal action that `raw` describes; raise MalformedReply or IllegalAction with a sentence."""

    def apply(self, state: S, actions: Mapping[Seat, A]) -> S:
        """Return the state after the deciding seats acted; every action must come from `legal` or `parse`."""

    def resolve(self, state: S, drawn: tuple[int, ...]) -> S:
        """Return the state after chance; `drawn` is an outcome of the kind that `turn` asked for."""

    def outcome(self, state: S) -> Outcome:
        """Return scores and ranks of a state whose turn is `Over`."""

    def sample(self, state: S, seat: Seat, rng: Randomness) -> A:
        """Return some legal action, for tests and baseline bots."""

    def describe(self, state: S, names: Sequence[str] = ()) -> str:
        """Describe the state for a person, in several lines; `names`, by seat, replace `seat 0`, `seat 1`."""

    def picture(self, state: S) -> str:
        """Return the state as an SVG document. It has the colour of a seat by `arena.games.looks.seat_colour`."""


LEAST_VALUE: Final = -0.25
"""The least payoff that a value function may expect for a seat; all seats together have 1."""


class ValueFunction(Protocol[S]):
    """Optional capability `value`: an estimate of what a position is worth, to tell luck from skill.

    The estimate may be poor, but luck measured with it has mean 0 only if it is fair: it looks at nothing that is still
    to be drawn or turned up, and a position that waits for luck is worth exactly the mean over its outcomes, with the
    probabilities of the draw. No payoff it expects is below `LEAST_VALUE`: an estimate may leave 0 to 1 a little.
    """

    version: ClassVar[str]
    """Changes whenever any value does: luck is comparable only under one version."""

    def __call__(self, state: S) -> tuple[float, ...]:
        """Return the expected payoff of each seat, in any state: 1 for a win, a tie shared, all seats together 1.

        After the end it is the payoff itself.
        """

    def before_reveal(self, before: S, after: S) -> S | None:
        """Return `after` with the cards that the decision in `before` turned up still hidden; None if there are none.

        A card turned up is luck too, though it was drawn long ago; the returned state waits for it.
        """


class FaultPolicy(Protocol):
    """Optional capability `fault_policy`: a refused answer may be given once more, then a fallback action is played.

    Without it every fault forfeits the match.
    """

    def fallback_action(self, state: Any, seat: Seat) -> Any:
        """Return the action played for `seat`; `parse` takes it in every state in which the seat must act.

        A simulator is not asked whether it is possible: see to it that the game goes on with it.
        """


ENDLESS: Final = 10**9
"""A budget that nobody uses up."""


class Simulator(Protocol):
    """Optional capability `simulator`: a simulated world, the part of a game that is not rules.

    Pure like the rules: the same arguments give the same bytes, in any process and order, as long as the fingerprint
    is the same. A simulation may be slow (a tenth of a second), and its engine may not be installed: then every method
    raises SpecError, which names the extra to install.
    """

    def fingerprint(self) -> dict[str, str]:
        """Return all that results depend on besides the arguments.

        That is `engine` (name and version), platform, parameters, and a canary.
        """

    def require(self, state: Any, seat: Seat, action: Any) -> None:
        """Raise IllegalAction, with the reason, if the world has no room for an action that the rules allow."""

    def simulate(self, state: Any) -> Json:
        """Return the result in a state whose turn is a `Simulation`, as plain JSON values."""

    def apply_result(self, state: Any, result: Json) -> Any:
        """Return the state after that result; ValueError if it cannot have come from this state."""

    def describe_result(self, before: Any, result: Json, after: Any) -> str:
        """Describe a simulation in a sentence for a person: its state, its result, and the state it led to.

        Like `apply_result` it needs nothing installed. If the text is empty, the key of the simulation stands in its
        place.
        """

    def budget(self, state: Any) -> int:
        """Return the total cost of the `what_if` questions that a bot may ask in one request; 0 if it may ask none."""

    def what_if(self, state: Any, seat: Seat, question: Mapping[str, Json], left: int = ENDLESS) -> dict[str, Json]:
        """Answer a question of a bot about an action; nothing that `seat` may not know goes into the answer.

        The answer costs no more than `left` of the budget. Raises IllegalAction or MalformedReply, as for an action;
        such a fault says what it cost (`BotFault.cost`).
        """

    def distance(self, state: Any, one: Json, other: Json) -> str:
        """Describe how far two results for the same state are apart; an empty text if they are the same."""


class BookReader(Protocol):
    """Optional capability `openings`: a match may begin with an opening of a book.

    `setup` takes an opening as the option OPENING, and a book as the option BOOK, which changes nothing.
    """

    def read(self, book: str) -> Iterable[dict[str, Json]]:
        """Return the openings in the text of a book, in its order.

        SpecError names one that cannot be played, perhaps only when it is reached.
        """


class Filming(Protocol):
    """Optional method of a simulator: the movement behind a result, for the drawing module of the game in a browser."""

    def frames(self, state: Any, result: Json) -> Json:
        """Return the movement behind a result as plain JSON values with `seconds`, in a state that waits for it.

        None if the simulation cannot run here, or comes out differently.
        """


class Priced(Protocol):
    """Optional method of a simulator whose questions differ in cost; without it each costs 1 of the budget."""

    def cost(self, answer: dict[str, Json]) -> int:
        """Return the cost of an answer of `what_if`, at least 1."""


# Never branch on a game's name. These accessors return None (or an empty dict, or the general way) if the capability is
# absent.


def observer_of(game: Game[S, Any]) -> Callable[[S, Seat], Any]:
    """Return the function that makes a bot's view of a seat: the optional method `view_for_bots`, or `observe`.

    Both give the same JSON; `view_for_bots` returns a value that is written faster than dicts.
    """
    return cast("Callable[[S, Seat], Any]", getattr(game, "view_for_bots", game.observe))


def value_of(game: Game[S, Any]) -> ValueFunction[S] | None:
    """Return the value function of the game; None if it has none."""
    return cast("ValueFunction[S] | None", getattr(game, "value", None))


def fault_policy_of(game: Game[Any, Any]) -> FaultPolicy | None:
    """Return the fault policy of the game; None if it has none."""
    return cast("FaultPolicy | None", getattr(game, "fault_policy", None))


def openings_of(game: Game[Any, Any]) -> BookReader | None:
    """Return the reader of books of the game; None if its matches have no openings."""
    return cast("BookReader | None", getattr(game, "openings", None))


Heard = Callable[[S, Seat, A], Sequence[Json]]


def heard_of(game: Game[S, A]) -> Heard[S, A] | None:
    """Return the optional method `heard(state, seat, action)` of a game with private actions: by seat, JSON values.

    The value of another seat takes the place of the action in the event that it gets; with None it gets no event. The
    value of the acting seat is ignored. Without the method all seats hear every action. Rule: two actions that a seat
    cannot tell apart by its views give it equal values.
    """
    return cast("Heard[S, A] | None", getattr(game, "heard", None))


MayKnow = Callable[[S, Seat, str, int], bool]


def may_know_of(game: Game[S, Any]) -> MayKnow[S] | None:
    """Return the optional method `may_know(state, seat, key, item)`: True if the seat may know an item of a draw.

    `key` is that of a hidden draw, and `item` a place in its outcome, from 0. A seat that may know an item
    may know it for ever. `arena check-game` tries that no view depends on an item before that.
    """
    return cast("MayKnow[S] | None", getattr(game, "may_know", None))


def describe_for(game: Game[S, Any], state: S, seat: Seat, names: Sequence[str]) -> str:
    """Describe the state for the person in that seat, by the game's optional method of that name.

    A game that hides something has it, and leaves out all that the seat may not know; for others it is `describe`.
    """
    describe = getattr(game, "describe_for", None)
    return game.describe(state, names) if describe is None else cast(str, describe(state, seat, names))


def is_simultaneous(game: Game[Any, Any]) -> bool:
    """Return True if several seats may have to act at once: the game's optional attribute of that name."""
    return bool(getattr(game, "is_simultaneous", False))


def simulator_of(game: Game[Any, Any]) -> Simulator | None:
    """Return the simulator of the game; None if it has none."""
    return cast("Simulator | None", getattr(game, "simulator", None))


def filming_of(game: Game[Any, Any]) -> Filming | None:
    """Return the simulator of the game if it can show the movement behind a result; else None."""
    simulator = simulator_of(game)
    return cast(Filming, simulator) if hasattr(simulator, "frames") else None


def cost_of(simulator: Simulator, answer: dict[str, Json]) -> int:
    """Return the part of the budget that an answer of `what_if` cost: 1 if the simulator has no prices."""
    return cast(Priced, simulator).cost(answer) if hasattr(simulator, "cost") else 1


def require_simulator(game: Game[Any, Any]) -> None:
    """Raise SpecError, with the extra to install, if the game's simulator cannot run here."""
    if (simulator := simulator_of(game)) is not None:
        simulator.fingerprint()


def game_info_of(game: Game[Any, Any], options: Mapping[str, Json], seats: int) -> dict[str, Json]:
    """Return the constants that a bot gets once: the game's optional method `game_info(options, seats)`.

    Empty without the method.
    """
    info = getattr(game, "game_info", None)
    return {} if info is None else cast(dict[str, Json], info(options, seats))


def news_of(game: Game[S, Any], before: S, after: S, names: Sequence[str]) -> tuple[str, ...]:
    """Return lines for a person about what a step led to: the optional method `news(before, after, names)`.

    Such as who won what, and why. A line that begins with HEADING opens a part of the match, such as a round. Without
    the method there are none.
    """
    news = getattr(game, "news", None)
    return () if news is None else cast(tuple[str, ...], news(before, after, names))


def points_of(game: Game[S, Any], state: S) -> tuple[tuple[int | Fraction, int | Fraction], ...]:
    """Return by seat the points by now, and those if the current round ended here: the optional method `points(state)`.

    A game without rounds gives the same number twice. Without the method the tuple is empty.
    """
    points = getattr(game, "points", None)
    return () if points is None else cast("tuple[tuple[int | Fraction, int | Fraction], ...]", points(state))


def points_unit_of(game: Game[Any, Any]) -> str:
    """Return the plural of what the points of the game count, by the optional attribute `points_unit`."""
    return cast(str, getattr(game, "points_unit", "points"))


def trial_options_of(game: Game[Any, Any]) -> tuple[dict[str, Json], ...]:
    """Return options, besides the default ones, under which a new bot is tried: those with other actions or views.

    They are the game's optional attribute `trial_options`.
    """
    return cast("tuple[dict[str, Json], ...]", getattr(game, "trial_options", ()))


def action_numbers_of(game: Game[S, A], options: Mapping[str, Json], seats: int) -> dict[A, int] | None:
    """Return the number of each action for programs that learn: the optional method `all_actions(options, seats)`.

    It lists all actions of the variant in a fixed order: each legal action of any state is equal to one of them. None
    without the method.
    """
    list_all = getattr(game, "all_actions", None)
    return None if list_all is None else {action: number for number, action in enumerate(list_all(options, seats))}


def encoder_of(game: Game[Any, Any]) -> Callable[[Json], Any] | None:
    """Return the optional static method `encode(view)`: the view of a seat as numbers, for programs that learn.

    It gives a list of numbers, or lists within lists, of one shape for each variant; a ValueError says why a variant
    has none. It follows from the view alone, as `observe` gives it or as a bot reads it. A function that uses no name
    of its module serves in a bot, too: `arena new-bot --policy` copies its source.
    """
    return cast("Callable[[Json], Any] | None", getattr(game, "encode", None))


def summary_of(game: Game[Any, Any]) -> str:
    """Return the rules in some lines for a person, by the optional attribute `summary`; empty without it."""
    return cast(str, getattr(game, "summary", ""))


def with_names(text: str, names: Sequence[str]) -> str:
    """Replace `seat 0`, `seats 0, 1 or 2` in the text by names; a phrase with a seat that has no name stays."""

    def replace(match: re.Match[str]) -> str:
        seats = [int(digits) for digits in re.findall(r"\d+", match[0])]
        if max(seats) >= len(names):
            return match[0]
        return re.sub(r"\d+", lambda seat: names[int(seat[0])], match[0].partition(" ")[2])

    return _SEATS.sub(replace, text)


def picture_with_names(game: Game[S, Any], state: S, names: Sequence[str], league: Sequence[str] = ()) -> str:
    """Return the picture of a state in the colours of the players, with names in place of `seat 0`; long ones are cut.

    `league`: the players of the league, which give the colours.
    """
    picture = paint_seats(game.picture(state), looks_of(names, league))
    return with_names(picture, [escape(printable(shorten(name, SHORT_NAME_MAX))) for name in names])


def read_action(raw: Json, kind: Any, *, game: str, hint: str) -> Any:
    """Convert `raw` to the type `kind` of the actions of `game`; MalformedReply tells what is wrong with it."""
    return read_form(raw, kind, place=f"not an action of {game}", hint=hint)


def read_form(raw: Json, kind: Any, *, place: str, hint: str) -> Any:
    """Convert `raw` to the type `kind`; MalformedReply tells what is wrong, after the words of `place`."""
    try:
        return msgspec.convert(raw, type=kind)
    except (msgspec.ValidationError, UnicodeEncodeError):
        raise MalformedReply(validation.first_mistake(raw, kind, place=place), hint=hint) from None


def ranks_by_score(scores: Sequence[int | Fraction]) -> tuple[int, ...]:
    """Rank seats from 0, the highest score; equal scores share the better rank: (7, 9, 7) -> (1, 0, 1)."""
    return tuple(sum(other > score for other in scores) for score in scores)
