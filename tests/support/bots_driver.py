"""A small referee for the tests of the bots: real processes, the real messages, the rules and the luck, and no clock.

Rule: every read has a deadline; answers are decoded as strictly as the protocol says.
"""

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgspec
import pytest
import yaml

from arena.games import load_game
from arena.games.api import Chance, Decision, Seat
from arena.games.luck import draw
from arena.operations.new_bot import KITS
from arena.protocol import messages as m

BOTS: Final = Path(__file__).resolve().parents[2] / "bots"
KIT_BOTS: Final = Path(__file__).parents[1] / "bots" / "kits"
"""Bots on each kit that say a text of the view as their note, and take the action that the view names."""
QUICK: Final = ("python", "perl")
"""Languages whose kits are tried in every run; compilers, and those that start slowly, in a lane."""
LANGUAGES: Final = [each if each in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in KITS]
TEMPLATES: Final = [
    f"templates/{each}" if each in QUICK else pytest.param(f"templates/{each}", marks=pytest.mark.slow) for each in KITS
]
Prepare = Callable[[str], Path]
"""The fixture `prepare`."""
DEADLINE_S: Final = 20.0
LIMITS: Final = m.LineLimits(line_to_bot=2**20, line_from_bot=2**16, startup_ms=10_000)
CLOCK: Final = m.ClockTerms(decides="cpu", move_ms=100, bank_ms=1000, wall_ms=2000)
NO_OPTIONS: Final[Mapping[str, Any]] = {}
EXPANSIONS: Final = ("crazy_captain", "no_shanghai", "sharks", "doubles")
# Options of Shanghaien with every set of expansions: first none, last all.
VARIANTS: Final[list[dict[str, Any]]] = [
    {"expansions": list(chosen)} for size in range(len(EXPANSIONS) + 1) for chosen in combinations(EXPANSIONS, size)
]
ANSWERS: Final = msgspec.json.Decoder(m.FromBot)


class Bot:
    """A running bot, of the command in its bot.yaml with more `arguments`; as a context it is ended on the way out."""

    def __init__(self, folder: Path, arguments: Sequence[str] = ()) -> None:
        words = [*yaml.safe_load((folder / "bot.yaml").read_text())["command"], *arguments]
        if words[0] == "python3":
            words[0] = sys.executable
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__; a pipe could fill up
        self._process = subprocess.Popen(
            words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, bufsize=0
        )
        self._unread, self.deadline_s = b"", DEADLINE_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.end()

    def end(self) -> None:
        """Kills the process and lets go of its pipes."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            assert stream is not None
            stream.close()

    def send(self, message: Any) -> None:
        """A message, plain JSON data, or the bytes of a line without its end."""
        line = message if isinstance(message, bytes) else msgspec.json.encode(message)
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")

    def line(self) -> bytes:
        """The next line of stdout, empty at its end."""
        assert self._process.stdout is not None
        deadline = time.monotonic() + self.deadline_s
        while b"\n" not in self._unread:
            readable, _, _ = select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            assert readable, f"no line within {self.deadline_s} s"
            chunk = os.read(self._process.stdout.fileno(), 65536)
            if not chunk:
                break
            self._unread += chunk
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def ask(self, message: Any) -> Any:
        """The decoded answer to a message that wants one."""
        self.send(message)
        line = self.line()
        assert line, f"no answer to {message}; stderr:\n{self.stderr()}"
        return ANSWERS.decode(line)

    def start_match(
        self,
        match: str = "m1",
        game: str = "shanghaien",
        seat: int = 0,
        bot_seed: int = 1,
        options: Mapping[str, Any] = NO_OPTIONS,
    ) -> None:
        """Sends `match_start` and expects `ready`."""
        start = m.MatchStart(
            match=match,
            seat=seat,
            players=("a", "b"),
            protocol=1,
            game=game,
            options=dict(options),
            clock=CLOCK,
            bot_seed=bot_seed,
        )
        assert self.ask(start) == m.Ready(match=match)

    def cpu_s(self) -> float:
        """Return the CPU seconds of the process so far; its clock has the number that the kernel gives it."""
        return time.clock_gettime(~self._process.pid << 3 | 2)

    def end_input(self) -> None:
        """Closes the bot's stdin, as a referee that has gone does."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def exit_code(self) -> int:
        """Waits for the process to end by itself."""
        return self._process.wait(DEADLINE_S)

    def stderr(self) -> str:
        """What the bot has said there so far."""
        self._stderr.seek(0)
        return self._stderr.read().decode()


def bot_on(kit: Path, folder: Path, source: str) -> Path:
    """A bot of that source beside a copy of the kit."""
    (folder / kit.name).write_bytes(kit.read_bytes())
    (folder / "bot.py").write_text(source)
    (folder / "bot.yaml").write_text("name: test\ncommand: [python3, bot.py]\n")
    return folder


def hello(game: str = "shanghaien") -> m.Hello:
    """The referee's first line."""
    return m.Hello(protocols=(1,), minor=0, game=game, rules="1", options={}, capabilities=("events",), limits=LIMITS)


def started(folder: Path, game: str = "shanghaien", arguments: Sequence[str] = ()) -> Bot:
    """A bot that has said hello."""
    bot = Bot(folder, arguments)
    try:
        answer = bot.ask(hello(game))
        assert isinstance(answer, m.BotHello)
        assert 1 in answer.protocols
    except BaseException:
        bot.end()
        raise
    return bot


class Played(msgspec.Struct, frozen=True):
    """A match that was played: every action taken, by whom, and the scores."""

    actions: tuple[tuple[Seat, Any], ...]
    scores: tuple[int | Fraction, ...]


def play(
    game_name: str,
    seed: str,
    choose: Callable[[Seat, m.Request], Any],
    match: str = "m1",
    options: Mapping[str, Any] = NO_OPTIONS,
) -> Played:
    """One match; `choose` gives the action, or its index, for a request to a seat. Forced moves are not asked."""
    game = load_game(game_name)
    state = game.setup(options, 2)
    news: tuple[list[Any], list[Any]] = ([], [])
    actions: list[tuple[Seat, Any]] = []
    while isinstance(turn := game.turn(state), Chance | Decision):
        if isinstance(turn, Chance):
            drawn = draw(seed, turn)
            state = game.resolve(state, drawn)
            if turn.is_public:
                _tell(news, m.ChanceEvent(key=turn.key, outcome=drawn))
            continue
        seat = turn.seats[0]
        legal = game.legal(state, seat)
        assert legal
        action = legal[0]
        if len(legal) > 1:
            request = m.Request(
                id=len(actions) + 1,
                match=match,
                view=game.observe(state, seat),
                events=tuple(news[seat]),
                legal=legal,
                clock=m.TimeLeft(move_ms=100, bank_ms=1000),
            )
            news[seat].clear()
            raw = choose(seat, request)
            action = legal[raw] if isinstance(raw, int) else game.parse(state, seat, raw)
        _tell(news, m.ActionEvent(seat=seat, action=action, forced=len(legal) == 1))
        actions.append((seat, action))
        state = game.apply(state, {seat: action})
    return Played(actions=tuple(actions), scores=game.outcome(state).scores)


def _tell(news: tuple[list[Any], list[Any]], event: m.ActionEvent | m.ChanceEvent) -> None:
    for listener in news:
        listener.append(event)


def play_bots(
    bots: Sequence[Bot],
    seed: str,
    game: str = "shanghaien",
    match: str = "m1",
    bot_seed: int = 7,
    options: Mapping[str, Any] = NO_OPTIONS,
) -> Played:
    """One match of two bots that have said hello, from `match_start` to `match_end`."""
    for seat, bot in enumerate(bots):
        bot.start_match(match, game, seat, bot_seed + seat, options)

    def choose(seat: Seat, request: m.Request) -> Any:
        answer = bots[seat].ask(request)
        assert isinstance(answer, m.Answer)
        assert answer.id == request.id
        return answer.action

    played = play(game, seed, choose, match, options)
    end = m.MatchEnd(
        match=match,
        ranks=(0, 0),
        scores=tuple(map(int, played.scores)),
        termination="normal",
        at_fault=None,
        events=(),
        time=m.TimeUsed(moves=1, cpu_ms=1, wall_ms=1),
    )
    for bot in bots:
        bot.send(end)
    return played
