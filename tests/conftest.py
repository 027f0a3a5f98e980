"""What all tests share."""

import os
from pathlib import Path

import pytest

# Everywhere the same: tests of control groups run in a machine made for them, see .ci/guest.
os.environ.setdefault("ARENA_CGROUP", "no")


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    """A folder of the test's own that bots may read too: where root runs the tests, they have another user."""
    tmp_path.chmod(0o755)
    return tmp_path
