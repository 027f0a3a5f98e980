"""The bundled scripts are those of their sources, keep the licences of others, and are small."""

import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest

SITE: Final = Path(__file__).parents[2] / "arena" / "site"
BROWSER, ASSETS = SITE / "browser", SITE / "assets"
BUNDLES: Final = {"player.js": 40_000, "shanghaien.js": 40_000, "riffraff.js": 613_000}
"""The bundles and the bytes that each may have."""


@pytest.mark.parametrize("name", BUNDLES)
def test_a_bundle_is_made_of_the_sources_that_are_here(name: str) -> None:
    """`npm run build` in arena/site/browser was not forgotten."""
    sources = sorted(path for path in BROWSER.iterdir() if re.search(r"\.(m?js|css)$|^package-lock\.json$", path.name))
    digest = sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()

    assert (ASSETS / name).read_text().startswith(f"/* sources sha256:{digest} */"), "run `npm run build`"
    assert (ASSETS / name).stat().st_size <= BUNDLES[name]


def test_bundles_can_stand_in_a_page_and_ask_for_nothing() -> None:
    """No module, no fetch, and no end of a script element in them; the licence of three.js lies beside them."""
    for name in BUNDLES:
        text = (ASSETS / name).read_text()
        assert "</script" not in text
        assert text.isascii()
    ours = "".join(path.read_text() for path in BROWSER.glob("*.js"))
    assert not re.search(
        r"\bfetch\(|XMLHttpRequest|innerHTML|insertAdjacentHTML|outerHTML|document\.write|\beval\(", ours
    )
    assert "Permission is hereby granted" in (ASSETS / "three.LICENSE.txt").read_text()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.skipif(shutil.which("node") is None, reason="no node to bundle with")
@pytest.mark.skipif(not (BROWSER / "node_modules").is_dir(), reason="`npm ci` was not run in arena/site/browser")
def test_another_build_gives_the_same_bytes(tmp_path: Path) -> None:
    """A build with the versions of the lock file gives the same bytes."""
    subprocess.run(["node", "build.mjs", str(tmp_path)], cwd=BROWSER, check=True)

    for name in (*BUNDLES, "three.LICENSE.txt"):
        assert (tmp_path / name).read_bytes() == (ASSETS / name).read_bytes()
