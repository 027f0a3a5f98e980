"""What all tests share."""

import gc
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Everywhere the same: tests of control groups run in a machine made for them, see .ci/guest.
os.environ.setdefault("ARENA_CGROUP", "no")
os.environ.pop("COLUMNS", None)  # those of the terminal of whoever tests, which xdist hands on
# A background job of a shell begins with SIGINT ignored, which programs started by tests would inherit: with a handler
# that does nothing the suite itself ignores it as before, and its children do not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, lambda _number, _frame: None)

gc.disable()  # until all tests are collected: of what imports make there is no garbage worth a search

# The last matches of `arena match` are the user's; those of tests are not.
_STATE = tempfile.TemporaryDirectory(prefix="arena-tests-state-")
os.environ["XDG_STATE_HOME"] = _STATE.name

pytest_plugins = ["support.cli_arena", "support.golden"]
EXTRAS = {"pyspiel": "openspiel", "pettingzoo": "training"}  # the lanes of these names in CI install them
collect_ignore = [folder for package, folder in EXTRAS.items() if not find_spec(package)]


# A slow machine takes its time, also to make examples: nothing is judged by it. A lane of CI makes many.
for profile, examples in (("arena", 40), ("many", 400)):
    settings.register_profile(
        profile, deadline=None, max_examples=examples, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("arena")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with processes first, of them and of the others those with more tests: the last file of a run is short."""
    tests = Counter(item.path for item in items)
    starting = {item.path for item in items if item.get_closest_marker("process")}
    items.sort(key=lambda item: (item.path not in starting, -tests[item.path], item.path))


def pytest_collection_finish() -> None:
    """What is imported by now stays: no search for garbage goes through it again."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    """A folder of the test's own that bots may read too: where root runs the tests, they have another user."""
    tmp_path.chmod(0o755)
    return tmp_path


@pytest.fixture
def toy_game() -> Iterator[None]:
    """The toy game is one of arena's, which a record can name."""
    from support.toy_game import on_offer  # noqa: PLC0415 - after the environment is set

    with on_offer():
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser; without the extra its tests are skipped."""
    from support.site_browser import chromium  # noqa: PLC0415 - it skips whoever imports it without the extra

    with chromium() as started:
        yield started
