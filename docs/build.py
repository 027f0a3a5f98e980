"""The site, built strictly from the pages of this folder and of the project: `python docs/build.py [FOLDER]`.

Rule: each page has one source. Pages lie here or, where people look for them, elsewhere in the project; the page of
commands is made from the command line itself, the page of the library from docstrings. A link that leads nowhere, a
page that no menu has, and a command or an option without a help text end the build.
"""

import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import arena
from arena.cli import cli
from arena.library.game import Rules
from arena.library.match import Match
from arena.library.table import Table

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
ELSEWHERE = {
    "protocol.md": ROOT / "protocol.md",
    "benchmarks.md": ROOT / "benchmarks" / "README.md",
    "architecture.md": ROOT / "ARCHITECTURE.md",
    "contributing.md": ROOT / "CONTRIBUTING.md",
    "security.md": ROOT / "SECURITY.md",
    "changelog.md": ROOT / "CHANGELOG.md",
}
"""Pages with their source outside this folder."""
FILES = (".svg", ".png", ".json", ".css", ".ipynb")
"""Suffixes of the files of this folder that are copied beside the pages."""
COMMANDS = "commands.md"
API = "api.md"
LIBRARY = (
    arena.play,
    arena.League,
    arena.load_match,
    arena.compare,
    arena.game,
    arena.env,
    arena.parallel_env,
    Match,
    Rules,
    Table,
)
"""The functions and classes on the page of the library, in this order."""
FENCE = re.compile(r"^(```+)(\w+)([^\n]*)$", re.MULTILINE)
LONG = 70
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


class BrokenDocs(Exception):
    """A page that cannot be built as it is; the message names it."""


def sources() -> dict[str, Path]:
    """Return the sources of all pages by their name in the site, without the generated pages."""
    return {path.name: path for path in sorted(DOCS.glob("*.md"))} | ELSEWHERE


def page(source: Path, names: dict[Path, str]) -> str:
    """Return the text of a page for the site: links lead to its pages, and fences name only language and file."""

    def link(match: re.Match[str]) -> str:
        mark, text, target = match.groups()
        name, hash_sign, anchor = target.partition("#")
        if "://" in target or not name:
            return match[0]
        file = (source.parent / name).resolve()
        if not file.exists():
            raise BrokenDocs(f"{source.relative_to(ROOT)}: {target} leads nowhere")
        if file.parent == DOCS and file.suffix in FILES:
            return f"{mark}[{text}]({file.name})"
        if file in names:
            return f"{mark}[{text}]({names[file]}{hash_sign}{anchor})"
        return f"`{text}`" if "`" not in text else text

    parts = re.split(r"(^```.*?^```$)", source.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [LINK.sub(link, part) for part in parts[::2]]
    parts[1::2] = [FENCE.sub(fence, part) for part in parts[1::2]]
    return "".join(parts)


def fence(match: re.Match[str]) -> str:
    """Return the first line of a fenced block: the language, and the name of a file as its title."""
    files = [word for word in match[3].split() if "." in word]
    return f'{match[1]}{match[2]} title="{files[0]}"' if files else match[1] + match[2]


def commands_page() -> str:
    """Return the page of every command with its usage, its help and a table of its options."""
    head = (
        "# Commands\n\nThis page is made from the command line itself; `arena COMMAND --help` prints the same. "
        "[Exit codes](results.md#exit-codes) are the same for all commands.\n"
    )
    return "\n".join([head, *(describe_command(words, command) for words, command in commands(cli, "arena"))])


def commands(group: click.Group, words: str) -> Iterator[tuple[str, click.Command]]:
    """Yield all commands below a group that do something, in the order of their group."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, f"{words} {name}")
        elif command is not None:
            yield f"{words} {name}", command


def describe_command(words: str, command: click.Command) -> str:
    """Return the section of a command; BrokenDocs if it or one of its options lacks a help text."""
    context = click.Context(command, info_name=words)
    text, _, example = inspect.cleandoc(command.help or "").partition("Example: ")
    options = [option for option in command.params if isinstance(option, click.Option)]
    silent = [option.opts[0] for option in options if not option.help]
    if not text.strip() or not example.strip() or silent:
        raise BrokenDocs(f"`{words}` lacks a help text, an example, or a help text of {silent}")
    records = filter(None, (option.get_help_record(context) for option in options))
    table = [f"| `{form}` | {cell(meaning)} |" for form, meaning in records]
    usage = command.get_usage(context).removeprefix("Usage: ")
    return "\n".join(
        [
            f"## {words}\n\n{paragraphs(text)}\n",
            f"```text\n{usage}\n```\n",
            f"```sh\n{example.strip()}\n```\n",
            *(["| Option | Meaning |", "|---|---|", *table, ""] if table else []),
        ]
    )


def api_page() -> str:
    """Return the page of the functions and classes of the library with their docstrings."""
    head = "# Library\n\nThis page is made from the docstrings. [From Python](python.md) has examples.\n"
    return "\n".join([head, *(section for entry in LIBRARY for section in document(entry, entry.__name__, "##"))])


def document(member: Any, name: str, level: str) -> Iterator[str]:
    """Yield the section of a function or a class, and of its methods; BrokenDocs without a docstring."""
    text = inspect.getdoc(member)
    if not text:
        raise BrokenDocs(f"`{name}` lacks a docstring")
    signature = "" if isinstance(member, property) else declaration(member)
    yield (
        f"{level} {name}\n\n" + (f"```text\n{name}{signature}\n```\n\n" if signature else "") + f"{paragraphs(text)}\n"
    )
    if inspect.isclass(member):
        for method, value in vars(member).items():
            if not method.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                yield from document(value, f"{name}.{method}", "###")


def declaration(member: Any) -> str:
    """Return the signature without module names, with a line for each parameter if it is long."""
    signature = inspect.signature(member)
    parts = [re.sub(r"\b(?:\w+\.)+(?=[A-Z])", "", str(part)) for part in signature.parameters.values()]
    kinds = [part.kind for part in signature.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parts.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    parts = [part for part in parts if part != "self"]
    short = f"({', '.join(parts)})"
    return short if len(short) < LONG else "(\n    " + ",\n    ".join(parts) + ",\n)"


def paragraphs(text: str) -> str:
    """Return a help text as Markdown: its placeholders are words, and its lines flow."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", escape(text.replace("\b", "").strip()))


def escape(text: str) -> str:
    """Return a text whose `<` begins no tag; code stays as it is."""
    return re.sub("`[^`]*`|<", lambda match: match[0] if match[0] != "<" else "&lt;", text)


def cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return escape(text).replace("|", "\\|")


def build(site: Path) -> int:
    """Lay the pages out in a temporary folder and build the site there; return the exit code of the builder."""
    names = {path: name for name, path in sources().items()}
    with tempfile.TemporaryDirectory(prefix="arena-docs-") as folder:
        pages = Path(folder, "docs")
        pages.mkdir()
        for path, name in names.items():
            (pages / name).write_text(page(path, names), encoding="utf-8")
        (pages / COMMANDS).write_text(commands_page(), encoding="utf-8")
        (pages / API).write_text(api_page(), encoding="utf-8")
        for path in sorted(DOCS.iterdir()):
            if path.suffix in FILES:
                shutil.copy(path, pages)
        check_menu(DOCS / "zensical.toml", {*names.values(), COMMANDS, API})
        shutil.copy(DOCS / "zensical.toml", folder)
        zensical = Path(sys.executable).with_name("zensical")
        code = subprocess.call([zensical, "build", "--strict", "--clean"], cwd=folder)
        if code == 0:
            shutil.rmtree(site, ignore_errors=True)
            shutil.copytree(Path(folder, "site"), site)
    return code


def check_menu(settings: Path, names: set[str]) -> None:
    """Raise BrokenDocs unless the menu names all pages and no others."""
    listed = set(leaves(tomllib.loads(settings.read_text(encoding="utf-8"))["project"]["nav"]))
    if listed != names:
        raise BrokenDocs(f"the menu of {settings.name} and the pages differ: {sorted(listed ^ names)}")


def leaves(menu: Any) -> Iterator[str]:
    """Yield the pages of a menu, from its entries of one title each."""
    if isinstance(menu, str):
        yield menu
    else:
        for part in menu.values() if isinstance(menu, dict) else menu:
            yield from leaves(part)


def main() -> int:
    """Build into the named folder, or `site`; return the exit code."""
    try:
        return build(Path(sys.argv[1] if sys.argv[1:] else ROOT / "site").resolve())
    except BrokenDocs as problem:
        print(f"docs: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    sys.exit(main())
