"""A table with an honest bot and one whose words are changed, over scripted channels, by fake clocks.

Rule: everything that happens here follows from the scene; both bots choose like the baseline.
"""

import json
from collections.abc import Iterable
from random import Random
from typing import Any, Final

import msgspec
from hypothesis import strategies as st

from arena.errors import Crashed, MalformedReply
from arena.games import load_game
from arena.games.luck import derive
from arena.match.record import MatchRecord
from arena.match.settings import ClockSettings
from arena.process.scripted import Reply, ScriptedChannel
from support.fake_clock import FakeClock
from support.match_fuzz_lines import LIMIT, MATCH, MUTATIONS, Brain, Plan, plans
from support.match_fuzz_pipes import lines_of
from support.scripted_bot import ScriptedBot, match_of, seated
from support.toy_game import FAR_MM, NAME, ROTTEN_MM, ToyGame

ALL: Final = {"expansions": ["crazy_captain", "no_shanghai", "sharks", "doubles"]}
VARIANTS: Final[tuple[tuple[str, dict[str, Any], int], ...]] = (
    ("nim", {"heaps": [9, 9, 9]}, 8),
    ("nim", {"misere": True}, 5),
    ("shanghaien", {}, 30),
    ("shanghaien", ALL, 40),
    ("toy", {"rounds": 6}, 12),
)
"""A game, its options, and about how many messages a bot has to answer in it."""
MOST_LOOKS: Final = 100_000
"""At a clock in one scene. More are a referee that does not end."""
_TICK_S: Final = 1e-6
"""What a look at the clock costs."""


class Scene(msgspec.Struct, frozen=True):
    """All that a match depends on."""

    variant: int
    seed: int
    seat: int
    is_strict: bool
    decides: str
    by_object: bool
    wants_events: bool
    wants_simulations: bool
    plan: Plan


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Any game, either seat, any terms, up to four mutations."""
    variant = draw(st.integers(0, len(VARIANTS) - 1))
    return Scene(
        variant=variant,
        seed=draw(st.integers(0, 999)),
        seat=draw(st.integers(0, 1)),
        is_strict=draw(st.booleans()),
        decides=draw(st.sampled_from(["cpu", "wall"])),
        by_object=draw(st.booleans()),
        wants_events=draw(st.booleans()),
        wants_simulations=draw(st.booleans()),
        plan=draw(plans(VARIANTS[variant][2])),
    )


class Ticks(FakeClock):
    """Wall time that goes on by a look, CPU time that goes on when told."""

    def wall(self) -> float:
        self.wall_s += _TICK_S
        assert self.wall_s < MOST_LOOKS * _TICK_S, "the referee does not come to an end"
        return self.wall_s


class Speaker:
    """A bot that chooses like the baseline and says what the plan makes of it. One object is one process."""

    def __init__(self, scene: Scene, plan: Plan, ticks: FakeClock) -> None:
        self.requests: list[dict[str, Any]] = []
        self.brain = Brain()
        self._random = Random(0)
        self._scene = scene
        self._plan = plan
        self._answered = 0
        self._unasked = 0
        self._ticks = ticks

    def respond(self, line: bytes) -> bytes:
        """What it says to one message, in bytes as they leave it."""
        brain = self.brain
        if brain.is_dead:
            return b""
        brain.message = json.loads(line)
        if brain.message["type"] == "request":
            self.requests.append(brain.message)
        held, brain.held = brain.held, b""
        reply = self._honest_reply(brain.message)
        number = self._number(brain.message["type"])
        for at, name, seed in self._plan:
            if at == number:
                reply = MUTATIONS[name](reply, Random(seed), brain)
        self._ticks.cpu_s, brain.cpu_s = self._ticks.cpu_s + brain.cpu_s, 0.0
        return reply + held

    def _number(self, kind: str) -> int:
        """As in a plan: from 0 for what is answered, from -1 downwards for what is not."""
        if kind in {"hello", "match_start", "request"}:
            self._answered += 1
            return self._answered - 1
        self._unasked += 1
        return -self._unasked

    def _honest_reply(self, message: dict[str, Any]) -> bytes:
        match message["type"]:
            case "hello":
                wanted = {"events": self._scene.wants_events, "simulate": self._scene.wants_simulations}
                asked = [name for name, is_wanted in wanted.items() if is_wanted]
                raw = {"type": "hello", "protocols": [1], "name": "honest", "capabilities": asked}
            case "match_start":
                self._random.seed(message["bot_seed"])
                raw = {"type": "ready", "match": message["match"]}
            case "request":
                raw = {"type": "action", "id": message["id"], "action": self._choose(message["legal"])}
            case _:
                return b""
        return json.dumps(raw).encode() + b"\n"

    def _choose(self, legal: list[Any] | None) -> Any:
        if legal is None:
            return {"mm": self._random.randrange(-FAR_MM, ROTTEN_MM)}
        index = self._random.randrange(len(legal))
        return legal[index] if self._scene.by_object else index


class Said(msgspec.Struct, frozen=True):
    """A whole line that left the bot, and how many requests it had got until then."""

    after: int
    line: bytes


class FuzzedProcess:
    """A speaker behind a scripted channel: its bytes become lines as a process's would."""

    def __init__(self, speaker: Speaker, ticks: FakeClock) -> None:
        self.speaker = speaker
        self.said: list[Said] = []
        self._partial = b""
        self.channel = ScriptedChannel(self._respond, cpu=ticks.cpu)

    def _respond(self, line: bytes) -> Iterable[Reply]:
        stream = self._partial + self.speaker.respond(line)
        lines, is_overlong = lines_of(stream, limit=LIMIT)
        self._partial = stream.rpartition(b"\n")[2]
        self.said.extend(Said(len(self.speaker.requests), each) for each in lines)
        if is_overlong:
            return [*lines, MalformedReply(f"a line of more than {LIMIT} bytes", got=stream[:200].decode("latin-1"))]
        return [*lines, Crashed("the bot ended with exit code 3")] if self.speaker.brain.is_dead else lines


class FuzzedBot(ScriptedBot):
    """A bot of a scene, which says what the plan makes of its words; `processes` are those it was started as."""

    def __init__(self, scene: Scene, plan: Plan) -> None:
        super().__init__()
        self.plan = plan
        self.processes: list[FuzzedProcess] = []
        self.times = Ticks()
        self._scene = scene

    def open(self) -> ScriptedChannel:
        self.processes.append(FuzzedProcess(Speaker(self._scene, self.plan, self.times), self.times))
        return self.processes[-1].channel


class Table:
    """The two seats of a scene, for as many matches as wanted: the changed bot, and an honest one."""

    def __init__(self, scene: Scene) -> None:
        name, options, _ = VARIANTS[scene.variant]
        self.scene = scene
        self.game: Any = ToyGame() if name == NAME else load_game(name)
        self.changed, self.honest = FuzzedBot(scene, scene.plan), FuzzedBot(scene, ())
        self._options = options
        self._clock = ClockSettings(
            decides="cpu" if scene.decides == "cpu" else "wall",
            move_ms=0.1 if scene.decides == "cpu" else 2.0,
            bank_ms=0.4,
            wall_ms=4.0,
            startup_ms=2.0,
            strict=scene.is_strict,
        )
        bots = (self.changed, self.honest) if scene.seat == 0 else (self.honest, self.changed)
        self._players = [
            seated(bot, self._clock, game=self.game, options=options, keep_transcript=False) for bot in bots
        ]

    def play(self, match: str = MATCH) -> MatchRecord:
        """One match of the same players, another if the name is another; its lines are made again."""
        return match_of(
            *self._players,
            game=self.game.name,
            options=self._options,
            seed=derive("fuzz", self.scene.seed),
            clock=self._clock,
            match=match,
            rules=self.game,
        )

    def close(self) -> None:
        """End both bots."""
        for player in self._players:
            player.close()
