"""What all tests share."""

from pathlib import Path

import pytest


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    """A folder of the test's own that bots may read too: where root runs the tests, they have another user."""
    tmp_path.chmod(0o755)
    return tmp_path
