"""`arena check-game`: each check finds the mistake that it is there for, in a sentence, and none in a good game."""

# ruff: noqa: ARG002, RUF012 - games that do not look at all they get

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from random import choice
from typing import Any

import msgspec
import pytest
from support.conformance_goofspiel import NextPrize
from support.conformance_values import BROKEN_VALUES, SOUND_VALUES
from support.golden import Golden

from arena.conformance.game import CHECKS, check_game, difference_elsewhere, findings
from arena.conformance.play import AnyGame, played_table
from arena.errors import BotFault
from arena.games.api import Chance, Decision, Json, Outcome, Over, Seat, Shuffle, Turn, Weighted
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


class PlainPoints(ConnectFour):
    def points(self, state: Board) -> tuple[int, ...]:
        return (0, 0)


class OneLine(ConnectFour):
    def news(self, before: Board, after: Board, names: Sequence[str]) -> str:
        return f"{names[1]} has lost"


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


BROKEN: dict[str, tuple[type[Any], ...]] = {
    "setup refuses what cannot be played": (AcceptsOptions,),
    "turns are whole, and no key of luck comes twice": (RepeatsKey, HalfWeights),
    "legal actions are listed once, in a fixed order": (ListsTwice,),
    "a seat that does not decide can do nothing": (ListsForOthers,),
    "each action survives its JSON form and has a line of text": (SameText,),
    "nothing that a bot sends makes the game fail": (Trusting,),
    "the game is pure: states stay as they are, the same leads to the same": (Random,),
    "views are plain JSON, and the reader's own": (SharedView,),
    "states can be described and drawn": (Mute, PlainPoints, OneLine),
    "outcomes are exact, ranks fit": (Floats,),
    "optional capabilities keep their word": (WrongFallback,),
    "private actions stay private": (HiddenMoves,),
    "a draw that is not public hides something": (OpenCards,),
    "the text for a person hides what their view hides": (OpenText,),
    "legal actions tell nothing that a view hides": (TellingLegal,),
    "no view tells of a hidden draw before its seat may know": (OpenCards, NextPrize),
    "each action has a number": (UnlistedActions, ShuffledActions, NumbersTwice),
    "views are encoded in one shape, and alike": (GrowingCode, RaggedCode, NumberlessCode, CountingCode, GreedyCode),
    **BROKEN_VALUES,
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


@pytest.mark.parametrize("kind", [ConnectFour, KuhnPoker, WhisperedMoves, *SOUND_VALUES])
def test_a_good_game_passes(kind: type[AnyGame]) -> None:
    """A good game passes every check, in order."""
    parts = list(check_game(kind()))

    assert [part.title for part in parts[1:] if not part.to_read] == list(CHECKS)
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


class Turnless(ConnectFour):
    def turn(self, state: Board) -> Turn:
        return None  # type: ignore[return-value]


ENDLESS = "play 1 has not ended after 20000 steps; the last state: seat 1 to move (x is seat 0, o is seat 1); . . ."


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (Endless, ENDLESS),
        (Turnless, "turn: found None, expected a Decision, Chance, Over, or a Simulation with a simulator"),
        (Failing, "a play failed: KeyError: 'disc' ("),
    ],
)
def test_a_game_that_cannot_be_played_is_told_once(kind: type[AnyGame], told: str) -> None:
    """A game that cannot be played gives one finding, and no other check is tried."""
    (part,) = check_game(kind())

    assert part.findings[0].startswith(told)
    assert ".py" not in part.findings[0] or kind is Failing


def test_a_fault_that_a_check_does_not_expect_is_a_sentence(golden: Golden) -> None:
    """An unexpected exception of a game becomes a sentence with the line that failed."""

    class NoPicture(ConnectFour):
        def picture(self, state: Board) -> str:
            raise BotFault("no ink")

    (sentence,) = findings(CHECKS["states can be described and drawn"], played_table(NoPicture(), 2))

    golden(sentence, without=r"line \d+")


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
def test_numbers_that_other_processes_give_otherwise_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """A trained network would play by other actions and views than it has learned."""
    (tmp_path / "numbers_by_hash.py").write_text(BY_HASH)
    monkeypatch.setenv("ARENA_TRUST_CODE", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))

    for name in ("ByHash", "CodedByHash"):
        found = difference_elsewhere(f"numbers_by_hash:{name}", {})
        golden(found)
    assert difference_elsewhere("connect_four", {}) == ""
