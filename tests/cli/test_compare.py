"""`arena compare` in this process, with real bots."""

import json
import shutil
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal

pytestmark = pytest.mark.process

NIM = "--game nim --options '{\"heaps\": [1, 2]}' --move-ms 10000"  # whatever else the machine does


@pytest.fixture
def terminal(terminal: Terminal) -> Terminal:
    for name, number in (("good", 2), ("poor", 1)):  # of heaps 1 and 2: one from heap 1 wins, all of it loses
        Path(f"{name}.py").write_text(bot_script(f"min({number}, len(m['legal']) - 1)"))
    return terminal


def test_a_better_bot_is_found_to_be_better(terminal: Terminal) -> None:
    """The verdict is a sentence, and the exit code; all numbers are there for programs, and for a page in Markdown."""
    ran = terminal.arena(f"compare ./good.py ./poor.py {NIM} --elo1 100 --seed 0")
    again = terminal.arena(f"compare ./good.py ./poor.py {NIM} --elo1 100 --seed 0 --format json")

    page = terminal.arena(f"compare ./good.py ./poor.py {NIM} --elo1 100 --seed 0 --format markdown")

    found = json.loads(again.out)
    exit_code = 0 if found["verdict"] in {"accept H1", "identical"} else 1
    assert (ran.code, ran.err, again.code, page.code) == (exit_code, "", exit_code, exit_code)
    assert page.out.startswith(f"**{ran.out.splitlines()[0]}**\n\n| ")
    assert f"{found['blocks']} ({found['matches']} matches" in page.out
    assert found["verdict"] in {"accept H1", "accept H0", "identical", "inconclusive"}
    assert (found["new"], found["old"]) == ("good", "poor")
    assert f"{found['blocks']} ({found['matches']} matches" in ran.out


@pytest.mark.slow
def test_the_verdict_does_not_depend_on_workers_or_stops(terminal: Terminal) -> None:
    """One worker, two workers, and two runs, the first cut short by a small cap, print the same bytes."""
    command = f"compare random ./poor.py {NIM} --seed 0 --elo1 60 --format json"
    whole = terminal.arena(f"{command} --workers 1").out
    shutil.rmtree("results")
    parallel = terminal.arena(f"{command} --workers 2").out
    shutil.rmtree("results")
    terminal.arena(f"{command} --blocks 8")
    resumed = terminal.arena(command).out

    assert whole == parallel == resumed


@pytest.mark.slow
def test_a_comparison_goes_on_by_another_model(terminal: Terminal) -> None:
    """Blocks that were stored without luck are measured; none is played twice, and the verdict has the same blocks."""
    command = "compare greedy random --seed 0 --elo1 200 --format json"
    plain = json.loads(terminal.arena(f"{command} --model logistic").out)
    adjusted = json.loads(terminal.arena(f"{command} --model luck-adjusted").out)
    shutil.rmtree("results")
    alone = json.loads(terminal.arena(f"{command} --model luck-adjusted").out)

    assert plain["verdict"] == adjusted["verdict"] == "accept H1"
    assert adjusted == alone
