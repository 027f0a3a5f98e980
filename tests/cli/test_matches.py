"""`arena show`, `dialogue`, `ask` and `positions`: the text of a stored match, and of other answers in it."""

import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal
from support.golden import Golden

START = '{"type":"match_start'
pytestmark = pytest.mark.process


@pytest.fixture
def match(terminal: Terminal) -> str:
    """A match of nim that `mine` played; `later` goes another way from its second answer on."""
    Path("mine.py").write_text(bot_script(note="'first'", asked="print('thinking', file=sys.stderr)"))
    Path("later.py").write_text(bot_script("0 if m['id'] < 2 else len(m['legal']) - 1"))
    terminal.played("./mine.py", "random", players=[{"bot": "./mine.py"}, {"bot": "random"}], stderr="keep")
    return terminal.first_match()


def test_answers_are_a_table_of_what_differs(terminal: Terminal, match: str) -> None:
    """Exit 1, and the step to look at; of one step the position, both answers, and what came with them."""
    same, found = terminal.arena(f"ask ./mine.py {match}"), terminal.arena(f"ask ./later.py {match} --as mine")

    assert (same.code, same.err) == (0, "")
    assert re.fullmatch(r"(\d+) of \1 answers are the same\n", same.out)
    steps = re.findall(r"^(\d+)  ", found.out, re.MULTILINE)
    assert (found.code, found.out.splitlines()[0].split()) == (1, ["step", "recorded", "now"])
    assert f"`--step {steps[0]}` shows the table there" in found.err
    detail = terminal.arena(f"ask ./mine.py {match} --step {steps[0]}")
    assert detail.out.startswith("mine to move\nheap 0: ")
    assert f"step {steps[0]}: the same answer\nrecorded: takes " in detail.out
    assert detail.out.endswith("# 'first', " + detail.out.rpartition("# 'first', ")[2])
    assert "stderr | thinking" in detail.out


def test_a_match_played_on_is_printed_to_its_end(terminal: Terminal) -> None:
    """The table of connect_four ends with the numbers of its columns, which are no steps."""
    assert terminal.league("random", "random", game="connect_four", cycles=1).code == 0
    match = terminal.first_match()
    steps = [line for line in terminal.arena(f"show {match}").out.splitlines() if " p0 drops" in line]

    said = terminal.arena(f"ask random {match} --as p0 --step {steps[0].split()[0]} --play-on")

    assert "      1 2 3 4 5 6 7\n\nseat " in said.out
    assert said.out.count(" answers, ") == 2
    then, now = said.out.splitlines()[-2:]
    assert then.removeprefix("as it was: ") == now.partition(" as p0: ")[2]


def test_a_debugger_has_time(terminal: Terminal, match: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is named before the request goes out, and no clock runs."""
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))

    found = terminal.arena(f"ask ./mine.py {match} --wait --isolation none")

    assert found.code == 0
    assert re.match(r"process \d+ runs mine 1 \(\w+\); the request for step \d+ comes after Enter\n", found.err)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("ask random {} --play-on", "--play-on goes with --step"),
        ("ask random {} --play-on --step 1 --wait", "give either --wait or --play-on"),
        ("positions save {} mine --step 1 --expect nonsense", "--expect: not JSON"),
        ("show {} --step 999", "--step 999: the match has "),
    ],
)
def test_options_that_contradict_each_other(terminal: Terminal, match: str, words: str, said: str) -> None:
    """Exit 2, with a sentence."""
    found = terminal.arena(words.format(match))

    assert (found.code, found.out) == (2, "")
    assert said in found.err.replace("'--expect'", "--expect")


def test_positions_pass_or_fail(terminal: Terminal, match: str) -> None:
    """The CI gets an exit code and JUnit XML."""
    step = re.findall(r"^step (\d+)", terminal.arena(f"show {match} --lines mine").out, re.MULTILINE)[1]
    made = terminal.arena(f"positions save {match} mine --step {step}")
    assert re.fullmatch(rf"positions/{match}-{step}.yaml: mine at step {step}, expected {{.*}}\n", made.out)

    mine, later = (terminal.arena(f"positions run ./{bot}.py --to {bot}.xml") for bot in ("mine", "later"))

    assert (mine.code, mine.out.splitlines()[-1]) == (0, "1 of 1 position passes")
    assert (later.code, later.out.splitlines()[-1]) == (1, "0 of 1 position passes")
    suite = ET.parse("later.xml").getroot()
    (case,) = suite.findall("testcase")
    (failure,) = suite.iter("failure")
    assert (suite.get("tests"), suite.get("failures"), case.get("classname")) == ("1", "1", match)
    assert (case.get("name"), "; expected {" in failure.get("message", "")) == (f"{match}-{step}", True)


def test_the_dialogue_is_what_went_over_the_wire(terminal: Terminal) -> None:
    """Byte for byte as the bot's own log of its input has it, for a pipe with the `hello` of its process."""
    Path("logger.py").write_text(
        bot_script(
            start=f"log = open(f'{terminal.folder}/{{os.getpid()}}.log', 'wb')",
            each="log.write(line.encode()); log.flush()",
            note="f'note {m[\"id\"]} \\u00e9'",
        )
    )
    flags = "--workers 1 --isolation none"
    assert terminal.league("./logger.py", "random", flags=flags, seed=None, chunk_blocks=2).code == 0
    wires = [path.read_text().partition('{"type":"quit"')[0] for path in terminal.folder.glob("*.log")]
    heard = {
        f'{wire.splitlines()[0]}\n{{"type":"match_start{match}' for wire in wires for match in wire.split(START)[1:]
    }

    ids = re.findall(r"^\w+-\d-\d", terminal.arena("league matches test").out, re.MULTILINE)
    told = [terminal.arena(f"show {match} --lines p0 --raw").out for match in ids]
    assert (len(wires), set(told)) == (2, heard)

    steps = re.findall(r"^step (\d+), request", terminal.arena(f"show {ids[0]} --lines p0").out, re.MULTILINE)
    part, ended = (
        terminal.arena(f"show {ids[0]} --lines p0 --raw --step {step}").out for step in (steps[1], steps[-1])
    )
    assert told[0].startswith(part)
    assert part.count('"type":"request"') == 2
    assert [json.loads(line)["type"] for line in ended.splitlines()][-1] == "request"


def test_a_match_is_told_round_by_round(terminal: Terminal) -> None:
    """A match has a heading and the points for each round; its table has names."""
    said = terminal.arena("match greedy random --seed 1 --steps")

    first = said.out.split("match friendly")[0].split("\nmatch ")[0]
    assert said.code == 0
    assert [line for line in first.splitlines() if line.startswith("--- ")] == [
        f"--- round {number} of 8 ---" for number in range(1, 9)
    ]
    assert first.count("points by now: ") == 8
    assert re.search(r"the game is over: \d+ points for random, \d+ for greedy", first)


def test_stderr_is_shown_at_its_step_where_a_tournament_keeps_it(terminal: Terminal, match: str) -> None:
    """Stderr is shown at its step if the tournament keeps it (none by default), and by `arena match --steps`."""
    whole = terminal.arena(f"show {match}").out.splitlines()
    told = [number for number, line in enumerate(whole) if "stderr | thinking" in line]
    assert told
    assert all(" mine " in whole[number - 1] for number in told)
    step = terminal.arena(f"show {match} --step {whole[told[0] - 1].split()[0]}").out.splitlines()
    assert (step[0].strip(), step[1][:14]) == ("mine to move", "      heap 0: ")
    assert step[5:] == whole[told[0] - 1 : told[0] + 1]

    assert "stderr | thinking" in terminal.arena("match ./mine.py random --game nim --steps").out
    assert terminal.league("./mine.py", "random", name="quiet").code == 0
    quiet = terminal.arena("league matches quiet").out.split()[0]
    assert "stderr |" not in terminal.arena(f"show {quiet}").out
    assert "stderr" in terminal.league(stderr="all").err


def judging(values: str) -> str:
    """A bot that gives these values, an expression over the message, to what it evaluates."""
    answer = f"{{'type': 'evaluation', 'id': m['id'], 'values': {values}}}"
    return bot_script(
        hello='{"type": "hello", "protocols": [1], "capabilities": ["evaluate"]}',
        each=f"if m['type'] == 'evaluate': print(json.dumps({answer}), flush=True)",
    )


def test_a_match_is_judged_by_a_bot_that_evaluates(terminal: Terminal, match: str, golden: Golden) -> None:
    """Nim has no value of its own; a bot without the capability is named; wrong answers are counted."""
    own, other = terminal.arena(f"coach {match}"), terminal.arena(f"coach {match} --by random")
    for name, first in (("judge", 0.25), ("wrong", 2)):
        Path(f"{name}.py").write_text(judging(f"[{first}] + [0.5] * (len(m['legal']) - 1)"))

    assert (own.code, own.out) == (2, "")
    golden(own.err)
    assert (other.code, other.out) == (1, "")
    assert "random 1" in other.err
    golden(other.err)
    said, wrong = (
        terminal.arena(f"coach {match} mine --by ./judge.py"),
        terminal.arena(f"coach {match} --by ./wrong.py"),
    )
    assert (said.code, said.err) == (0, "")
    golden(said.out)
    assert (wrong.code, wrong.err) == (0, "")
    golden(wrong.out)
    data = json.loads(terminal.arena(f"coach {match} --by ./judge.py --format json").out)
    assert {ledger["start"] for ledger in data["ledgers"]} == {0.5}
