"""What the doctor says of languages, in folders made for it."""

from pathlib import Path

import pytest
from support.golden import Golden

from arena.doctor.sandbox import languages


def program(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_languages_inside_and_not_at_all(tmp_path: Path, golden: Golden) -> None:
    """The doctor lists languages inside the sandbox, and expected ones that are missing."""
    program(tmp_path / "in", "python3")
    program(tmp_path / "in", "cc")

    (found,) = languages(str(tmp_path / "in"), "", tmp_path / "home")

    golden(found.text)


@pytest.mark.parametrize(
    ("place", "lent"),
    [
        ("home/.nvm/versions/node/v20.1.0/bin", "home/.nvm/versions/node/v20.1.0"),
        ("home/.local/bin", "home/.local/bin"),
        ("home/bin", "home/bin"),
        ("tools/node20/bin", "tools/node20"),
        ("tools/loose", "tools/loose"),
    ],
)
def test_a_language_outside_comes_with_the_words_that_lend_it(tmp_path: Path, place: str, lent: str) -> None:
    """Its own folder; never a whole home."""
    program(tmp_path / place, "node")

    _, found = languages("", str(tmp_path / place), tmp_path / "home")

    assert found.text == f"node: not where bots see them; to lend them, set ARENA_RUNTIMES={tmp_path / lent}"


def test_rust_is_lent_by_its_toolchain(tmp_path: Path) -> None:
    """rustup's proxies ask for settings that bots do not have; the stable one is taken."""
    home = tmp_path / "home"
    program(home / ".cargo" / "bin", "rustc")
    for name in ("nightly", "stable"):
        program(home / ".rustup" / "toolchains" / name / "bin", "rustc")

    _, found = languages("", str(home / ".cargo" / "bin"), home)

    assert found.text.endswith(f"ARENA_RUNTIMES={home}/.rustup/toolchains/stable")


def test_a_link_is_followed_to_where_the_language_is(tmp_path: Path) -> None:
    """Links of update-alternatives and package managers are followed to the folder of the language."""
    real = program(tmp_path / "jdk" / "bin", "java")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "java").symlink_to(real)

    _, found = languages("", str(tmp_path / "links"), tmp_path / "home")

    assert found.text.endswith(f"={tmp_path}/jdk")
