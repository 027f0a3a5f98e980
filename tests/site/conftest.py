"""What tests in a real browser share."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The browser; without the extra its tests are skipped."""
    from support.site_browser import chromium  # noqa: PLC0415 - it skips whoever imports it without the extra

    with chromium() as started:
        yield started
