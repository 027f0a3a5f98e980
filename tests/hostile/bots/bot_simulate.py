"""Bots at the table of Riff Raff that abuse questions to the simulator, or the moment when all are asked at once.

Each says what it does instead of an answer to one kind of request; else it plays the first legal action and passes: the
referee loads for it, so that the others meet the same ship whatever it does. The honest one among them loads a crate.
The second argument, a JSON object, may name `capabilities`; without it the bot has that of asking.
"""

import hashlib
import json
import os
import select
import sys
from collections.abc import Callable
from typing import Any

from bot_player import FACTS, Message, for_ever, say, send

LINE = 1 << 16
LOAD = {"kind": "crate", "face": "flat", "u_mm": 0, "v_mm": 40}
ON_DECK = {"area": 1, "load": {"kind": "rat", "face": "flat", "u_mm": 40, "v_mm": 20}}
PIECE = {"id": "k01", "kind": "crate", "pos_mm": [0, 0, 300], "quat": [1, 0, 0, 0]}
_behaviours: dict[str, tuple[str, Callable[[Message], object]]] = {}
_notes: list[str] = []
"""Those that wait for an answer that counts: no pass does where a load is possible."""


def at(phase: str) -> Callable[[Callable[[Message], object]], Callable[[Message], object]]:
    """Instead of the answer in `card` or `load` (`in round 1`), in `any` request, or to `match_start`."""

    def register(behaviour: Callable[[Message], object]) -> Callable[[Message], object]:
        _behaviours[behaviour.__name__] = (phase, behaviour)
        return behaviour

    return register


def act(message: Message, **more: Any) -> None:
    """The first legal action, with the oldest note that waits, or a pass."""
    action = 0 if message["legal"] else {"pass": True}
    if "note" in more:
        _notes.append(more.pop("note"))
    if message["legal"] and _notes:
        more["note"] = _notes.pop(0)
    say(**{"type": "action", "id": message["id"], "action": action, **more})


def line_of(message: Message, what: Any, **more: Any) -> bytes:
    """A question."""
    return json.dumps({"type": "simulate", "id": message["id"], "query": 1, "what": what, **more}).encode() + b"\n"


def ask(message: Message, what: Any) -> Message:
    """What the referee says to it."""
    send(line_of(message, what))
    while True:
        heard: Message = json.loads(sys.stdin.readline())
        if heard["type"] == "simulated":
            return heard


def told(message: Message, *whats: Any) -> None:
    """Ask all of these one after the other, and tell in the note what they were refused for."""
    words = []
    for what in whats:
        refused = ask(message, what)["refused"]
        words.append("answered" if refused is None else refused["reason"] or refused["code"])
    act(message, note=" ".join(words)[:900])


@at("load")
def honest(message: Message) -> None:
    """One crate, as often as it has one; then nothing more."""
    view = message["view"]
    area = view["area"]
    if view["seats"][view["you"]]["supply"]["crate"] and "refused" not in message:
        u, v = 0 if area > 4 else 40 if area < 3 else -40, 40 if area % 2 else -40
        act(message, action={**LOAD, "u_mm": u, "v_mm": v})
    else:
        act(message)


@at("load in round 1")
def beyond_the_budget(message: Message) -> None:
    """Five thousand questions more than there are, each after its answer."""
    lefts = {ask(message, ON_DECK)["left"] for _ in range(5000)}
    act(message, note=f"left {max(lefts)} to {min(lefts)}")


@at("load")
def beyond_the_flood(message: Message) -> None:
    """More useless questions than anybody needs."""
    while True:
        ask(message, ON_DECK)


@at("any")
def wrong_ids(message: Message) -> None:
    """Questions about requests that were, that will be and that never are; then the answer."""
    for number in (-1, 1, 10**9):
        send(line_of({"id": message["id"] + number}, ON_DECK) * 300)
    act(message)


@at("load")
def answer_the_question(message: Message) -> None:
    """An action with the number of a question instead of that of the request."""
    send(line_of(message, ON_DECK, query=4711))
    say(type="action", id=4711, action={"pass": True})
    act(message)


@at("load")
def huge_questions(message: Message) -> None:
    """As much as a line holds."""
    told(message, {"load": "x" * 60_000}, {"x" * 60_000: 0}, {"load": LOAD, "cargo": [PIECE] * 500})


@at("load")
def endless_question(message: Message) -> None:
    """More than a line holds."""
    send(line_of(message, {"load": "x" * LINE}))
    for_ever()


@at("load")
def deep_question(message: Message) -> None:
    """Brackets without end."""
    send(line_of(message, "DEEP").replace(b'"DEEP"', b'{"load":' + b"[" * 30_000 + b"]" * 30_000 + b"}"))
    for_ever()


@at("load")
def senseless_questions(message: Message) -> None:
    """Numbers at the end of all numbers, and words in their place."""
    told(
        message,
        {**ON_DECK, "noise": [1e308, -1e308, 1e308, 1e308, -1e308]},
        {**ON_DECK, "ship": {"roll_deg": 1e308, "pitch_deg": 0, "yards_deg": [0, 0, 0]}},
        {**ON_DECK, "load": {**LOAD, "u_mm": 1e308}},
        {**ON_DECK, "load": {**LOAD, "yaw_deg": -1e308}},
        {**ON_DECK, "cargo": [{**PIECE, "pos_mm": [1e308, 0, 0]}]},
        {**ON_DECK, "cargo": [{**PIECE, "quat": [1e308, 1e308, 0, 0]}]},
        {**ON_DECK, "cargo": [{**PIECE, "quat": [0, 0, 0, 0]}]},
        {**ON_DECK, "cargo": [{**PIECE, "id": 1}]},
        {**ON_DECK, "cargo": [{**PIECE, "id": "k01\n"}]},
        {**ON_DECK, "cargo": [{**PIECE, "on": 2**53 - 1, "card": -(2**53), "by": -1}]},
        {**ON_DECK, "cargo": [{**PIECE, "kind": "whale"}]},
        {**ON_DECK, "area": 11},
        {},
    )


@at("load")
def interlocked_cargo(message: Message) -> None:
    """Thirty-two pieces in each other, and two with one name."""
    pieces = [{**PIECE, "id": f"k{number:02d}", "pos_mm": [number / 10, 0, 300]} for number in range(32)]
    told(message, *[{**ON_DECK, "cargo": pieces}] * 5, {**ON_DECK, "cargo": [PIECE, PIECE]})


def sky() -> Message:
    """All that a simulation may hold, in the air above the ship in a gale."""
    spots = [(x, y, z) for z in (150, 210, 270, 330) for x in (-60, -20, 20, 60) for y in (-40, 40)]
    pieces = [{**PIECE, "id": f"k{number:02d}", "pos_mm": spot} for number, spot in enumerate(spots)]
    return {**ON_DECK, "cargo": pieces, "noise": [0, 0, 0, 2, 2]}


@at("card in round 1")
def ask_with_all_others(message: Message) -> None:
    """The same question as every other seat at the same time, with a digest of what came of it."""
    result = ask(message, sky())["result"]
    word = json.dumps([result[key] for key in ("end", "t_s", "fallen", "ship")])
    act(message, note=hashlib.sha256(word.encode()).hexdigest())


@at("load in round 1")
def all_at_once(message: Message) -> None:
    """All questions and the answer in one breath, before a word is heard."""
    send(line_of(message, ON_DECK) * 100)
    act(message)


@at("load")
def never_listen(message: Message) -> None:
    """Questions without end, and nobody who hears what comes of them: its pipe is full soon."""
    question = line_of(message, {"load": {}})
    while True:
        send(question)


@at("load")
def answer_into_a_full_pipe(message: Message) -> None:
    """So many questions that what they come to fills the pipe; an answer behind them; and it reads no more."""
    send(line_of(message, {"load": {}}) * 2000)
    act(message)
    for_ever()


@at("any")
def ask_after_the_answer(message: Message) -> None:
    """While another seat is on move, or all are still asked."""
    act(message)
    send(line_of(message, ON_DECK) * 10)


@at("any")
def flood_after_the_answer(message: Message) -> None:
    """More than a pipe holds, so that the rest comes with the next request."""
    act(message)
    send(line_of(message, ON_DECK) * 30_000)


@at("match_start")
def ask_before_a_request(message: Message) -> None:
    """Nothing was asked yet."""
    say(type="ready", match=message["match"])
    send(line_of({"id": 1}, ON_DECK))


@at("load")
def ask_uninvited(message: Message) -> None:
    """It never said that it wanted to."""
    send(line_of(message, ON_DECK))
    for_ever()


@at("card")
def spy(message: Message) -> None:
    """Answer after all others, with what was heard meanwhile."""
    heard, _, _ = select.select([0], [], [], 0.15)
    act(message, note=f"BROKE: {os.read(0, 2000)!r}" if heard else "kept: silence")


@at("card")
def card_on_stderr(message: Message) -> None:
    """Tell the card to whoever reads logs."""
    os.write(2, json.dumps(message["legal"][0]).encode() + b"\n")
    act(message)


@at("card")
def crash_among_others(_: Message) -> None:
    """While all are asked."""
    os.write(2, b"no card to play\n")
    os._exit(3)


@at("card")
def hang_among_others(_: Message) -> None:
    """The same in silence."""
    for_ever()


@at("card")
def leave_a_child_among_others(message: Message) -> None:
    """A child sleeps on, and holds the pipes."""
    if os.fork() == 0:
        for_ever()
    act(message)


@at("load")
def nonsense_to_every_load(message: Message) -> None:
    """As much as a line holds, to the request and to its repetition."""
    head = f'{{"type":"action","id":{message["id"]},"action":'.encode()
    send(head + b'"' + b"x" * (LINE - len(head) - 4) + b'"}\n')


@at("any")
def change_of_mind(message: Message) -> None:
    """Two answers to everything."""
    act(message)
    act(message, note="no, this")


@at("load")
def load_far_out(message: Message) -> None:
    """Loads that no ship is large enough for."""
    act(message, action={**LOAD, "u_mm": 1e308, "hands_mm": [[1e308, -1e308]]})


def moments(view: Message) -> set[str]:
    """What a request can be called, for `at`."""
    return {"any", view["phase"], f"{view['phase']} in round {view['round']}"}


def play() -> None:
    """Be the bot that the first argument names."""
    phase, behaviour = _behaviours[sys.argv[1].replace("-", "_")]
    for line in iter(sys.stdin.readline, ""):
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            say(type="hello", protocols=[1], capabilities=FACTS.get("capabilities", ["simulate"]))
        elif kind == phase or (kind == "request" and phase in moments(message["view"])):
            behaviour(message)
        elif kind == "match_start":
            say(type="ready", match=message["match"])
        elif kind == "request":
            act(message)
        elif kind == "quit":
            return


if __name__ == "__main__":
    play()
