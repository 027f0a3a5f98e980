"""`arena show --times --lines` of matches played by processes, of which some were there before."""

import re
from pathlib import Path

import pytest
from cli_arena import Terminal, bot_script

PRINTER = bot_script(asked="print('sixteen letters.', file=sys.stderr, end='', flush=True); print('a stray line')")
pytestmark = pytest.mark.process


def test_a_stored_match_is_told_line_by_line(terminal: Terminal) -> None:
    """Each line as it went, the bytes of stderr, the banks; in the first match of a process and in the next ones."""
    Path("printer.py").write_text(PRINTER)
    assert terminal.league("./printer.py", "random", flags="--workers 1", seed=None, chunk_blocks=2).code == 0
    matches = re.findall(r"^\w+-\d-\d", terminal.arena("league matches test").out, re.MULTILINE)
    told = [terminal.arena(f"show {match} --times --lines") for match in matches]

    assert [said.code for said in told] == [0] * 4
    assert [said.out.count("all lines as they went over the wire:") for said in told] == [2] * 4
    assert [said.out.count('> {"type":"hello"') for said in told] == [2, 2, 0, 0]
    assert all('< {"type": "action", "id": ' in said.out for said in told)
    assert all("< a stray line" in said.out for said in told)
    assert all(re.search(r"^ +2 .* 1000.000 +32  1 stray$", said.out, re.MULTILINE) for said in told)
    assert terminal.arena("verify").code == 0


@pytest.mark.process
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
