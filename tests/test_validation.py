"""Strict reading: what is wrong, where, and what is known there."""

from datetime import date
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest
from support.golden import Golden

from arena import validation
from arena.errors import SpecError
from arena.text import unknown
from arena.yaml_file import read_yaml

LIMIT = 1 << 16


class Pace(Enum):
    SLOW = "slow"
    FAST = "fast"


class Player(msgspec.Struct, frozen=True):
    bot: str
    args: tuple[str, ...] = ()


class Swiss(msgspec.Struct, frozen=True, tag_field="kind", tag="swiss"):
    rounds: int


class League(msgspec.Struct, frozen=True, tag_field="kind", tag="league"):
    cycles: int = 1


class Tournament(msgspec.Struct, frozen=True):
    name: str
    players: tuple[Player, ...] = ()
    reserves: list[Player] = []
    pair: tuple[Player, Player] | None = None
    aliases: dict[str, Player] = {}
    schedule: Swiss | League | None = None
    unit: Literal["block", "match"] = "block"
    pace: Pace = Pace.SLOW
    games: int | None = None


KEYS = "name, players, reserves, pair, aliases, schedule, unit, pace, games"
YAML_READS = "(YAML reads off, no, yes and on as true or false)"
ALL_KEYS = f"an object with the keys {KEYS}"


class Words(msgspec.Struct, frozen=True):
    nick: Annotated[str, msgspec.Meta(pattern="^[a-z]+$", description="small letters a to z")] = "x"
    motto: Annotated[str, msgspec.Meta(max_length=3)] | None = None
    tags: dict[str, Annotated[str, msgspec.Meta(description="a tag")]] = {}
    lines: tuple[tuple[str, int], ...] = ()
    share: float = 0.5
    is_on: bool = True


def refusal(raw: object) -> str:
    with pytest.raises(SpecError) as caught:
        validation.read_struct(raw, Tournament, place="t.yaml")
    place, _, mistakes = str(caught.value).partition(": ")
    assert place == "t.yaml"
    return mistakes


def yaml_refusal(path: Path, text: str | bytes) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SpecError) as caught:
        read_yaml(path, Tournament, limit=LIMIT)
    return str(caught.value).removeprefix(f"{path}: ")


def test_good_data_becomes_the_struct() -> None:
    """Every level is read, defaults fill what is left out."""
    raw = {
        "name": "cup",
        "players": [{"bot": "a"}, {"bot": "b", "args": ["x"]}],
        "aliases": {"c": {"bot": "a"}},
        "schedule": {"kind": "swiss", "rounds": 3},
        "unit": "match",
        "pace": "fast",
    }

    read = validation.read_struct(raw, Tournament, place="t.yaml")

    assert read == Tournament(
        name="cup",
        players=(Player("a"), Player("b", ("x",))),
        aliases={"c": Player("a")},
        schedule=Swiss(rounds=3),
        unit="match",
        pace=Pace.FAST,
    )


def cup(**extra: Any) -> dict[str, Any]:
    return {"name": "cup", **extra}


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ({}, 'the key "name" is missing'),
        (None, f"expected {ALL_KEYS}, found nothing"),
        ([1, 2], f"expected {ALL_KEYS}, found [1, 2]"),
        (cup(pair=[{"bot": "a"}, {"bto": "b"}]), 'pair[1]: unknown key "bto"; known: bot, args; did you mean "bot"?'),
        (cup(aliases={"c": {"bot": 7}}), "aliases.c.bot: expected text, found 7; put it in quotes"),
        (cup(games=True), "games: expected a whole number, found True"),
        (cup(players=None), "players: expected a list, found nothing"),
        (cup(games="x" * 100), "games: expected a whole number, found '" + "x" * 56 + "..."),
        (cup(pace="fats"), 'pace: unknown value "fats"; known: slow, fast; did you mean "fast"?'),
        (cup(unit=3), "unit: expected one of block, match, found 3"),
        (cup(unit=False), f"unit: found false {YAML_READS}; write it in quotes; known: block, match"),
        (cup(pace=True), f"pace: found true {YAML_READS}; write it in quotes; known: slow, fast"),
        (cup(pace=None), "pace: expected one of slow, fast, found nothing"),
        (cup(schedule={"kind": "swiss"}), 'schedule: the key "rounds" is missing'),
        (cup(schedule={"rounds": 1}), 'schedule: the key "kind" is missing'),
        (
            cup(schedule={"kind": "leage"}),
            'schedule.kind: unknown value "leage"; known: swiss, league; did you mean "league"?',
        ),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_is_known_there(raw: object, sentence: str) -> None:
    """Unknown keys, wrong types, missing keys and values that are not on offer, however deep; a long value is cut."""
    assert refusal(raw) == sentence


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ({"nick": "No"}, "nick: expected small letters a to z, found 'No'"),
        ({"nick": None}, "nick: expected small letters a to z, found nothing"),
        ({"motto": False}, "motto: expected text, found False; put it in quotes"),
        ({"motto": date(2026, 1, 2)}, "motto: expected text, found datetime.date(2026, 1, 2); put it in quotes"),
        ({"motto": "abcd"}, "motto: expected text of length <= 3, found 'abcd'"),
        ({"tags": {"a": 1}}, "tags.a: expected a tag, found 1; put it in quotes"),
        ({"tags": []}, "tags: expected an object, found []"),
        ({"lines": [[3, 4]]}, "lines[0][0]: expected text, found 3; put it in quotes"),
        ({"share": "half"}, "share: expected a number, found 'half'"),
        ({"is_on": "yes"}, "is_on: expected true or false, found 'yes'"),
    ],
)
def test_a_type_is_told_in_words_that_need_no_programmer(raw: object, sentence: str) -> None:
    """A description of the type's own goes first; what YAML took for a number or a date is put into quotes."""
    with pytest.raises(SpecError) as caught:
        validation.read_struct(raw, Words, place="w")

    assert str(caught.value) == f"w: {sentence}"


def test_a_yaml_file_becomes_the_struct(tmp_path: Path) -> None:
    """Plain YAML, umlauts included."""
    path = tmp_path / "t.yaml"
    path.write_text("name: Tübingen\nplayers:\n  - bot: a\n", encoding="utf-8")

    read = read_yaml(path, Tournament, limit=LIMIT)

    assert read == Tournament(name="Tübingen", players=(Player("a"),))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name: a\nname: b\n", 'line 2, column 1: key "name" is given twice'),
        ("name: [a\n", "line 2, column 1: expected ',' or ']', but got '<stream end>'"),
        ("name: a\n\tb: c\n", "line 2, column 1: a tab: YAML wants spaces"),
        (
            "name: a\ngame:nim\nseats: 2\n",
            "line 3, column 1: could not find expected ':'; perhaps a colon above it has no space after it",
        ),
        (
            'name: a\ngame: "nim\n',
            "line 3, column 1: found unexpected end of stream; perhaps a quotation mark above it is not closed",
        ),
        (
            "players:\n  - bot: a\n - bot: b\n",
            (
                "line 3, column 2: expected <block end>, but found '<block sequence start>'; perhaps this line is not"
                " indented like those above it"
            ),
        ),
        ("name: a\n7: b\n", "line 2, column 1: key 7 is not text"),
        ("name: a\non: b\n", "line 2, column 1: key True is not text"),
        ("? [a]\n: b\n", "line 1, column 3: a sequence as a key; keys are text"),
        ("name: 2026-99-99\n", "line 1, column 7: not a valid timestamp"),
        ("name: !!bool maybe\n", "line 1, column 7: not a valid bool"),
        (f"games: {'9' * 5000}\n", "line 1, column 8: a number of more than 40 characters"),
        (b"name: T\xfcbingen\n", "not UTF-8 text: byte 7 is 0xfc"),
        ("", f"expected {ALL_KEYS}, found nothing"),
        ("name: a\nplayers: [{bto: a}]\n", 'players[0]: unknown key "bto"; known: bot, args; did you mean "bot"?'),
        ("[" * 5000, "line 1, column 33: nested too deeply"),
    ],
)
def test_a_bad_yaml_file_is_refused_with_the_place(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    """Syntax by line and column, meaning by the path of the key."""
    assert yaml_refusal(tmp_path / "t.yaml", text) == sentence


@pytest.mark.parametrize(
    "text", ["name: !!python/object:os.system x\n", "name: a\0b\n", "- &a [*a]\n", "<<: {name: a}\n"]
)
def test_yaml_that_is_more_than_plain_data_is_refused(tmp_path: Path, text: str) -> None:
    """Python objects, control characters, lists within themselves, merged mappings."""
    assert "\n" not in yaml_refusal(tmp_path / "t.yaml", text)


def test_a_file_that_is_not_there_is_named(tmp_path: Path, golden: Golden) -> None:
    """So is a folder in the place of a file."""
    with golden.raises(SpecError):
        read_yaml(tmp_path / "none.yaml", Tournament, limit=LIMIT)
    with golden.raises(SpecError):
        read_yaml(tmp_path, Tournament, limit=LIMIT)


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ({"nick": None}, "m: nick: expected small letters a to z, found null"),
        ({"motto": False}, "m: motto: expected text, found false"),
        ({"motto": "\u00fc" * 4}, 'm: motto: expected text of length <= 3, found "\\u00fc\\u00fc\\u00fc\\u00fc"'),
        ({"lines": {"a": "\n"}}, "m: lines: expected a list, found an object"),
        ({"lines": [["a"]]}, "m: lines[0]: expected a list of length 2, found a list of length 1"),
        ({"lines": [[2**80, 1]]}, "m: lines[0][0]: expected text, found a number of 20 digits or more"),
        (
            {"mot\nto": "x"},
            'm: unknown field "mot\\nto"; known: nick, motto, tags, lines, share, is_on; did you mean "motto"?',
        ),
        ({"motto": "\ud800"}, ""),
        ({"nick": "a"}, ""),
        ("a", 'm: expected an object with the fields nick, motto, tags, lines, share, is_on, found "a"'),
    ],
)
def test_what_a_bot_sent_is_told_in_the_words_of_json(raw: object, sentence: str) -> None:
    """Fields instead of keys, null instead of nothing, only ASCII; nothing is said of what is well formed."""
    assert validation.first_mistake(raw, Words, place="m") == sentence


def test_a_message_may_be_of_several_kinds(golden: Golden) -> None:
    """The tag tells which one it was meant to be."""
    kinds = Swiss | League

    golden(validation.first_mistake({"kind": "swiss"}, kinds, place="m"))
    golden(validation.first_mistake({"kind": "leag"}, kinds, place="m"))


def test_of_many_known_names_the_nearest_and_a_few_are_listed(golden: Golden) -> None:
    """Three hundred players are no answer; thirty are."""
    names = [f"bot-{number:03}" for number in range(300)]

    said = unknown("player", "bot-1234", names)
    strange = unknown("player", "?", names)

    golden(said)
    assert said.count("bot-") == 7
    golden(strange)
    assert unknown("player", "?", names[:30]).endswith(", ".join(names[:30]))


def test_all_mistakes_are_told_in_one_message() -> None:
    """In the order of the text, missing keys behind; an unknown key that resembles a missing one tells of both."""
    raw = {
        "nmae": "cup",
        "players": [{"bot": 7}, {"bto": "b"}, "c", {"args": [1, 2]}],
        "pair": [{"bot": "a"}],
        "schedule": {"kind": "swiss", "rounds": "three", "cycles": 1},
        "unit": "blok",
        "games": 1.5,
    }

    assert refusal(raw).splitlines() == [
        "12 mistakes:",
        f'  unknown key "nmae"; known: {KEYS}; did you mean "name"?',
        "  players[0].bot: expected text, found 7; put it in quotes",
        '  players[1]: unknown key "bto"; known: bot, args; did you mean "bot"?',
        "  players[2]: expected an object with the keys bot, args, found 'c'",
        '  players[3]: the key "bot" is missing',
        "  players[3].args[0]: expected text, found 1; put it in quotes",
        "  players[3].args[1]: expected text, found 2; put it in quotes",
        "  pair: expected a list of length 2, found [{'bot': 'a'}]",
        '  schedule: unknown key "cycles"; known: rounds',
        "  schedule.rounds: expected a whole number, found 'three'",
        '  unit: unknown value "blok"; known: block, match; did you mean "block"?',
        "  games: expected a whole number, found 1.5",
    ]


def test_of_many_mistakes_the_first_are_told() -> None:
    """And how many more there are."""
    lines = refusal({"name": "cup", "players": [{"bot": number} for number in range(50)]}).splitlines()

    assert (lines[0], len(lines), lines[-1]) == ("50 mistakes:", 22, "  ... and 30 more")


def test_a_message_of_a_bot_has_one_mistake() -> None:
    """It is answered in one line."""
    raw = {"nick": 7, "motto": 8, "x\ny": 9}

    told = validation.first_mistake(raw, Words, place="m")

    assert "\n" not in told
    assert told.count("expected") + told.count("unk") == 1


def test_options_are_named_as_they_are_given() -> None:
    """Not as the fields are called that they fill."""

    class Clock(msgspec.Struct):
        move_ms: Annotated[float, msgspec.Meta(gt=0)] = 1.0
        bank_ms: float = 1.0

    with pytest.raises(SpecError) as caught:
        validation.read_options({"move_ms": 0, "bank_ms": "x"}, Clock)

    assert str(caught.value).splitlines() == [
        "command line: 2 mistakes:",
        "  --move-ms: expected a number > 0.0, found 0",
        "  --bank-ms: expected a number, found 'x'",
    ]


@pytest.mark.parametrize("text", ["\x1b]0;pwn\x07", "\u202e", "\ud800", "a\nb"])
def test_nothing_that_is_quoted_acts_on_a_terminal(text: str) -> None:
    """Keys, values, choices, and the name of the file."""
    raw = {text: 1, "name": "cup", "unit": text, "aliases": {text: {"bot": 7}}, "players": [text]}

    with pytest.raises(SpecError) as caught:
        validation.read_struct(raw, Tournament, place=f"{text}.yaml")

    assert str(caught.value).replace("\n  ", "").isprintable()
