"""The site is built strictly: what is wrong on a page, in the menu or in a help text ends the build."""

import importlib.util
from pathlib import Path

import build
import click
import pytest

import arena
from arena.cli import cli


def test_a_link_that_leads_nowhere_ends_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page and the link are named."""
    monkeypatch.setattr(build, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("Read [this](none.md).")

    with pytest.raises(build.BrokenDocs, match=r"page\.md: none\.md leads nowhere"):
        build.page(page, {})


def test_a_page_keeps_its_links_and_loses_words_behind_fences(tmp_path: Path) -> None:
    """Links follow their page to its place in the site; other files of the project are named, not linked."""
    (tmp_path / "docs").mkdir()
    other, page = tmp_path / "other.md", tmp_path / "docs" / "page.md"
    other.write_text("# Other")
    (tmp_path / "bot.py").write_text("")
    page.write_text("[a](../other.md#b) [bot](../bot.py) [c](https://example.org)\n```sh needs-cc\n[x](y)\n```\n")

    text = build.page(page, {other: "other.md"})

    assert text == "[a](other.md#b) `bot` [c](https://example.org)\n```sh\n[x](y)\n```\n"
    page.write_text("```yaml a/bot.yaml\n```\n")
    assert build.page(page, {}) == '```yaml title="a/bot.yaml"\n```\n'


def test_a_command_or_an_option_without_help_ends_the_build() -> None:
    """Both are named."""
    option = click.Option(["--silent"])
    told = click.Command("x", params=[option], help="Do it.\n\nExample: arena x")

    with pytest.raises(build.BrokenDocs, match=r"`arena x` lacks .* \['--silent'\]"):
        build.describe_command("arena x", told)
    with pytest.raises(build.BrokenDocs, match="`arena y` lacks a help text"):
        build.describe_command("arena y", click.Command("y"))


def test_every_command_and_option_is_on_the_page_of_commands() -> None:
    """With its usage, its example and its options."""
    page = build.commands_page()

    for words, command in build.commands(cli, "arena"):
        assert f"## {words}\n" in page
        section = page.split(f"## {words}\n")[1].split("\n## ")[0]
        names = [name for each in command.params if isinstance(each, click.Option) for name in each.opts]
        assert [name for name in names if f"| `{name}" not in section] == []


def test_every_name_of_the_library_is_on_its_page() -> None:
    """With its docstring; a function without one ends the build."""
    page = build.api_page()

    names = [name for name in arena.__all__ if not name.startswith("_")]
    assert [name for name in names if f"## {name}\n" not in page] == []
    assert "### League.run\n" in page
    with pytest.raises(build.BrokenDocs, match="`silent` lacks a docstring"):
        list(build.document(lambda: None, "silent", "##"))


def test_a_page_that_no_menu_has_ends_the_build(tmp_path: Path) -> None:
    """And so does an entry of the menu without a page."""
    menu = tmp_path / "menu.toml"
    menu.write_text('[project]\nnav = [{ "A" = "a.md" }, { "B" = [{ "C" = "c.md" }] }]')

    build.check_menu(menu, {"a.md", "c.md"})
    with pytest.raises(build.BrokenDocs, match=r"differ: \['c\.md', 'd\.md'\]"):
        build.check_menu(menu, {"a.md", "d.md"})


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("zensical") is None, reason="no zensical here: pip install '.[docs]'")
def test_the_site_is_built(tmp_path: Path) -> None:
    """Every page is there, without a warning of the builder."""
    assert build.build(tmp_path / "site") == 0
    built = {path.stem for path in (tmp_path / "site").glob("*.html")}
    assert {Path(name).stem for name in build.sources()} | {"commands", "api"} <= built
