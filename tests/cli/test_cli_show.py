"""`arena show --times` and `arena dialogue` of matches played by processes, of which some were there before."""

import json
import re
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal

START = '{"type":"match_start'
PRINTER = bot_script(asked="print('sixteen letters.', file=sys.stderr, end='', flush=True); print('a stray line')")
pytestmark = pytest.mark.process


def test_a_stored_match_is_told_line_by_line(terminal: Terminal) -> None:
    """Each line as it went, the bytes of stderr, the banks; in the first match of a process and in the next ones."""
    Path("printer.py").write_text(PRINTER)
    assert terminal.league("./printer.py", "random", flags="--workers 1", seed=None, chunk_blocks=2).code == 0
    matches = re.findall(r"^\w+-\d-\d", terminal.arena("league matches test").out, re.MULTILINE)
    told = [terminal.arena(f"show {match} --times").out for match in matches]
    lines = [terminal.arena(f"dialogue {match} {player}").out for match in matches for player in ("p0", "p1")]

    assert all("all lines as they went over the wire:" in said for said in lines)
    assert ['> {"type":"hello"' in said for said in lines] == [True] * 4 + [False] * 4
    assert all('< {"type": "action", "id": ' in said for said in lines)
    assert ["< a stray line" in said for said in lines] == [True, False] * 4
    assert all(re.search(r"^ +2 .* 1000.000 +32  1 stray$", said, re.MULTILINE) for said in told)
    assert terminal.arena("verify").code == 0


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
    told = [terminal.arena(f"dialogue {match} p0 --raw").out for match in ids]
    assert (len(wires), set(told)) == (2, heard)

    step = re.findall(r"^step (\d+), request 2", terminal.arena(f"dialogue {ids[0]} p0").out, re.MULTILINE)[0]
    part = terminal.arena(f"dialogue {ids[0]} p0 --raw --step {step}").out
    assert told[0].startswith(part)
    assert part.count('"type":"request"') == 2

    last = re.findall(r"^step (\d+), request", terminal.arena(f"dialogue {ids[0]} p0").out, re.MULTILINE)[-1]
    ended = terminal.arena(f"dialogue {ids[0]} p0 --raw --step {last}").out
    assert [json.loads(line)["type"] for line in ended.splitlines()][-1] == "request"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("p0 --step 999", "--step 999: p0 was not asked for that step, of "),
        ("p7", 'unknown player "p7"'),
        ("9", 'unknown player "9"'),
    ],
)
def test_a_step_without_an_answer_names_those_with_one(terminal: Terminal, words: str, said: str) -> None:
    """And a player that did not play, those who did. A number is a seat."""
    terminal.played()
    match = terminal.first_match()

    found = terminal.arena(f"dialogue {match} {words}")

    assert (found.code, found.out) == (2, "")
    assert said in found.err
    assert terminal.arena(f"dialogue {match} 0").code == 0


def test_a_match_is_told_round_by_round(terminal: Terminal) -> None:
    """With a heading for each, who won which card, and the points; the table has names."""
    said = terminal.arena("match greedy random --seed 1 --steps")

    first = said.out.split("match friendly")[0].split("\nmatch ")[0]
    assert said.code == 0
    assert [line for line in first.splitlines() if line.startswith("--- ")] == [
        f"--- round {number} of 8 ---" for number in range(1, 9)
    ]
    assert first.count("points by now: ") == 8
    assert re.search(r"the game is over: \d+ points for random, \d+ for greedy", first)


def test_stderr_is_shown_at_its_step_where_a_tournament_keeps_it(terminal: Terminal) -> None:
    """And in `arena match --steps` always; a league that says nothing stores none of it."""
    Path("loud.py").write_text(bot_script(asked="print('thinking hard', file=sys.stderr, flush=True)"))

    shown = terminal.arena("match ./loud.py random --game nim --steps").out.splitlines()
    assert [line for line in shown if "stderr | thinking hard" in line]
    for kept in ({"stderr": "keep"}, {}):
        name = f"test{len(kept)}"
        assert terminal.league("./loud.py", "random", name=name, seed=name, **kept).code == 0
        match = terminal.arena(f"league matches {name}").out.split()[0]
        lines = terminal.arena(f"show {match}").out.splitlines()
        told = [number for number, line in enumerate(lines) if "stderr | thinking hard" in line]
        assert bool(told) == bool(kept)
        assert all(" p0 " in lines[number - 1] for number in told)
    assert terminal.arena("verify").code == 0
    assert "stderr" in terminal.league(stderr="all").err


def test_show_tells_one_step_with_the_table_before_it(terminal: Terminal) -> None:
    """The bot's stderr, too; a step that the match has not is refused with the number of its steps."""
    Path("loud.py").write_text(bot_script(asked="print('thinking', file=sys.stderr)"))
    terminal.played("./loud.py", "random", stderr="keep")
    match = terminal.first_match()
    whole = terminal.arena(f"show {match}").out.splitlines()
    first = next(line for line in whole if " p0 takes" in line)

    said = terminal.arena(f"show {match} --step {first.split()[0]}")

    lines = said.out.splitlines()
    assert (said.code, lines[0].strip()) == (0, "p0 to move")
    assert lines[1].startswith("      heap 0: ")
    assert lines[5:] == [first, "      stderr | thinking"]
    far = terminal.arena(f"show {match} --step 999")
    assert (far.code, far.out) == (2, "")
    assert "--step 999: the match has " in far.err
