"""The protocol's pages are true and whole: their tables name what the code has, with the code's numbers."""

import re
import shutil
import subprocess
from types import ModuleType

import msgspec
import pytest
import yaml
from support.protocol_pages import FAULTS, LUCK, MANIFEST, PROCESS, PROTOCOL, blocks_of, section_of

from arena import validation, yaml_file
from arena.errors import SpecError
from arena.games import luck
from arena.match import secret_luck
from arena.match.record import Termination
from arena.match.settings import ClockSettings
from arena.process import launch
from arena.process.channel import KEPT_STDERR
from arena.process.manifest import INTERPRETERS, MANIFEST_LIMIT, SOURCE_FILE_LIMIT, Manifest, source_size_limit
from arena.protocol import codec, messages
from arena.protocol.session import RECEIVED, SENT, SessionPhase
from arena.yaml_file import parse_yaml


def test_the_dialogue_table_is_the_sessions() -> None:
    """The table of the page has exactly the steps of the tables in the code."""
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in section_of("## Dialogue").splitlines()
        if line.count("|") == 6
    ]
    phases = {phase.value: phase for phase in SessionPhase}
    written: set[tuple[SessionPhase, str, str, SessionPhase]] = set()
    for states, sends, then, says, after in rows[2:]:
        for phase in list(SessionPhase) if states == "any" else [phases[state] for state in states.split(", ")]:
            for way, cell, state in ((">", sends, then), ("<", says, after)):
                if cell:
                    (kind,) = re.findall("`([a-z_]+)`", cell)[:1]
                    written.add((phase, way, kind, phase if state == "the same" else phases[state]))

    coded = {(phase, ">", tag_of(kind), then) for (phase, kind), then in SENT.items()}
    coded |= {(phase, "<", tag_of(kind), then) for (phase, kind), then in RECEIVED.items()}
    assert written == coded


def tag_of(kind: type[msgspec.Struct]) -> str:
    return str(kind.__struct_config__.tag)


EVENTS = (messages.ActionEvent, messages.ChanceEvent, messages.SimulationEvent)


@pytest.mark.parametrize(
    ("heading", "kinds"),
    [
        ("### hello\n\n```json to-bot", [messages.Hello, messages.LineLimits]),
        ("### match_start", [messages.MatchStart, messages.ClockTerms]),
        ("### request", [messages.Request, messages.TimeLeft, messages.Refused, *EVENTS]),
        ("### simulated", [messages.Simulated, messages.Refused]),
        ("### event", [messages.EventMessage]),
        ("### error", [messages.ErrorMessage]),
        ("### match_end", [messages.MatchEnd, messages.TimeUsed]),
        ("### quit", [messages.Quit]),
        ("### hello\n\n```json from-bot", [messages.BotHello]),
        ("### ready", [messages.Ready]),
        ("### action", [messages.Answer]),
        ("### simulate\n", [messages.Simulate]),
    ],
)
def test_every_field_is_described(heading: str, kinds: list[type[msgspec.Struct]]) -> None:
    """The page mentions every field of every message."""
    section = section_of(heading, FAULTS if "simulate" in heading else PROTOCOL)

    missing = [field for kind in kinds for field in kind.__struct_encode_fields__ if f"`{field}`" not in section]
    assert missing == []


def test_every_termination_is_in_the_table() -> None:
    """The table has exactly the codes of terminations, but for void, which no bot sees."""
    codes = re.findall(r"^\| `([a-z_]+)` \|", section_of("## Terminations"), re.MULTILINE)

    assert codes == [kind.value for kind in Termination if kind is not Termination.VOID]


def test_the_limits_are_those_of_the_code() -> None:
    """The numbers in the text are the numbers in force."""
    section = section_of("## Limits")

    assert f"{codec.LINE_TO_BOT_LIMIT:,} bytes".replace(",", " ") in section
    assert f"{codec.LINE_FROM_BOT_LIMIT:,} bytes".replace(",", " ") in section
    assert f"{codec.DEEPEST} levels" in section
    assert f"last {KEPT_STDERR >> 10} KiB" in section
    assert f"{source_size_limit() >> 20} MiB, {SOURCE_FILE_LIMIT} files" in section_of("## Limits", PROCESS)


def test_the_bounds_of_a_manifest_are_those_of_its_reader() -> None:
    """The page has the limits of the code for size, depth and words of a manifest."""
    section = MANIFEST.read_text(encoding="utf-8")

    assert f"up to {MANIFEST_LIMIT >> 10} KiB" in section
    assert f"up to {yaml_file._DEEPEST} deep" in " ".join(section.split())
    assert "up to 256 words of 1 to 4096 characters" in section
    for words, is_fit in ((["x" * 4096] * 256, True), (["x"] * 257, False), (["x" * 4097], False), ([""], False)):
        text = msgspec.json.encode({"name": "x", "command": words})
        assert is_manifest(text) == is_fit


def is_manifest(text: bytes) -> bool:
    try:
        parse_yaml(text, Manifest, place="bot.yaml", limit=1 << 21)
    except SpecError:
        return False
    return True


def test_the_manifest_on_the_page_is_one() -> None:
    """The example of bot.yaml is read without complaint, and every key is in the table and in the example."""
    (example,) = [block.text for block in blocks_of(MANIFEST) if block.info.startswith("yaml")]
    section = MANIFEST.read_text(encoding="utf-8")

    manifest = validation.read_struct(yaml.safe_load(example), Manifest, place="manifest.md")
    assert manifest.name == "mybot"
    for key in Manifest.__struct_fields__:
        assert f"| `{key}` |" in section
        assert re.search(rf"^{key}:", example, re.MULTILINE)
    assert all(f"`{ending}`" in section for ending in INTERPRETERS)


def test_the_environment_is_listed_whole() -> None:
    """The page lists each variable of a bot's environment."""
    section = section_of("## What is there", PROCESS)

    assert all(f"`{name}" in section for name in launch.clean_environment("", ""))


def test_the_clocks_default_as_described() -> None:
    """The wall-clock backstop and the start-up limit on the page are the defaults."""
    cpu, wall = ClockSettings().terms(), ClockSettings(decides="wall").terms()

    assert cpu.wall_ms == 2 * (cpu.move_ms + cpu.bank_ms) + 1000
    assert wall.wall_ms == wall.move_ms + wall.bank_ms
    assert ClockSettings().startup_ms == 10_000


@pytest.mark.parametrize(("begins", "module"), [("word(seed", luck), ("commitment ", secret_luck)])
def test_the_recipes_of_luck_are_those_in_the_code(begins: str, module: ModuleType) -> None:
    """The page has the recipes of the module's docstring."""
    recipe = next(block.text for block in blocks_of(LUCK) if block.text.startswith(begins))

    assert [line.strip() for line in recipe.splitlines()] == [
        line.strip() for line in (module.__doc__ or "").splitlines() if line.strip() in recipe and line.strip()
    ]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here")
def test_a_shell_recomputes_what_a_secret_gives() -> None:
    """The shell commands of the page print what the code computes."""
    commands = next(block.text for block in blocks_of(LUCK) if "hexkey:$S" in block.text)
    told = re.search(r"It prints `(\w+)`, `(\w+)` and `(\w+)`", " ".join(LUCK.read_text(encoding="utf-8").split()))
    (value,) = re.findall(r"^S=(\w+)$", commands, re.MULTILINE)
    secret = secret_luck.Secret(bytes.fromhex(value))
    drawn = secret_luck.draw_block(secret, "5f0c1d7e2a94-7", 2)

    printed = subprocess.run(["sh", "-c", commands], capture_output=True, text=True, check=True, timeout=30).stdout

    assert told is not None
    assert printed.split() == list(told.groups()) == [secret.commitment, drawn.luck, str(drawn.bot_seeds[1])]
