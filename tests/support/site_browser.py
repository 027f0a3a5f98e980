"""A real browser for tests: Debian's chromium, told by playwright, with an account of all that a page does."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="the extra `browser` is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the extra `browser` is not installed")

PHONE: Final = {"width": 360, "height": 740}
DESK: Final = {"width": 1280, "height": 900}


class Account:
    """All that pages asked for and complained of."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []

    def listen(self, page: Any) -> None:
        """Take down what happens in a page."""
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("requestfailed", lambda request: self.complaints.append(f"{request.url}: {request.failure}"))
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._dialog)

    def _console(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def _dialog(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser, drawing 3D in software."""
    program = shutil.which("chromium")
    if program is None:
        pytest.fail("no chromium: apt-get install chromium")
    flags = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", *(["--no-sandbox"] if os.getuid() == 0 else [])]
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=flags)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Any, url: str, *, is_quiet: bool = True, **context: Any) -> Iterator[tuple[Any, Account]]:
    """A page in a context of its own, loaded, and the account of what it did until then and goes on to do.

    One that `is_quiet` must have complained of nothing in the end.
    """
    made = browser.new_context(**{"viewport": DESK, **context})
    page, account = made.new_page(), Account()
    account.listen(page)
    page.goto(url, wait_until="load")
    yield page, account
    made.close()
    assert not is_quiet or account.complaints == []


def serious_faults(page: Any) -> list[Any]:
    """Return what axe-core finds in a page that is serious or worse: its name, and the first elements."""
    found = axe.Axe().run(page, options={"preload": False}).response["violations"]
    serious = [each for each in found if each["impact"] in {"serious", "critical"}]
    return [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in serious]


def overflow(page: Any) -> int:
    """Return by how many pixels a page is wider than its window."""
    wider: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return wider
