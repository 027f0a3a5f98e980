"""The matches that protocol.md quotes, played by bots without processes: the same lines every time."""

import json
import random
from collections.abc import Callable
from functools import cache
from typing import Any

from arena.games import load_game
from arena.match.bot_player import BotPlayer
from arena.match.referee import hello_for, play_match
from arena.match.settings import ClockSettings, MatchSpec
from arena.process.channel import Channel
from arena.process.scripted import ScriptedChannel

SEED = "000102030405060708090a0b0c0d0e38"
BOT_SEEDS = (1485964578277303, 3391453401404100)
EXPANSIONS = ("crazy_captain", "no_shanghai", "sharks", "doubles")
Bot = Callable[[dict[str, Any]], list[str]]
Said = tuple[str, str, dict[str, Any]]
"""The player whose bot it is, `>` to it or `<` from it, the message."""


def scripted(bot: Bot) -> Callable[[], Channel]:
    """What opens a channel to that bot; time stands still in it."""
    return lambda: ScriptedChannel(lambda line: [text.encode() for text in bot(json.loads(line))])


def random_bot(salt: int = 0) -> Bot:
    """bots/random, line by line; with another salt it chooses differently."""
    luck = random.Random()

    def answer(message: dict[str, Any]) -> list[str]:
        match message["type"]:
            case "hello":
                return [json.dumps({"type": "hello", "protocols": [1], "name": "random", "version": "1"})]
            case "match_start":
                luck.seed(message["bot_seed"] + salt)
                return [json.dumps({"type": "ready", "match": message["match"]})]
            case "request":
                return [
                    json.dumps({"type": "action", "id": message["id"], "action": luck.randrange(len(message["legal"]))})
                ]
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


def loading_bot(choice: int) -> Bot:
    """Plays riffraff by the same index where it can; asks for two loads, plays the worse one, and passes if refused."""
    good = {"kind": "plank", "face": "flat", "u_mm": 0, "v_mm": 30}
    bad = {**good, "yaw_deg": 90}

    def answer(message: dict[str, Any]) -> list[str]:
        match message["type"]:
            case "hello":
                return [json.dumps({"type": "hello", "protocols": [1], "capabilities": ["simulate"]})]
            case "match_start":
                return [json.dumps({"type": "ready", "match": message["match"]})]
            case "request":
                open_id = {"id": message["id"]}
                asked = {"type": "simulate", **open_id}
                action: Any = {"pass": True} if "refused" in message else bad
                if message["legal"]:
                    action = choice % len(message["legal"])
                questions = [{**asked, "query": n, "what": {"load": load}} for n, load in ((1, good), (2, bad))]
                said = [{"type": "action", **open_id, "action": action}]
                return [json.dumps(each) for each in ([*questions, *said] if action is bad else said)]
        return []

    return answer


def overheard(player: str, bot: Bot, said: list[Said]) -> Bot:
    """The same bot; what it is told and answers is added to `said`, which several bots may share."""

    def answer(message: dict[str, Any]) -> list[str]:
        answers = bot(message)
        said.append((player, ">", message))
        said.extend((player, "<", json.loads(line)) for line in answers)
        return answers

    return answer


def dialogues(match: str, game: str, options: dict[str, Any], bots: dict[str, Bot]) -> list[BotPlayer]:
    """The bot_players of a match that was played, with their transcripts."""
    bot_players = [
        BotPlayer(
            player=name,
            bot=name,
            open_channel=scripted(bot),
            hello=hello_for(load_game(game), options, 10_000),
            clock=ClockSettings(),
            wall=lambda: 0.0,
            keep_transcript=True,
        )
        for name, bot in bots.items()
    ]
    play_match(
        MatchSpec(
            match=match,
            game=game,
            options=options,
            seed=SEED,
            clock=ClockSettings(),
            wire_id=match,
            bot_seeds=BOT_SEEDS,
        ),
        bot_players,
    )
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
