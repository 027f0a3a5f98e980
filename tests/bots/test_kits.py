"""One dialogue for the kits of all languages: what they read, write, print and refuse.

The bots of `tests/bots/kits` say a text of the view as their note, take the action that the view names, and evaluate
Nim. A language that is not on the machine is skipped, with a sentence.
"""

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from support.bots_driver import BOTS, KIT_BOTS, LANGUAGES, Bot, Prepare, hello, started
from support.golden import Golden
from support.opinions import analyst, nim_values, opinion
from support.scripted_bot import CLOCK, random_match

from arena.league.tournament import Player
from arena.league.worker import make_bot_player
from arena.match.analyst import opinion_of_bot
from arena.match.judgement import ActionValues
from arena.match.settings import MatchSettings
from arena.operations.new_bot import KITS
from arena.process.manifest import read_bot
from arena.protocol import messages as m

pytestmark = pytest.mark.process

DIALOGUE: Final = (KIT_BOTS / "dialogue.txt").read_text(encoding="utf-8").split("\n")[:-1]
WITHOUT_ERRORS: Final = ("c", "javascript")
"""The kit in C takes no standard errors; the bot in JavaScript gives none, that in TypeScript does on the same kit."""


def test_every_language_has_a_bot_here() -> None:
    """A new kit needs a bot here, which holds the dialogue of the test."""
    assert len(list(KIT_BOTS.glob("[bB]ot.*"))) == len(KITS) == 9


def test_ci_has_every_language() -> None:
    """In the lane of languages no kit is skipped: the packages of each are installed."""
    lists = [BOTS.parent / ".ci" / name for name in ("packages", "packages-extra")]
    lines = [line for path in lists for line in path.read_text(encoding="utf-8").splitlines()]
    installed = {line.partition("#")[0].strip() for line in lines} | {"python3"}

    assert {package for kit in KITS.values() for package in kit.packages} <= installed


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_kit_answers_as_the_dialogue_says(prepare: Prepare, language: str, golden: Golden) -> None:
    """Line by line, and ends with `quit`; what it printed is in the log."""
    with Bot(prepare(f"kits/{language}")) as bot:
        for line in DIALOGUE:
            if line.startswith(">"):
                bot.send(line[2:].encode() + b"\r")
            else:
                assert as_told(json.loads(bot.line())) == json.loads(line[2:]), line

        assert bot.exit_code() == 0
        assert bot.line() == b""
        said = bot.stderr()
    golden(said)


def as_told(answer: dict[str, Any]) -> dict[str, Any]:
    """Without the capabilities, of which only kits with a simulator ask for it."""
    assert answer.pop("capabilities", ["evaluate"]) in (["evaluate"], ["simulate", "evaluate"])
    return answer


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_bot_on_a_kit_judges_nim_exactly(prepare: Prepare, language: str) -> None:
    """For every action 1 or 0, and the standard error 0 from those that send errors."""
    record, bot = random_match("nim", 9), read_bot(prepare(f"kits/{language}"))
    settings = MatchSettings("nim", {}, CLOCK)
    exact = opinion(record, analyst(nim_values), analyst(nim_values)).values

    judged = opinion_of_bot(record, "it", lambda _: make_bot_player(Player("it", bot), settings, "none")).values

    with_errors = {
        index: msgspec.structs.replace(value, errors=(0.0,) * len(value.payoffs))
        for index, value in exact.items()
        if isinstance(value, ActionValues)
    }
    assert judged == (exact if language in WITHOUT_ERRORS else with_errors)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_bot_does_not_ask_to_evaluate(prepare: Prepare, language: str) -> None:
    """It has no function for it, so nobody may ask it for values."""
    with Bot(prepare(f"templates/{language}")) as bot:
        assert "evaluate" not in bot.ask(hello("nim")).capabilities


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_kit_reads_and_writes_any_text(prepare: Prepare, language: str) -> None:
    """Escaped or not, from every plane; a note is cut after 1000 characters."""
    rng = random.Random(1)
    ranges = [(1, 0x80), (0x80, 0x800), (0x800, 0xD800), (0xE000, 0x10000), (0x10000, 0x110000)]
    with started(prepare(f"kits/{language}"), "nim") as bot:
        bot.start_match(game="nim")
        for number in range(60):
            length = rng.choice([1, 5, 50, 1000, 1001, 3000])
            text = "".join(chr(rng.randrange(*rng.choice(ranges))) for _ in range(length))
            request = {
                "type": "request",
                "id": number,
                "view": {"say": text, "pick": 0, "items": []},
                "legal": [{text[:40]: [text]}, {}],
                "clock": {"move_ms": 1},
            }
            answer = bot.ask(json.dumps(request, ensure_ascii=number % 2 == 0).encode())

            assert (answer.id, answer.note) == (number, text[:1000])
            assert answer.action == {text[:40]: [text]}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"request","id":1,"view":{"say":"cut',
        b'{"type":"request","id":1,"view":{"say":"x","pick":0,"items":[]},"legal":[{}],"clock":{"move_ms":1}} {}',
        b'{"type":"request","id":1,"view":{"say":"\\u12',
        b'{"type":"request","id":1,"view":' + b"[" * 100_000,
        b"no JSON at all",
        b"\xff\xfe{",
    ],
    ids=["cut", "two", "escape", "deep", "words", "bytes"],
)
def test_a_line_that_is_no_message_ends_the_bot(prepare: Prepare, language: str, line: bytes) -> None:
    """The bot ends with a sentence: it answers nothing by chance, overruns nothing and does not wait."""
    with started(prepare(f"kits/{language}"), "nim") as bot:
        bot.start_match(game="nim")
        bot.send(line)
        bot.end_input()

        assert bot.line() == b""
        assert bot.exit_code() > 0
        assert bot.stderr().strip()


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_action_that_is_none_is_refused_at_once(prepare: Prepare, language: str) -> None:
    """A choice beyond the list ends the process with a sentence; the referee would say less."""
    view = {"say": "", "pick": 7, "items": []}
    request = m.Request(1, "m1", view, (), ({"a": 1},), m.TimeLeft(move_ms=1, bank_ms=1))
    with started(prepare(f"kits/{language}"), "nim") as bot:
        bot.start_match(game="nim")
        bot.send(request)

        assert bot.exit_code() > 0
        assert bot.line() == b""
        assert bot.stderr().replace("stray", "").strip()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_bot_passes_where_no_actions_are_listed(prepare: Prepare, language: str) -> None:
    """In Riff Raff `pass` may be said whenever `legal` is null; a listed request after it is answered as ever."""
    cards = m.Request(4, "m1", {}, (), ({"card": 1}, {"card": 2}), m.TimeLeft(move_ms=1, bank_ms=1))
    load = msgspec.structs.replace(cards, id=5, legal=None)
    with started(prepare(f"templates/{language}"), "riffraff") as bot:
        bot.start_match(game="riffraff")

        loaded, played = bot.ask(load), bot.ask(cards)

    assert loaded == m.Answer(id=5, action={"pass": True})
    assert played.action in cards.legal  # type: ignore[operator]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_kit_says_hello_before_it_is_asked(prepare: Prepare, language: str) -> None:
    """And the end of input ends it, with exit code 0 and without a word."""
    with Bot(prepare(f"templates/{language}")) as bot:
        bot.end_input()

        assert bot.exit_code() == 0
        assert (bot.line(), bot.stderr()) == (b"", "")


@pytest.mark.slow
@pytest.mark.parametrize(("language", "compiler"), [("c", "cc"), ("cpp", "c++")])
def test_the_memory_of_a_kit_stands_the_sanitizers(
    prepare: Prepare, tmp_path: Path, language: str, compiler: str
) -> None:
    """Every beginning of a request, and requests with a byte changed: an answer or a sentence, never a report."""
    folder = prepare(f"kits/{language}")
    source = next(folder.glob("bot.c*"))
    checks = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wall", "-Wextra", "-Werror"]
    program = tmp_path / "checked"
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} on this machine")
    subprocess.run([compiler, *checks, "-o", program, source], check=True, timeout=300)
    line = next(line[2:] for line in DIALOGUE if '"id":3' in line and line.startswith(">")).encode()
    rng = random.Random(3)
    changed = [bytearray(line) for _ in range(150)]
    for each in changed:
        each[rng.randrange(len(each))] = rng.choice(b'"\\[]{},:0-eu \x00\xff')
    for tried in [line[:end] for end in range(0, len(line), 7)] + [bytes(each) for each in changed]:
        start = msgspec.json.encode(hello("nim"))
        done = subprocess.run(
            [program], input=start + b"\n" + tried + b"\n", capture_output=True, timeout=60, check=False
        )

        assert done.returncode >= 0, done.stderr
        assert b"Sanitizer" not in done.stderr, (tried, done.stderr.decode())
        assert b"runtime error" not in done.stderr, (tried, done.stderr.decode())
