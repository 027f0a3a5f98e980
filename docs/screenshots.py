"""The pictures of web pages, made anew: `python docs/screenshots.py` plays two small leagues and takes them.

It takes minutes, and needs the extras `site`, `riffraff` and `browser`, and chromium. The leagues draw luck in secret,
so that each run plays other matches.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import ViewportSize, sync_playwright

DOCS = Path(__file__).parent
SIZE: ViewportSize = {"width": 1240, "height": 660}
LEAGUES = {
    "cards": """
game: shanghaien
players: [{bot: random}, {bot: greedy}, {bot: sensible}]
cycles: 40
clock: {move_ms: 50, bank_ms: 1000}
rating: {draw_probability: 0.01}
""",
    "ships": """
game: riffraff
players: [{bot: shipmate, name: tidy, arguments: [tidy]}, {bot: shipmate, name: random, arguments: [random]}]
cycles: 1
clock: {move_ms: 100, bank_ms: 2000}
rating: {draw_probability: 0.02}
""",
}


def main() -> None:
    """Write docs/*.png."""
    program = shutil.which("chromium")
    if program is None:
        sys.exit("no chromium: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        site = _site(Path(folder))
        flags = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        flags += ["--no-sandbox"] if os.getuid() == 0 else []
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=program, args=flags)
            page = browser.new_page(viewport=SIZE, device_scale_factor=0.7)
            _standings(page, site)
            for game in ("shanghaien", "riffraff"):
                _match(page, site, game)


def _site(folder: Path) -> Path:
    for name, text in LEAGUES.items():
        (folder / f"{name}.yaml").write_text(f"name: {name}\n{text}")
        _arena("league", "run", str(folder / f"{name}.yaml"), "--results", str(folder / "results"))
    _arena("site", "build", "--to", str(folder / "site"), "--results", str(folder / "results"))
    return folder / "site"


def _arena(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "arena", *words], check=True, stdout=subprocess.DEVNULL)


def _standings(page: Any, site: Path) -> None:
    """Take a picture of the standings of the league of three."""
    (place,) = (page_file for page_file in site.glob("league/*/index.html") if "sensible" in page_file.read_text())
    page.goto(place.as_uri())
    page.screenshot(path=DOCS / "site-standings.png")


def _match(page: Any, site: Path, game: str) -> None:
    """Take a picture of the first match of a game at its largest swing, or far in if the game has no values."""
    pages = [page_file for page_file in sorted(site.glob("match/*.html")) if f"{game}.js" in page_file.read_text()]
    page.goto(pages[0].as_uri())
    page.wait_for_selector(".steps [aria-current=step]")
    swing, steps = page.locator(".jump-swing"), page.locator(".steps a")
    (swing if swing.count() else steps.nth(steps.count() * 4 // 5)).click()
    page.wait_for_timeout(2000)  # the picture is drawn by then; a person looks at it before it is committed
    page.locator(".stages").screenshot(path=DOCS / f"player-{game}.png")


if __name__ == "__main__":
    main()
