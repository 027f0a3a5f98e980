"""protocol.md is true: its examples are lines of real matches, its bot plays, its tables name what the code has."""

import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from arena import strict
from arena.games import load_game
from arena.games.api import Chance, Dice
from arena.games.luck import derive, draw
from arena.games.nim.rules import Take
from arena.games.shanghaien.variant import Options, compose
from arena.match.contestant import Contestant
from arena.match.record import MatchRecord, Termination
from arena.match.referee import hello_for, play
from arena.match.terms import ClockSettings, MatchSpec
from arena.process import launch
from arena.process.channel import KEPT_STDERR, ProcessChannel
from arena.process.clock import MoveClock
from arena.process.manifest import _INTERPRETERS, FILE_LIMIT, SIZE_LIMIT, Manifest, read_bot
from arena.protocol import codec, messages
from arena.protocol.messages import ToBot
from arena.protocol.session import RECEIVED, SENT, Phase

ROOT = Path(__file__).parents[2]
PROTOCOL = ROOT / "protocol.md"
PAGES = [path for path in (PROTOCOL, ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if path.exists()]
SEED = "000102030405060708090a0b0c0d0e38"
Bot = Callable[[dict[str, Any]], list[str]]


class Block(NamedTuple):
    """A fenced block of a page: where it begins, the words behind the fence, its text."""

    place: str
    info: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\S.*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(f"{page.name}:{text.count(chr(10), 0, each.start()) + 1}", each[1].strip(), each[2]) for each in found]


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
TEXT = PROTOCOL.read_text(encoding="utf-8")


def marked(info: str) -> list[Block]:
    return [block for block in BLOCKS if block.info == info]


def only(info: str) -> str:
    """The first block of protocol.md with these words behind its fence."""
    return next(block.text for block in blocks_of(PROTOCOL) if block.info == info)


class ScriptedChannel:
    """A bot without a process: a function from a message to the lines it writes. Time stands still."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._lines: list[bytes] = []

    def cpu(self) -> float:
        return 0.0

    def send(self, line: bytes, clock: MoveClock) -> None:  # noqa: ARG002 - the signature of Channel
        self._lines += [text.encode() for text in self._bot(json.loads(line))]

    def receive(self, clock: MoveClock) -> bytes:  # noqa: ARG002 - the signature of Channel
        return self._lines.pop(0)

    def pending(self) -> list[bytes]:
        lines, self._lines = self._lines, []
        return lines

    def stderr(self) -> str:
        return ""

    def close(self, grace_s: float) -> str:
        return f"ended within {grace_s} s"


def random_bot() -> Bot:
    """bots/random, line by line."""
    luck = random.Random()

    def answer(message: dict[str, Any]) -> list[str]:
        match message["type"]:
            case "hello":
                return [json.dumps({"type": "hello", "protocols": [1], "name": "random", "version": "1"})]
            case "match_start":
                luck.seed(message["bot_seed"])
                return [json.dumps({"type": "ready", "match": message["match"]})]
            case "request":
                return [json.dumps({"type": "action", "id": message["id"], "action": luck.randrange(len(message["legal"]))})]
        return []

    return answer


def careless_bot() -> Bot:
    """Prints to stdout, asks for events, and takes more than there is."""

    def answer(message: dict[str, Any]) -> list[str]:
        match message["type"]:
            case "hello":
                hello = {"type": "hello", "protocols": [1], "name": "careless", "version": "0.1"}
                return [json.dumps({**hello, "capabilities": ["events"]})]
            case "match_start":
                return [json.dumps({"type": "ready", "match": message["match"]})]
            case "request":
                take = {"type": "action", "id": message["id"], "action": {"heap": 1, "count": 3}, "note": "take it all"}
                return ["thinking...", json.dumps(take)]
        return []

    return answer


def dialogues(match: str, game: str, options: dict[str, Any], bots: dict[str, Bot]) -> list[Contestant]:
    """The contestants of a match that was played, with their transcripts."""
    contestants = [
        Contestant(
            player=name,
            bot=name,
            open_channel=lambda bot=bot: ScriptedChannel(bot),  # type: ignore[misc]
            hello=hello_for(load_game(game), options, 10_000),
            clock=ClockSettings(),
            wall=lambda: 0.0,
            keep_transcript=True,
        )
        for name, bot in bots.items()
    ]
    play(MatchSpec(match=match, game=game, options=options, seed=SEED, clock=ClockSettings()), contestants)
    for each in contestants:
        each.close()
    return contestants


@cache
def example_matches() -> list[Contestant]:
    """The seats of the matches that protocol.md quotes."""
    nim = {"heaps": [1, 2]}
    return [
        *dialogues("5f0c1d7e2a94-0-0", "nim", nim, {"alice": random_bot(), "bob": random_bot()}),
        *dialogues("c41a90b7d3e6-0-0", "nim", nim, {"alice": random_bot(), "carol": careless_bot()}),
        *dialogues("9b1e64c03d27-0-0", "shanghaien", {}, {"alice": random_bot(), "bob": random_bot()}),
    ]


def lines(direction: str) -> list[Any]:
    """All messages of the example matches in that direction (`>` to a bot), stray lines left out."""
    return [
        timeless(json.loads(line))
        for contestant in example_matches()
        for way, line in [(way, line) for _, way, line in contestant.transcript]
        if way == direction and line.startswith(b"{")
    ]


def timeless(raw: dict[str, Any]) -> dict[str, Any]:
    """A message without what a clock measured."""
    used = raw.get("time")
    return {**raw, "time": {**used, "cpu_ms": 0, "wall_ms": 0}} if used else raw


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.info.startswith("json")], ids=lambda block: block.place)
def test_every_json_example_is_json_of_a_known_kind(block: Block) -> None:
    """An example is one JSON object, by the strict rules too, and its mark says what it is."""
    assert block.info in {
        "json to-bot",
        "json from-bot",
        "json action nim",
        "json action shanghaien",
        "json view nim",
        "json view shanghaien",
    }
    assert codec.decode_object(block.text.encode())


@pytest.mark.parametrize("block", marked("json to-bot"), ids=lambda block: block.place)
def test_examples_to_bots_are_lines_of_real_matches(block: Block) -> None:
    """What a page shows of the referee is what the referee sends, but for measured times."""
    raw = json.loads(block.text)

    msgspec.convert(raw, type=ToBot)
    assert timeless(raw) in lines(">")


@pytest.mark.parametrize("block", marked("json from-bot"), ids=lambda block: block.place)
def test_examples_from_bots_are_lines_of_real_matches(block: Block) -> None:
    """What a page shows of a bot is understood, and was sent."""
    assert codec.decode(" ".join(block.text.split("\n")).encode())
    assert json.loads(block.text) in lines("<")


@pytest.mark.parametrize("block", marked("json action nim"), ids=lambda block: block.place)
def test_nim_actions_were_legal(block: Block) -> None:
    """The example is an action of nim that was on offer."""
    assert msgspec.convert(json.loads(block.text), type=Take)
    assert is_offered(json.loads(block.text))


@pytest.mark.parametrize("block", marked("json action shanghaien"), ids=lambda block: block.place)
def test_shanghaien_actions_were_legal(block: Block) -> None:
    """Each example is an action of Shanghaien that was on offer in the example match."""
    assert msgspec.convert(json.loads(block.text), type=compose(Options()).action_type)
    assert is_offered(json.loads(block.text))


def is_offered(action: dict[str, Any]) -> bool:
    return any(action in message["legal"] for message in lines(">") if message["type"] == "request")


@pytest.mark.parametrize("game", ["nim", "shanghaien"])
def test_views_are_those_of_real_requests(game: str) -> None:
    """Each view was sent, and the tables of fields name every field of the game's views."""
    views = [message["view"] for message in lines(">") if message["type"] == "request"]
    views = [view for view in views if ("heaps" in view) == (game == "nim")]
    section = section_of(f"## Game: {game}")

    assert all(json.loads(block.text) in views for block in marked(f"json view {game}"))
    fields = {*views[0], *(key for player in views[0].get("players", []) for key in player)}
    assert {field for field in fields if f"| `{field}` |" not in section} == set()


def test_each_kind_of_action_has_an_example() -> None:
    """No action of Shanghaien is left to guess."""
    shown = {json.loads(block.text)["do"] for block in marked("json action shanghaien")}

    assert shown == {kind.__struct_config__.tag for kind in msgspec.inspect.type_info(compose(Options()).action_type).types} or shown == {
        tag_of(each) for each in msgspec.inspect.type_info(compose(Options()).action_type).types
    }
