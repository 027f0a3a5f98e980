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
