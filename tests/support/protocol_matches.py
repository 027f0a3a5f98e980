"""The matches that the pages quote, played by bots without processes: the same lines every time."""

import json
from functools import cache
from typing import Any

from arena.games import load_game
from arena.match.bot_player import BotPlayer
from arena.match.referee import play_match
from arena.match.settings import ClockSettings, MatchSpec
from arena.process.scripted import Reply
from support.scripted_bot import Message, RandomBot, ScriptedBot, answer, seated, simulate

SEED = "000102030405060708090a0b0c0d0e38"
BOT_SEEDS = (1485964578277303, 3391453401404100)
EXPANSIONS = ("crazy_captain", "no_shanghai", "sharks", "doubles")
Said = tuple[str, str, Message]
"""The player whose bot it is, `>` to it or `<` from it, the message."""


def hello_of(**fields: Any) -> tuple[bytes]:
    return (json.dumps({"type": "hello", "protocols": [1], **fields}).encode(),)


def random_bot(salt: int = 0) -> ScriptedBot:
    """bots/random, line by line; with another salt it chooses differently."""
    return RandomBot(salt, hello=hello_of(name="random", version="1"))


def careless_bot() -> ScriptedBot:
    """Prints to stdout, asks for events, and takes more than there is."""
    return ScriptedBot(
        lambda message, _: [b"thinking...", answer(message, {"heap": 1, "count": 3}, note="take it all")],
        hello=hello_of(name="careless", version="0.1", capabilities=["events"]),
    )


def loading_bot(choice: int) -> ScriptedBot:
    """Plays riffraff by the same index where it can; asks for two loads, plays the refused one, then the other."""
    good = {"kind": "plank", "face": "flat", "u_mm": 0, "v_mm": 30}
    bad = {**good, "yaw_deg": 90}

    def respond(message: Message, _number: int) -> list[Reply]:
        if message["legal"]:
            return [answer(message, choice % len(message["legal"]))]
        if "refused" in message:
            return [answer(message, good)]
        questions = [simulate(message, query, {"load": load}) for query, load in ((1, good), (2, bad))]
        return [*questions, answer(message, bad)]

    return ScriptedBot(respond, hello=hello_of(capabilities=["simulate"]))


def overheard(player: str, bot: ScriptedBot, said: list[Said]) -> ScriptedBot:
    """The same bot; all that it hears and answers is added to `said`, which several bots may share."""
    respond = bot._respond

    def listened(line: bytes) -> list[Reply]:
        answers = list(respond(line))
        said.append((player, ">", json.loads(line)))
        said.extend((player, "<", json.loads(each)) for each in answers if isinstance(each, bytes))
        return answers

    bot._respond = listened  # type: ignore[method-assign]
    return bot


def dialogues(match: str, game: str, options: dict[str, Any], bots: dict[str, ScriptedBot]) -> list[BotPlayer]:
    """The bot_players of a match that was played, with their transcripts."""
    bot_players = [
        seated(bot, ClockSettings(), game=load_game(game), options=options, player=name, digest=name)
        for name, bot in bots.items()
    ]
    for each in bot_players:
        each.account.wall = lambda: 0.0
    play_match(MatchSpec(match, game, options, SEED, ClockSettings(), wire_id=match, bot_seeds=BOT_SEEDS), bot_players)
    for each in bot_players:
        each.close()
    return bot_players


@cache
def expansions_match() -> tuple[list[BotPlayer], list[Said]]:
    """The seats of the match with all expansions, and all that was said, in order.

    The salts are those of a match in which a trick is allowed and the placement after it vetoed, in round 1, and every
    action that the pages show is offered sooner or later.
    """
    said: list[Said] = []
    bots = {name: overheard(name, random_bot(salt), said) for name, salt in (("alice", 2034), ("bob", 11493))}
    return dialogues("d70a4f92b618e03c", "shanghaien", {"expansions": list(EXPANSIONS)}, bots), said


@cache
def refused_match() -> tuple[list[BotPlayer], list[Said]]:
    """The seats of the match of riffraff, and all that was said, in order. Nothing is ever loaded in it."""
    said: list[Said] = []
    bots = {"alice": overheard("alice", loading_bot(6), said), "bob": loading_bot(2)}
    return dialogues("e83b5d10f4a7-0-0", "riffraff", {}, bots), said


@cache
def example_matches() -> list[BotPlayer]:
    """The seats of the matches that protocol.md quotes."""
    nim = {"heaps": [1, 2]}
    return [
        *dialogues("5f0c1d7e2a94b063", "nim", nim, {"alice": random_bot(), "bob": random_bot()}),
        *dialogues("c41a90b7d3e6f825", "nim", nim, {"alice": random_bot(), "carol": careless_bot()}),
        *dialogues("9b1e64c03d2781aa", "shanghaien", {}, {"alice": random_bot(), "bob": random_bot()}),
        *expansions_match()[0],
        *refused_match()[0],
    ]


@cache
def lines(direction: str) -> list[Any]:
    """All messages of the example matches in that direction (`>` to a bot), stray lines left out."""
    return [
        timeless(json.loads(line))
        for bot_player in example_matches()
        for way, line in [(way, line) for _, way, line in bot_player.transcript]
        if way == direction and line.startswith(b"{")
    ]


def timeless(raw: dict[str, Any]) -> dict[str, Any]:
    """A message without what a clock measured."""
    used = raw.get("time")
    return {**raw, "time": {**used, "cpu_ms": 0, "wall_ms": 0}} if used else raw
