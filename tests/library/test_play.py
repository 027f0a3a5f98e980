"""`arena.play` and `arena.League` from a program: bots and functions play, its own process is left alone."""

import random
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.golden import Golden

import arena
from arena.errors import MalformedReply, SpecError
from arena.games.api import Decision

pytestmark = pytest.mark.process
PUBLIC: dict[str, Any] = {"game": "nim", "seed": "7"}


def first(_view: object, legal: list[Any]) -> object:
    return legal[0]


class Counting:
    """An object with the methods of `arena_kit.Bot`."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def start(self, match: Mapping[str, Any]) -> None:
        self.heard.append(match["type"])

    def act(self, request: Mapping[str, Any]) -> object:
        self.heard.append(request["type"])
        return np.int64(len(request["legal"]) - 1)

    def end(self, result: Mapping[str, Any]) -> None:
        self.heard.append(result["type"])


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run_script(source: str) -> "subprocess.CompletedProcess[str]":
    """Run a script, which has no guard of `__main__`."""
    Path("script.py").write_text(source)
    return subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, check=False)


def test_a_function_meets_a_bot(golden: Golden) -> None:
    """Its matches are stored, verified and told like any others, and say that no sandbox was there."""
    threads: set[int] = set()

    def last(_view: object, legal: list[Any]) -> object:
        threads.add(threading.get_ident())
        return legal[-1]

    played = arena.play(last, "random", blocks=2, **PUBLIC)

    table, matches = played.standings(), played.matches()
    assert {row["player"]: row["matches"] for row in table} == {"last": 4, "random": 4}
    assert "isolation none" in table.title
    assert [row["termination"] for row in matches] == ["normal"] * 4
    assert threads == {threading.get_ident()}
    golden("\n".join(played.verify()))


def test_an_object_of_the_kit_plays() -> None:
    """An object gets start and end of a match, and may answer with an index, a number of numpy too."""
    player = Counting()

    played = arena.play(player, first, blocks=1, **PUBLIC)

    assert [row["termination"] for row in played.matches()] == ["normal"] * 2
    assert [player.heard.count(kind) for kind in ("match_start", "match_end")] == [2, 2]


ENDED_BY_AN_EXCEPTION = """
import os, sys, time
import arena
from arena.process.reaper import become_subreaper, descendants

def bad(view, legal):
    raise ZeroDivisionError("on purpose")

become_subreaper()  # no orphan gets away
try:
    arena.play(bad, "random", game="nim", seed="7")
except ZeroDivisionError:
    deadline_s = time.monotonic() + 30
    while descendants(os.getpid()) and time.monotonic() < deadline_s:
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        time.sleep(0.01)
    print("raised, and left", descendants(os.getpid()))
"""


def test_the_exception_of_a_function_comes_out_and_nothing_stays(golden: Golden) -> None:
    """The child and its bots are ended, down to the fork server, which hears the end of the child."""
    golden(run_script(ENDED_BY_AN_EXCEPTION).stdout)


@pytest.mark.parametrize("error", [StopIteration, ConnectionRefusedError, ValueError])
def test_no_exception_of_a_function_is_swallowed(error: type[Exception]) -> None:
    """Exceptions of a function come out, also kinds that Python's loops, pipes and parsers use as signals."""

    def bad(_view: object, _legal: object) -> object:
        raise error

    with pytest.raises(error):
        arena.play(bad, "random", **PUBLIC)


def test_another_run_with_functions_in_the_same_results_is_refused() -> None:
    """A second run with functions is refused: it would take over the sockets of the first."""
    content = {"name": "one", "cycles": 2, "players": [{"bot": first}, {"bot": "random"}], **PUBLIC}
    refused: list[str] = []

    def heard(_done: int, _total: int) -> None:
        with pytest.raises(SpecError, match="another run of a league with functions"):
            arena.League({**content, "name": "other"}).run()
        refused.append("once")

    league = arena.League(content)
    league.run(progress=heard)

    assert refused
    assert {row["termination"] for row in league.matches()} == {"normal"}


def test_a_file_of_the_caller_hides_no_module(tmp_path: Path) -> None:
    """The child does not import from the working folder."""
    (tmp_path / "queue.py").write_text("raise SystemExit")

    assert len(arena.play("random", "random", isolation="none", **PUBLIC).standings()) == 2


def test_a_league_goes_on(tmp_path: Path, golden: Golden) -> None:
    """A second run plays what is new; another version of a function would drop what its name has played."""
    players = [{"bot": first, "version": "1"}, {"bot": "random"}]
    content = {"name": "spring", "cycles": 1, "players": players, **PUBLIC}
    heard: list[tuple[int, int]] = []
    league = arena.League(content, results="kept")
    assert len(league.run(progress=lambda done, total: heard.append((done, total)))) == 2
    before = league.matches()

    arena.League({**content, "cycles": 2}, results="kept").run()

    assert before == [row for row in league.matches() if row["block"] == 0]
    assert len(arena.League({**content, "cycles": 2}, results=tmp_path / "kept").matches()) == 4
    assert heard[-1] == (2, 2)
    with golden.raises(SpecError):
        arena.League({**content, "players": [{"bot": first, "version": "2"}, {"bot": "random"}]}, results="kept").run()


def test_a_match_is_told_step_by_step(golden: Golden) -> None:
    """States of a match are states of the game's rules."""
    played = arena.play(first, "random", **PUBLIC)
    match = arena.load_match(played.matches()[0]["id"], results=played._results)
    rules = arena.game("nim")

    assert [row["step"] for row in match.steps()] == list(range(1, len(match.steps()) + 1))
    assert rules.is_over(match.state())
    assert not rules.is_over(match.state(0))
    assert rules.outcome(match.state()).ranks == match.ranks
    assert match.picture().startswith("<svg")
    assert {row["way"] for row in match.dialogue()} == {">", "<"}
    with golden.raises(IndexError):
        match.state(10_000)


FORKED = """
import gc, os, sys
import arena

played = arena.play("random", "random", isolation="none", game="nim", seed="7")
results = played._results
if not (pid := os.fork()):
    sys.exit()
os.waitpid(pid, 0)
print("after the fork", len(played.matches()))
del played
gc.collect()
print("kept", results.exists())
"""


def test_the_results_of_a_match_go_with_it_and_not_with_a_fork(golden: Golden) -> None:
    """A fork that ends leaves them to the process that they belong to."""
    golden(run_script(FORKED).stdout)


@pytest.mark.parametrize(
    ("players", "more", "sentence"),
    [
        (("random", "nobody"), {}, 'no bot "nobody"'),
        (("random", "random"), {"game": "chess"}, '^unknown game "chess"'),
        ((first, "random"), {"isolation": "sandbox"}, "a function plays in the caller's process"),
        (("random",), {}, "^seats: found 1"),
        ((5, "random"), {}, "player int: expected a bot's name, a path, .*, found 5"),
        ((Counting, "random"), {}, "player Counting: expected .*no class"),
        (("random", "random"), {"workers": 0}, "workers"),
    ],
)
def test_mistakes_are_sentences(players: tuple[Any, ...], more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        arena.play(*players, **{**PUBLIC, **more})


def test_a_mapping_is_read_as_strictly_as_a_file(golden: Golden) -> None:
    with golden.raises(SpecError):
        arena.League({"name": "odd", "gaem": "nim", "cycles": 1, "players": []}).run()
    with golden.raises(SpecError):
        arena.League({"name": "odd", "game": "nim", "cycles": 1, "players": [{"name": "x"}, {"bot": "random"}]}).run()
    with golden.raises(SpecError):
        arena.League({"name": "odd", "players": [first]})
    with golden.raises(SpecError):
        arena.League({"name": "odd", "players": [{"bot": first, "name": "../../up"}]})
    with golden.raises(SpecError):
        arena.League({"name": "odd", "game": "nim", "cycles": 1, "players": 5}).run()


def test_the_process_of_the_caller_is_left_alone() -> None:
    """Signals, start method, folder, loggers, other children are as before; in a script without a `__main__` guard."""
    done = run_script(
        """
import logging, multiprocessing, os, signal, subprocess, sys
child = subprocess.Popen(["sleep", "600"])
def state():
    handlers = [signal.getsignal(each) for each in signal.valid_signals()]
    method, root = multiprocessing.get_start_method(allow_none=True), logging.root
    return handlers, method, os.getcwd(), root.handlers, root.level, child.poll()
before = state()
import arena
played = arena.play(lambda view, legal: legal[0], "random", game="nim", seed="7", workers=2, blocks=2)
assert state() == before
assert len(played.matches()) == 4
child.kill(); child.wait()
print("left alone")
"""
    )

    assert (done.stdout, done.stderr, done.returncode) == ("left alone\n", "", 0)


def test_it_plays_in_another_thread() -> None:
    """Where no handler of a signal can be set."""
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(len(arena.play(first, "random", **PUBLIC).matches())))

    thread.start()
    thread.join()

    assert found == [2]


def test_an_interruption_ends_child_and_bots(golden: Golden) -> None:
    """Ctrl-C in the middle of a league: KeyboardInterrupt comes out, no process stays, and the league goes on."""
    done = run_script(
        """
import arena, os, signal
from arena.process.reaper import descendants
signal.signal(signal.SIGINT, signal.default_int_handler)
players = [{"bot": "random", "name": name} for name in "ab"]
league = arena.League({"name": "long", "game": "nim", "seed": 1, "cycles": 300, "players": players})
def heard(done, total):
    if done > 80: os.kill(os.getpid(), signal.SIGINT)
try: league.run(progress=heard, isolation="none", workers=1)
except KeyboardInterrupt: print("interrupted", descendants(os.getpid()), 0 < len(league.matches()) < 600)
"""
    )

    golden(done.stdout)


def test_a_killed_caller_takes_the_league_along() -> None:
    """The driver hears it when it next tells its progress."""
    done = run_script(
        """
import arena, os, signal
players = [{"bot": "random", "name": name} for name in "ab"]
league = arena.League({"name": "long", "game": "nim", "seed": 1, "cycles": 3000, "players": players})
def heard(done, total):
    if done > 80: os.kill(os.getpid(), signal.SIGKILL)
league.run(progress=heard, isolation="none", workers=1)
"""
    )

    assert done.returncode == -signal.SIGKILL
    with subprocess.Popen(["flock", "--wait", "60", "results/arena.lock", "true"]) as lock:  # the driver holds it
        assert lock.wait() == 0


def test_import_costs_nothing() -> None:
    """Importing arena loads no other module of it, and none of its dependencies."""
    code = "import sys; before = set(sys.modules); import arena; print(*set(sys.modules) - before)"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    loaded = ran.stdout.split()
    assert [name for name in loaded if name.startswith("arena")] == ["arena"]
    assert {name.split(".")[0] for name in loaded} <= {"arena", *sys.stdlib_module_names}


def test_games_are_pure(golden: Golden) -> None:
    """Random playouts in three lines."""
    rules = arena.game("shanghaien")
    state = rules.setup()
    over = rules.playout(random.Random(1))

    assert rules.outcome(over) == rules.outcome(rules.playout(random.Random(1), state))
    assert rules.setup() == state
    assert rules.picture(state).startswith("<svg")
    with golden.raises(SpecError):
        rules.apply(over, 0)


def test_a_playout_finds_room_for_every_piece() -> None:
    """An action for which the simulated world has no room is replaced, as in a check of the game."""
    rules = arena.game("riffraff")

    assert rules.is_over(rules.playout(random.Random(0)))


@pytest.mark.parametrize("name", ["connect_four", "kuhn_poker"])
def test_a_seat_that_does_not_decide_has_no_legal_action(name: str) -> None:
    """Before the deal, after the end, and for a seat that is not there."""
    rules = arena.game(name)

    for state in (rules.setup(), rules.playout(random.Random(1))):
        decides = isinstance(rules.turn(state), Decision)
        assert [bool(rules.legal(state, seat)) for seat in (0, 1, 2)] == [decides, False, False]


@pytest.mark.parametrize(("action", "error"), [(3, MalformedReply), (None, MalformedReply), ({1, 2}, TypeError)])
def test_a_value_that_is_no_action_is_a_sentence(action: object, error: type[Exception], golden: Golden) -> None:
    """Of one seat, and of several that decide at once."""
    nim, riffraff = arena.game("nim"), arena.game("riffraff")
    bidding = riffraff.setup()
    while not isinstance(riffraff.turn(bidding), Decision):
        bidding = riffraff.resolve(bidding, rng=random.Random(1))

    with golden.raises(error):
        nim.apply(nim.setup(), action)
    with golden.raises(TypeError):
        riffraff.apply(bidding, action)
    with golden.raises(TypeError):
        riffraff.apply(bidding, {0: action})
