"""`arena positions`: a regression set of positions of stored matches."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from support.bot_source import bot_script
from support.cli_arena import Terminal

pytestmark = pytest.mark.process


@pytest.fixture
def steps(terminal: Terminal) -> list[int]:
    """The steps for which mine was asked, in the first match of nim that it played."""
    Path("mine.py").write_text(bot_script())
    Path("last.py").write_text(bot_script("len(m['legal']) - 1"))
    players = [{"bot": "./mine.py"}, {"bot": "random"}]
    terminal.played(players=players, options={"heaps": [4, 5, 6]})
    lines = terminal.arena(f"dialogue {terminal.first_match()} mine").out.splitlines()
    return [int(line.split()[1].strip(",")) for line in lines if line.startswith("step ")]


def test_a_set_is_saved_and_run_without_the_results(terminal: Terminal, steps: list[int]) -> None:
    """The version that played passes, another one fails where it differs; the CI gets an exit code and JUnit XML."""
    match = terminal.first_match()
    for step in steps[:2]:
        assert terminal.arena(f"positions save {match} mine --step {step}").code == 0
    either = terminal.arena(f"positions save {match} mine --step {steps[0]} --name either --expect 0 --expect 1")
    assert either.out.count(" or ") == 1
    (terminal.results / "arena.db").unlink()

    mine = terminal.arena("positions run ./mine.py")
    assert (mine.code, mine.out.splitlines()[-1]) == (0, "3 of 3 positions pass")
    last = terminal.arena("positions run ./last.py positions --junit report.xml")
    assert (last.code, last.out.splitlines()[-1]) == (1, "0 of 3 positions pass")

    suite = ET.parse("report.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "3")
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == sorted([f"{match}-{step}" for step in steps[:2]] + ["either"])
    assert all(case.get("classname") == match for case in cases)
    messages = [failure.get("message", "") for failure in suite.iter("failure")]
    assert all("; expected {" in message for message in messages)


def test_a_position_is_a_file_that_one_may_edit(terminal: Terminal, steps: list[int]) -> None:
    """A mistake in it is told with its place."""
    match = terminal.first_match()
    terminal.arena(f"positions save {match} mine --step {steps[0]} --name here")
    path = Path("positions/here.yaml")
    content = yaml.safe_load(path.read_text())
    assert set(content) == {"match", "player", "step", "expect"}

    for changes, said in (
        ({"expect": []}, "expect"),
        ({"match": "../../passwd"}, "match"),
        ({"match": "none"}, "match: positions/matches/none.json cannot be read"),
        ({"player": "nobody"}, "player: found nobody, the players are mine, random"),
        ({"step": 999}, "step: mine was not asked for step 999"),
        ({"steps": 1}, 'unknown key "steps"'),
        ({"expect": [{"heap": 0, "cuont": 1}]}, 'expect: {"cuont":1,"heap":0}: not an action of nim'),
        ({"expect": [{"heap": 9, "count": 1}]}, 'expect: {"count":1,"heap":9}: there is no heap 9'),
        ({"expect": [99]}, "expect: 99 is no index"),
        ({"expect": [None]}, "expect: null: "),
    ):
        path.write_text(yaml.safe_dump(content | changes))
        found = terminal.arena("positions run ./mine.py")
        assert (found.code, found.out) == (2, "")
        assert "positions/here.yaml" in found.err
        assert said in found.err


def test_an_index_is_an_action_in_a_file_too(terminal: Terminal, steps: list[int]) -> None:
    """And a file may be called .yml: none is left out silently."""
    terminal.arena(f"positions save {terminal.first_match()} mine --step {steps[0]} --name here")
    path = Path("positions/here.yaml")
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"expect": [0]}))
    path.rename("positions/here.yml")

    found = terminal.arena("positions run ./mine.py")

    assert (found.code, found.out.splitlines()[-1]) == (0, "1 of 1 position passes")
    assert '{"heap":0,"count":1}' in found.out


def test_the_request_that_lost_a_match_is_a_position(terminal: Terminal) -> None:
    """There the expected answers must be given: none is recorded. Dialogue and ask know its step, too."""
    Path("frail.py").write_text(bot_script(asked="assert m['id'] < 2, 'second request'"))
    Path("mine.py").write_text(bot_script(start="pass"))
    terminal.played(players=[{"bot": "./frail.py"}, {"bot": "random"}], options={"heaps": [9, 9]}, stderr="keep")
    match = terminal.first_match()

    asked = terminal.arena(f"ask ./mine.py {match} --as frail")
    (row,) = (line for line in asked.out.splitlines() if " crash: the bot ended with exit code 1" in line)
    step = row.split()[0]
    assert (asked.code, row.endswith("takes 1 from heap 0")) == (1, True)
    assert terminal.arena(f"ask ./frail.py {match}").code == 0

    told = terminal.arena(f"dialogue {match} frail --step {step}").out
    assert f"step {step}, request 2: " in told
    assert "second request" in told
    raw = terminal.arena(f"dialogue {match} frail --step {step} --raw").out
    assert '"type":"request","id":2' in raw.splitlines()[-1]

    refused = terminal.arena(f"positions save {match} frail --step {step}")
    assert (refused.code, "the match ended there with a fault and no answer" in refused.err) == (2, True)
    assert terminal.arena(f"positions save {match} frail --step {step} --expect 0").code == 0
    assert terminal.arena("positions run ./mine.py").code == 0
    assert terminal.arena("positions run ./frail.py").code == 1


def test_a_bot_that_ends_fails_and_the_others_are_told(terminal: Terminal, steps: list[int]) -> None:
    """The position at which it crashed, and those that it never saw."""
    match = terminal.first_match()
    for step in steps:
        terminal.arena(f"positions save {match} mine --step {step} --name step-{step:03}")
    Path("frail.py").write_text(bot_script(asked="assert m['id'] < 2"))

    found = terminal.arena("positions run ./frail.py")

    rows = [line.split()[1] for line in found.out.splitlines() if line.startswith("step-")]
    assert (found.code, rows) == (1, ["pass"] + ["FAIL"] * (len(steps) - 1))
    assert "crash: the bot ended with exit code 1" in found.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--expect 99", "--expect: 99 is no index: there are actions 0 to "),
        ('--expect \'{"heap": 7, "count": 1}\'', '--expect: {"heap":7,"count":1}: '),
        ("--expect nonsense", "--expect: not JSON"),
        ("--name ../up", "--name: found '../up', expected letters, digits"),
        ("--step 999", "--step 999: mine was not asked for that step"),
    ],
)
def test_what_cannot_be_expected_is_told(terminal: Terminal, steps: list[int], words: str, said: str) -> None:
    """And nothing is written."""
    step = "" if "--step" in words else f"--step {steps[0]}"

    found = terminal.arena(f"positions save {terminal.first_match()} mine {step} {words}")

    assert found.code == 2
    assert said in found.err.replace("'--expect'", "--expect")
    assert not Path("positions").exists()


def test_an_empty_folder_is_no_set(terminal: Terminal) -> None:
    """The sentence says how to make one; and no position is replaced silently."""
    Path("positions").mkdir()
    assert "`arena positions save MATCH PLAYER --step N` writes one" in terminal.arena("positions run random").err
