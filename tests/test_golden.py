"""The golden texts themselves: none without a test, and a test notices a difference."""

from pathlib import Path

import pytest
from support.golden import FOLDER, TESTS, Golden, read_golden, write_golden


def test_each_golden_text_is_compared_by_a_test() -> None:
    """A test that was renamed or removed leaves no text behind."""
    kept = {
        (path.relative_to(FOLDER).with_suffix(".py"), section.split("[")[0])
        for path in FOLDER.rglob("test_*.txt")
        for section in read_golden(path)
    }

    assert kept
    assert not [name for module, name in kept if f"def {name}(" not in (TESTS / module).read_text(encoding="utf-8")]


@pytest.mark.parametrize("text", ["another", "the text\nand more", "", "THE TEXT"])
def test_a_difference_fails(tmp_path: Path, text: str) -> None:
    """Another text, a longer one and none are noticed; folders, hashes and what a pattern matches do not count."""
    path = tmp_path / "test_some.txt"
    write_golden(
        path, {"test_it": ["", "    indented\n\n=== no section\n---", "the text of TMP, HASH and ..."]}, tmp_path
    )
    golden = Golden(path, "test_it", tmp_path, is_new=False)
    golden("")
    golden(["    indented", "", "=== no section", "---"])
    golden(f"the text of {tmp_path}, 0123456789ab and 3 s", without=r"\d+ s")

    with pytest.raises(AssertionError):
        Golden(path, "test_it", tmp_path, is_new=False)(text or "none")
