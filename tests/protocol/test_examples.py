"""Every example of the pages is real: JSON of a match that is played again, a bot that plays, a die that is rolled."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.bot_source import scripted_player
from support.protocol_matches import SEED, example_matches, expansions_match, lines, refused_match, timeless
from support.protocol_pages import BLOCKS, LUCK, NIM, RULES, Block, blocks_of, inline_actions, marked, only, section_of
from support.scripted_bot import match_of

from arena.games import bundled_names
from arena.games.api import Chance, Dice
from arena.games.luck import draw
from arena.games.shanghaien.cards import card_winners, neighbour_pips
from arena.games.shanghaien.expansions import EXPANSIONS
from arena.games.shanghaien.rules import BASE_ACTIONS, Shanghaien, action_types
from arena.match.record import Termination
from arena.match.settings import ClockSettings, MatchSettings
from arena.protocol import codec
from arena.protocol.messages import ToBot


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.info.startswith("json")], ids=lambda block: block.place)
def test_every_json_example_is_json_of_a_known_kind(block: Block) -> None:
    """An example is one JSON object, by the strict rules too, and its mark says what it is."""
    kinds = {f"json {kind} {game}" for kind in ("action", "view") for game in bundled_names()}
    assert block.info in {"json to-bot", "json from-bot", *kinds}
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


@pytest.mark.parametrize("block", marked("json action nim"), ids=lambda b: b.place)
def test_actions_were_legal(block: Block) -> None:
    """Each example is an action that was on offer in the example matches."""
    assert is_offered(json.loads(block.text))


def test_actions_in_running_text_were_legal() -> None:
    """An action shown within a line of text was on offer, too."""
    shown = inline_actions(RULES)

    assert shown
    assert [action for action in shown if not is_offered(action)] == []


def is_offered(action: dict[str, Any]) -> bool:
    return any(action in (message["legal"] or ()) for message in lines(">") if message["type"] == "request")


@pytest.mark.parametrize("game", ["nim", "shanghaien"])
def test_views_are_those_of_real_requests(game: str) -> None:
    """Each view was sent, and the tables of fields name every field of the game's views."""
    views = [message["view"] for message in lines(">") if message["type"] == "request"]
    views = [view for view in views if {"nim": "heaps", "shanghaien": "tavern"}[game] in view]
    section = section_of("## Messages", {"nim": NIM, "shanghaien": RULES}[game])

    assert all(json.loads(block.text) in views for block in marked(f"json view {game}"))
    fields = {field for view in views for part in (view, *view.get("players", [])) for field in part}
    assert {field for field in fields if f"| `{field}` |" not in section} == set()


def test_the_entries_of_expansions_are_described() -> None:
    """Each expansion and each field of its entry in the view has its row."""
    section = section_of("## Messages", RULES)
    (shown,) = {
        tuple((name, *fields) for name, fields in message["view"]["expansions"].items())
        for message in lines(">")
        if message["type"] == "request" and "expansions" in message["view"]
    }

    assert [name for name, *_ in shown] == list(EXPANSIONS)
    assert [
        (name, field) for name, *fields in shown for field in fields if f"| `{name}` | `{field}` |" not in section
    ] == []


def test_phases_and_keys_of_the_example_matches_are_described() -> None:
    """Whatever a request can ask and whatever luck can be drawn is in a table."""
    section = section_of("## Messages", RULES)
    requests = [message for message in lines(">") if message["type"] == "request" and "dice" in message["view"]]
    phases = {message["view"]["phase"] for message in requests}
    keys = {event["key"].split("/")[0] for message in requests for event in message["events"] if "key" in event}

    assert phases == {"turn", "rolled", "veto", "doubles", "keep_back"}
    assert keys == {"roll", "again", "many"}
    assert [phase for phase in phases if f"| `{phase}` |" not in section] == []
    assert [key for key in keys if f"| `{key}/<round>/<seat>/<turn>/<roll>" not in section] == []


def test_each_kind_of_action_has_an_example() -> None:
    """No action of Shanghaien is left to guess."""
    shown = {action["do"] for action in inline_actions(RULES)}

    kinds: list[Any] = [*BASE_ACTIONS, *action_types(EXPANSIONS.values())]
    assert shown == {kind.__struct_config__.tag for kind in kinds}


def test_the_order_of_legal_is_the_described_one() -> None:
    """With all expansions the tricks come in the order in which the page lists their kinds."""
    section = " ".join(section_of("## Messages", RULES).split())
    order = re.search(r"the tricks in the order ([^;]*);", section)

    assert order is not None
    variant = Shanghaien().setup({"expansions": list(EXPANSIONS)}, 2).variant
    assert re.findall("`([a-z_]+)`", order[1]) == list(variant.tricks)


def test_the_dialogue_is_that_of_a_real_match() -> None:
    """The whole match of nim on the page is alice's transcript, line by line."""
    shown = only("text").splitlines()
    alice = example_matches()[0]

    sent = [f"{direction} {json.dumps(timeless(json.loads(line)))}" for _, direction, line in alice.transcript]
    assert [f"{line[0]} {json.dumps(timeless(json.loads(line[2:])))}" for line in shown] == sent


def test_the_veto_dialogue_is_that_of_a_real_match() -> None:
    """Line by line it is what both bots heard and said in a row; each shown field is the real one."""
    shown = [line.split(" ", 2) for line in only("text veto").splitlines()]
    said = expansions_match()[1]
    begin = next(at for at, (_, _, real) in enumerate(said) if is_part(json.loads(shown[0][2]), real))

    for (player, direction, text), (speaker, way, real) in zip(shown, said[begin:], strict=False):
        assert (player, direction) == (speaker, way)
        assert is_part(json.loads(text), real), text


def test_the_refused_dialogue_is_that_of_a_real_match() -> None:
    """Line by line it is what alice heard and said in a row, and in this order; each shown field is the real one."""
    shown = [line.split(" ", 2) for line in only("text refused").splitlines()]
    said = refused_match()[0][0].transcript
    real = [(way, json.loads(line)) for _, way, line in said]
    begin = next(at for at, (_, message) in enumerate(real) if is_part(json.loads(shown[0][2]), message))

    assert [(way, is_part(json.loads(text), real[begin + at][1])) for at, (_, way, text) in enumerate(shown)] == [
        (way, True) for way, _ in real[begin : begin + len(shown)]
    ]


def is_part(shown: Any, real: Any) -> bool:
    """Objects may leave fields out, on any level; everything else must be equal."""
    if not isinstance(shown, dict) or not isinstance(real, dict):
        return bool(shown == real)
    return all(key in real and is_part(value, real[key]) for key, value in shown.items())


@pytest.mark.process
def test_a_shell_recomputes_a_die() -> None:
    """The one-liner prints the first die of the example match, with nothing but sha256sum and cut."""
    if shutil.which("sha256sum") is None:
        pytest.skip("no sha256sum here")
    command = next(block.text for block in blocks_of(LUCK) if "sha256sum" in block.text)

    printed = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True, timeout=10).stdout

    key = re.search(rf"{SEED}/(roll/[0-9/]+)/0/0 ", command)
    assert key is not None
    faces = draw(SEED, Chance(key=key[1], kind=Dice(2)))
    assert printed.strip() == str(faces[0])
    assert any(
        {"event": "chance", "key": key[1], "outcome": list(faces)} in message["events"]
        for message in lines(">")
        if message["type"] == "request"
    )


@pytest.mark.process
@pytest.mark.parametrize("game", ["nim", "shanghaien"])
def test_the_bot_of_five_minutes_plays(game: str, tmp_path: Path) -> None:
    """The program on the page, saved as a file, plays both seats of a whole match and ends by itself."""
    settings = MatchSettings(game, {}, ClockSettings())
    seats = [scripted_player(tmp_path / f"{name}.py", only("python mybot.py"), settings) for name in ("one", "two")]

    records = [match_of(*order, game=game, clock=settings.clock) for order in (seats, seats[::-1])]

    endings = [each.close() for each in seats]
    assert [record.termination for record in records] == [Termination.NORMAL] * 2
    assert [seat.ignored for record in records for seat in record.seats] == [{}] * 4
    assert endings == ["ended with exit code 0"] * 2


def test_the_award_example_follows_the_rules() -> None:
    """Row by row: the card behind each number, the dice on it, the pips beside it, and who gets it."""
    shown = json.loads("{" + ", ".join(only("text award").splitlines()) + "}")
    first, second = shown["players"]
    placed = (tuple(first["placed"]), tuple(second["placed"]))
    won = card_winners(placed)
    rows = re.findall(
        r"^\| (\d) \| `tavern\[(\d)\]`, (\w+ \d) \| (\d), (\d) \| (.*?)\| (?:`(gone)`|seat (\d)) \|$",
        section_of("## Shanghai: who gets which card", RULES),
        re.MULTILINE,
    )

    assert len(rows) == 6
    for row, seat in zip(rows, won, strict=True):
        number, position = int(row[0]), int(row[1])
        assert (position, row[2]) == (6 - number, shown["tavern"][6 - number])
        assert [int(row[3]), int(row[4])] == [dice[number - 1] for dice in placed]
        assert (row[6] == "gone") == (seat is None)
        assert row[7] == ("" if seat is None else str(seat))
        if row[5].strip():
            pips = [int(cell.rpartition("=")[2]) for cell in row[5].split(",")]
            assert pips == [neighbour_pips(dice, number - 1) for dice in placed]
