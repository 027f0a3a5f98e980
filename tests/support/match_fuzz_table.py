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
from arena.match import reconstruction
from arena.match.bot_player import BotPlayer
from arena.match.record import MatchRecord, pack, unpack
from arena.match.referee import hello_for, play_match
from arena.match.settings import ClockSettings, MatchSpec
from arena.process.channel import Channel
from arena.process.scripted import Reply, ScriptedChannel
from support.match_fuzz_lines import LIMIT, MATCH, MUTATIONS, Brain, Plan, plans
from support.match_fuzz_pipes import lines_of
from support.toy_game import FAR_MM, ROTTEN_MM, ToyGame

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


class Ticks:
    """Wall time that goes on by a look, CPU time that goes on when told."""

    def __init__(self) -> None:
        self.looks = 0
        self.cpu_s = 0.0

    def wall(self) -> float:
        self.looks += 1
        assert self.looks < MOST_LOOKS, "the referee does not come to an end"
        return self.looks * _TICK_S

    def cpu(self) -> float:
        return self.cpu_s


class Speaker:
    """A bot that chooses like the baseline and says what the plan makes of it. One object is one process."""

    def __init__(self, scene: Scene, plan: Plan, ticks: Ticks) -> None:
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


class ScriptedBot:
    """A speaker behind a scripted channel: its bytes become lines as a process's would."""

    def __init__(self, speaker: Speaker, ticks: Ticks) -> None:
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


def game_of(scene: Scene) -> Any:
    """The scene's game, new."""
    game = VARIANTS[scene.variant][0]
    return ToyGame() if game == "toy" else load_game(game)


class Table:
    """The two seats of a scene, for as many matches as wanted. `bots` are the processes of the changed bot."""

    def __init__(self, scene: Scene) -> None:
        _, self.options, _ = VARIANTS[scene.variant]
        self.game: Any = game_of(scene)
        self.scene = scene
        self.plan = scene.plan
        self.clock = ClockSettings(
            decides="cpu" if scene.decides == "cpu" else "wall",
            move_ms=0.1 if scene.decides == "cpu" else 2.0,
            bank_ms=0.4,
            wall_ms=4.0,
            startup_ms=2.0,
            strict=scene.is_strict,
        )
        self.ticks = [Ticks(), Ticks()]
        self.bots: list[ScriptedBot] = []
        self.honest_bots: list[ScriptedBot] = []
        self.bot_players = [self._player(seat) for seat in (0, 1)]

    def _player(self, seat: int) -> BotPlayer:
        name = "changed" if seat == self.scene.seat else "honest"
        return BotPlayer(
            player=name,
            bot=name,
            open_channel=self._open_changed if seat == self.scene.seat else self._open_honest,
            hello=hello_for(self.game, self.options, self.clock.startup_ms),
            clock=self.clock,
            wall=self.ticks[seat].wall,
        )

    def _open_changed(self) -> Channel:
        ticks = self.ticks[self.scene.seat]
        speaker = Speaker(self.scene, self.plan, ticks)
        self.bots.append(ScriptedBot(speaker, ticks))
        return self.bots[-1].channel

    def _open_honest(self) -> Channel:
        ticks = self.ticks[1 - self.scene.seat]
        self.honest_bots.append(ScriptedBot(Speaker(self.scene, (), ticks), ticks))
        return self.honest_bots[-1].channel

    def play(self, match: str = MATCH) -> MatchRecord:
        """One match; the same bot_players, another if the name is another."""
        seed = derive("fuzz", self.scene.seed)
        spec = MatchSpec(match, self.game.name, self.options, seed, self.clock, wire_id=match, bot_seeds=(1, 2))
        record = play_match(spec, self.bot_players, game=self.game)
        self.is_told_again(record)
        return record

    def is_told_again(self, record: MatchRecord) -> None:
        """All lines can be made again from the record, or it tells how many it could not keep."""
        for entry, told in zip(
            record.seats, reconstruction.lines_of(unpack(pack(record)), game=game_of(self.scene)), strict=True
        ):
            assert told.left_out or told.is_exact, (entry, told.lines)

    def close(self) -> None:
        """End both bots."""
        for bot_player in self.bot_players:
            bot_player.close()
