"""`arena check-game`: each check finds the mistake that it is there for, in a sentence, and none in a good game."""

# ruff: noqa: ARG002, RUF012 - games that do not look at all they get

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from random import choice
from typing import Any, Literal, cast

import msgspec
import pytest

from arena.conformance.game import CHECKS, check_game, difference_elsewhere, findings
from arena.conformance.play import AnyGame, played_table
from arena.errors import BotFault
from arena.games.api import Chance, Decision, Json, Outcome, Over, Seat, Shuffle, Turn, Weighted, ranks_by_score
from arena.games.base import BaseGame, NoOptions
from arena.games.connect_four import ConnectFour, Drop
from arena.games.connect_four import State as Board
from arena.games.kuhn_poker import KuhnPoker, Move
from arena.games.kuhn_poker import State as Hand


class AcceptsOptions(ConnectFour):
    def read_options(self, options: Mapping[str, Json], seats: int, kind: Any) -> Any:
        return None


class RepeatsKey(KuhnPoker):
    def turn(self, state: Hand) -> Turn:
        return Chance("deal", Shuffle(3), is_public=False) if not state.moves else super().turn(state)

    def resolve(self, state: Hand, drawn: tuple[int, ...]) -> Hand:
        return Hand(drawn[:2], () if not state.cards else ("check", "check"))


class HalfWeights(KuhnPoker):
    def turn(self, state: Hand) -> Turn:
        return super().turn(state) if state.cards else Chance("deal", Weighted((1, 0, -1 + 1, True)))

    def resolve(self, state: Hand, drawn: tuple[int, ...]) -> Hand:
        return super().resolve(state, (0, 1, 2))


class ListsTwice(ConnectFour):
    def legal(self, state: Board, seat: Seat) -> tuple[Drop, ...]:
        return super().legal(state, seat) * 2


class ListsForOthers(ConnectFour):
    def legal(self, state: Board, seat: Seat) -> tuple[Drop, ...]:
        return super().legal(state, state.to_move)


class SameText(ConnectFour):
    def parse(self, state: Any, seat: Seat, raw: Json) -> Any:
        super().parse(state, seat, raw)
        return self.legal(state, seat)[0]


class Trusting(ConnectFour):
    def parse(self, state: Any, seat: Seat, raw: Json) -> Any:
        return Drop(raw["column"])


class Random(ConnectFour):
    def apply(self, state: Board, actions: Mapping[Seat, Drop]) -> Board:
        return super().apply(state, {state.to_move: choice(self.legal(state, state.to_move))})


class SharedView(ConnectFour):
    kept: dict[str, Json] = {"board": [0]}

    def observe(self, state: Board, seat: Seat) -> dict[str, Json]:
        return self.kept


class Mute(ConnectFour):
    def describe(self, state: Board, names: Sequence[str] = ()) -> str:
        return "\x1b[31m"


class Floats(ConnectFour):
    def outcome(self, state: Board) -> Outcome:
        return Outcome(scores=(0.5, 0.5), ranks=(1, 1))  # type: ignore[arg-type]


class Fallback:
    def fallback_action(self, _state: Any, _seat: Seat) -> Drop:
        return Drop(9)


class WrongFallback(ConnectFour):
    fault_policy = Fallback()


class HiddenMoves(KuhnPoker):
    """The moves stand in no view before the end, and yet are told."""

    encode = None  # type: ignore[assignment]

    def observe(self, state: Hand, seat: Seat) -> dict[str, Json]:
        seen = super().observe(state, seat)
        return seen if isinstance(self.turn(state), Over) else seen | {"moves": len(state.moves)}


class WhisperedMoves(HiddenMoves):
    """The same with `heard`: a mistake no more."""

    def legal(self, state: Hand, seat: Seat) -> tuple[Move, ...]:
        return super().legal(state, seat)

    def heard(self, state: Hand, seat: Seat, action: Move) -> tuple[Json, ...]:
        return (None, None)


class OpenCards(KuhnPoker):
    def observe(self, state: Hand, seat: Seat) -> dict[str, Json]:
        return super().observe(state, seat) | {"cards": list(state.cards)}


class OpenText(KuhnPoker):
    """A person at the table would read the other card."""

    describe_for = None  # type: ignore[assignment]


class TellingLegal(KuhnPoker):
    """The jack of the other seat shows in what a seat may do."""

    def legal(self, state: Hand, seat: Seat) -> tuple[Move, ...]:
        found = super().legal(state, seat)
        return found[:1] if found and state.cards[1 - seat] == 0 else found


class UnlistedActions(ConnectFour):
    """The last column has no number."""

    def all_actions(self, _options: Mapping[str, Json], _seats: int) -> tuple[Drop, ...]:
        return tuple(map(Drop, range(6)))


class ShuffledActions(ConnectFour):
    """The numbers are others each time."""

    calls = 0

    def all_actions(self, options: Mapping[str, Json], seats: int) -> tuple[Drop, ...]:
        self.calls += 1
        return super().all_actions(options, seats)[:: (-1) ** self.calls]


class NumbersTwice(ConnectFour):
    def all_actions(self, options: Mapping[str, Json], seats: int) -> tuple[Drop, ...]:
        return (*super().all_actions(options, seats), Drop(0))


class GrowingCode(KuhnPoker):
    """The shape grows with the moves."""

    @staticmethod
    def encode(view: Json) -> Json:
        return [float(len(move)) for move in ("", *view["moves"])]


class RaggedCode(ConnectFour):
    @staticmethod
    def encode(view: Json) -> Json:
        return [[1.0], [2.0] * (2 + view["you"])]


class NumberlessCode(ConnectFour):
    @staticmethod
    def encode(view: Json) -> Json:
        return [float("nan"), float(view["you"])]


class CountingCode(ConnectFour):
    """The code follows from more than the view."""

    seen: list[Json] = []

    @staticmethod
    def encode(view: Json) -> Json:
        CountingCode.seen.append(view)
        return [float(len(CountingCode.seen))]


class GreedyCode(ConnectFour):
    """The view that it gets is used up."""

    @staticmethod
    def encode(view: Json) -> Json:
        return [float(len(view.pop("board", ())))]


class Forgetful(ConnectFour):
    """A record of it is replayed to another end: scores are not whole, and not those of the record."""

    ends = 0

    def outcome(self, state: Board) -> Outcome:
        self.ends += 1
        return Outcome(scores=(Fraction(1, self.ends), 0), ranks=(0, 1))


class EvenValue:
    """Before the end each seat is worth the same."""

    version = "1"
    game: Any = ConnectFour()

    def __call__(self, state: Any) -> tuple[float, ...]:
        if not isinstance(self.game.turn(state), Over):
            return (0.5, 0.5)
        ranks = self.game.outcome(state).ranks
        return tuple((rank == 0) / ranks.count(0) for rank in ranks)

    def before_reveal(self, before: Any, after: Any) -> Any:
        return None


class Valued(ConnectFour):
    """A sound value, though a poor one."""

    value: Any = EvenValue()


def valued(name: str, value: Callable[[Any], Any]) -> type[Any]:
    """Connect Four with that value of a position that goes on, and of one that has ended."""
    kind = type(f"{name}Value", (EvenValue,), {"__call__": lambda _, state: value(state)})
    return type(name, (ConnectFour,), {"value": kind()})


class Moving(EvenValue):
    """Another value each time, but after the end."""

    calls = 0

    def __call__(self, state: Any) -> tuple[float, ...]:
        self.calls += 1
        first, second = super().__call__(state)
        drift = first * second * self.calls / 1e6
        return first + drift, second - drift


class MovedValue(ConnectFour):
    value = Moving()


class Changing(EvenValue):
    """The state that it looks at is changed."""

    game = KuhnPoker()

    def __call__(self, state: Any) -> tuple[float, ...]:
        found = super().__call__(state)
        state.marks.append(1)
        return found


class MarkedHand(Hand, frozen=True):
    """A hand with something in it that can be changed."""

    marks: list[int] = []


class ChangedByValue(KuhnPoker):
    value = Changing()

    def setup(self, options: Mapping[str, Json], seats: int) -> Hand:
        super().setup(options, seats)
        return MarkedHand()

    def resolve(self, state: Hand, drawn: tuple[int, ...]) -> Hand:
        return MarkedHand(drawn[:2], state.moves)

    def apply(self, state: Hand, actions: Mapping[Seat, Move]) -> Hand:
        return MarkedHand(state.cards, (*state.moves, actions[state.to_move].do))


class Unversioned(ConnectFour):
    value = lambda _, state: EvenValue()(state)  # noqa: E731 - a value that is a function has no version


class Flip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The next card is turned up; after the last one, the match is ended."""

    do: Literal["flip"]

    def __str__(self) -> str:
        return "goes on"


class Deck(msgspec.Struct, frozen=True):
    """The whole deck once it is shuffled, and the cards of it that were turned up, in turn one for each seat."""

    cards: tuple[int, ...] = ()
    up: int = 0
    is_over: bool = False


class Flips(BaseGame):
    """Four cards of a deck are turned up, one after the other; the higher sum wins. Nobody has a choice."""

    name = "flips"
    rules_version = "1"
    seat_counts = (2,)
    action_type = Flip
    size = 8

    def setup(self, options: Mapping[str, Json], seats: int) -> Deck:
        self.read_options(options, seats, NoOptions)
        return Deck()

    def turn(self, state: Deck) -> Turn:
        if not state.cards:
            return Chance("deck", Shuffle(self.size), is_public=False)
        return Over() if state.is_over else Decision((Seat(state.up % 2),))

    def observe(self, state: Deck, seat: Seat) -> dict[str, Json]:
        return {"you": seat, "up": list(state.cards[: state.up]), "is_over": state.is_over}

    def legal(self, state: Deck, seat: Seat) -> tuple[Flip, ...]:
        return (Flip("flip"),) if self.turn(state) == Decision((seat,)) else ()

    def resolve(self, state: Deck, drawn: tuple[int, ...]) -> Deck:
        return Deck(drawn)

    def apply(self, state: Deck, actions: Mapping[Seat, Flip]) -> Deck:
        return Deck(state.cards, state.up + (state.up < 4), is_over=state.up == 4)

    def outcome(self, state: Deck) -> Outcome:
        scores = tuple(sum(state.cards[seat:4:2]) for seat in (0, 1))
        return Outcome(scores=scores, ranks=ranks_by_score(scores))

    def describe(self, state: Deck, names: Sequence[str] = ()) -> str:
        return f"turned up: {state.cards[: state.up]}"


class FlipsValue(EvenValue):
    """Points count a hundredth of a win until the match is over: those turned up, and the mean for those to come."""

    def __init__(self, game: Flips, **broken: Any) -> None:
        self.game, self.broken = game, broken

    def __call__(self, state: Deck) -> tuple[float, ...]:
        if state.is_over:
            return super().__call__(state)
        known = state.cards[: self.broken.get("known", state.up)]
        to_come = (sum(range(self.game.size)) - sum(known)) / (self.game.size - len(known))
        margin = sum((-1) ** at * (known[at] if at < len(known) else to_come) for at in range(4))
        first = 0.5 + margin / 100 + self.broken.get("error", 0) * (bool(state.cards) and state.up == 0)
        return first, 1 - first

    def before_reveal(self, before: Deck, after: Deck) -> Deck | None:
        reveal = self.broken.get("reveal", lambda before, after: None if after.is_over else before)
        return cast("Deck | None", reveal(before, after))


def flips(name: str, size: int = 8, **broken: Any) -> type[Any]:
    """Flips with a value: a fair one, unless it is told what is broken."""
    kind: type[Any] = type(name, (Flips,), {"size": size})
    kind.value = FlipsValue(kind(), **broken)
    return kind


class UnfairDeal(KuhnPoker):
    """The match begins as if seat 0 had won it, though the deal is fair: luck would always be bad for it."""

    class Worth(EvenValue):
        game = KuhnPoker()

        def __call__(self, state: Hand) -> tuple[float, ...]:
            return super().__call__(state) if state.cards else (1.0, 0.0)

    value = Worth()


BROKEN: dict[str, tuple[type[Any], ...]] = {
    "setup refuses what cannot be played": (AcceptsOptions,),
    "turns are whole, and no key of luck comes twice": (RepeatsKey, HalfWeights),
    "legal actions are listed once, in a fixed order": (ListsTwice,),
    "a seat that does not decide can do nothing": (ListsForOthers,),
    "each action survives its JSON form and has a line of text": (SameText,),
    "nothing that a bot sends makes the game fail": (Trusting,),
    "the game is pure: states stay as they are, the same leads to the same": (Random,),
    "views are plain JSON, and the reader's own": (SharedView,),
    "states can be described and drawn": (Mute,),
    "outcomes are exact, ranks fit": (Floats,),
    "optional capabilities keep their word": (WrongFallback,),
    "private actions stay private": (HiddenMoves,),
    "a draw that is not public hides something": (OpenCards,),
    "the text for a person hides what their view hides": (OpenText,),
    "legal actions tell nothing that a view hides": (TellingLegal,),
    "each action has a number": (UnlistedActions, ShuffledActions, NumbersTwice),
    "views are encoded in one shape, and alike": (GrowingCode, RaggedCode, NumberlessCode, CountingCode, GreedyCode),
    "a value is a payoff for each seat": (
        valued("OneNumber", lambda _: 0.5),
        valued("ThreeSeats", lambda _: (0.5, 0.25, 0.25)),
        valued("NoNumber", lambda _: (float("nan"), 0.5)),
        valued("NotWhole", lambda _: (0.5, 0.4)),
        valued("TooLow", lambda _: (-0.3, 1.3)),
        valued("NeverOver", lambda _: (0.5, 0.5)),
        MovedValue,
        ChangedByValue,
        Unversioned,
    ),
    "a value that waits for luck is the mean over what can fall": (
        UnfairDeal,
        flips("SampledUnfair", error=0.3),
    ),
    "a value knows nothing that is yet to be turned up": (
        flips("KnowsDeck", known=4),
        flips("KnowsSmallDeck", size=5, known=4),
        flips("ShowsCard", reveal=lambda _, after: after),
        flips("ShowsSometimes", reveal=lambda before, after: before if after.cards[after.up - 1] > 3 else None),
        flips("UnfairReveal", reveal=lambda before, _: Deck(before.cards[::-1], 0), error=0.3),
        flips("UnfairSmall", size=5, error=0.001),
    ),
    "a stored match is replayed to the same end": (Forgetful,),
}
CASES = [(title, game) for title, games in BROKEN.items() for game in games]


def test_there_is_a_broken_game_for_each_check() -> None:
    """No check is there that cannot fail."""
    assert list(BROKEN) == list(CHECKS)


@pytest.mark.parametrize(("title", "kind"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_broken_promise_is_told_in_a_sentence(title: str, kind: type[AnyGame]) -> None:
    """A few of them, each in a line, and by the check of that promise."""
    found = findings(CHECKS[title], played_table(kind(), 2))

    assert 1 <= len(found) <= 3
    assert all(len(sentence) > 20 and "\n" not in sentence for sentence in found)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (MovedValue, "play 3, step 27: the value is another one when it is asked again"),
        (ChangedByValue, "play 1, step 1: the value changes the state that it looks at"),
        (
            UnfairDeal,
            "play 1, step 1: before the draw deal seat 0 is worth 1, expected 0.5, the mean over all outcomes",
        ),
        (flips("Sampled", error=0.3), "seat 0 is worth 0.8, expected about 0.498, the mean over 40 of the outcomes"),
        (flips("Small", size=5, error=0.001), "seat 0 is worth 0.501, expected 0.5, the mean over all outcomes"),
        (flips("Knows", known=4), "play 1, step 2, after deck: the value knows what is hidden from all seats"),
        (flips("Shows", reveal=lambda _, after: after), "before_reveal shows the value what was turned up"),
    ],
)
def test_the_mistake_of_a_value_is_named(kind: type[AnyGame], told: str) -> None:
    """What it is worth, and what it should be."""
    table = played_table(kind(), 2)

    found = [sentence for title, check in CHECKS.items() if "value" in title for sentence in findings(check, table)]

    assert any(told in sentence for sentence in found), found


@pytest.mark.parametrize(
    "kind", [ConnectFour, KuhnPoker, WhisperedMoves, Valued, flips("Flips8"), flips("Flips5", size=5)]
)
def test_a_good_game_passes(kind: type[AnyGame]) -> None:
    """With every check, in order."""
    parts = list(check_game(kind()))

    assert [part.title for part in parts[1:]] == list(CHECKS)
    assert [part for part in parts if part.findings] == []


def test_a_draw_may_be_shown_by_views_alone_where_no_seat_hears_of_anything() -> None:
    """A game that tells all by its views need not know which of its draws everybody sees."""

    class SilentOpenCards(OpenCards):
        def heard(self, state: Hand, seat: Seat, action: Move) -> Sequence[None]:
            return (None, None)

    title = "a draw that is not public hides something"
    assert findings(CHECKS[title], played_table(SilentOpenCards(), 2)) == ()
    assert findings(CHECKS[title], played_table(OpenCards(), 2))


class Endless(ConnectFour):
    def turn(self, state: Board) -> Turn:
        return Decision((state.to_move,))

    def apply(self, state: Board, actions: Mapping[Seat, Drop]) -> Board:
        return msgspec.structs.replace(state, to_move=Seat(1 - state.to_move))


class Failing(ConnectFour):
    def apply(self, state: Board, actions: Mapping[Seat, Drop]) -> Board:
        raise KeyError("disc")


@pytest.mark.parametrize(("kind", "told"), [(Endless, "has not ended after"), (Failing, "KeyError: 'disc'")])
def test_a_game_that_cannot_be_played_is_told_once(kind: type[AnyGame], told: str) -> None:
    """And no other check is tried."""
    (part,) = check_game(kind())

    assert told in part.findings[0]


def test_a_fault_that_a_check_does_not_expect_is_a_sentence() -> None:
    """With the line that failed."""

    class NoPicture(ConnectFour):
        def picture(self, state: Board) -> str:
            raise BotFault("no ink")

    (sentence,) = findings(CHECKS["states can be described and drawn"], played_table(NoPicture(), 2))

    assert sentence.startswith("the game failed: BotFault: no ink (")


BY_HASH = """
from arena.games.connect_four import ConnectFour, Drop

class ByHash(ConnectFour):
    name = "by_hash"

    def all_actions(self, options, seats):
        return tuple(Drop(column) for column in sorted(range(7), key=lambda column: hash(f"column {column}")))

class CodedByHash(ConnectFour):
    name = "coded_by_hash"

    @staticmethod
    def encode(view):
        return [float(hash(view["board"][0]))]
"""


@pytest.mark.process
def test_numbers_that_other_processes_give_otherwise_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trained network would play by other actions and views than it has learned."""
    (tmp_path / "numbers_by_hash.py").write_text(BY_HASH)
    monkeypatch.setenv("ARENA_TRUST_CODE", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))

    for name in ("ByHash", "CodedByHash"):
        found = difference_elsewhere(f"numbers_by_hash:{name}", {})
        assert found.endswith("it depends on the order of a set, or on a hash"), found
    assert difference_elsewhere("connect_four", {}) == ""
