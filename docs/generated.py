"""The parts of pages that the code knows, written anew from it: `python docs/generated.py`.

Rule: a column has one definition, in arena/report, a kit of `new-bot` one, in arena/operations/new_bot.py, a contract
one, in pyproject.toml. A page has a part from `<!-- PART of NAME -->` to `<!-- end -->`: the table of all `columns`,
the `meaning` of one or several, the `kits`, the `keys` of tournament files, the `packages` of arena, the `contracts` of
imports, their longest `chain`.
"""

import ast
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any

import msgspec

from arena.league.tournament import TournamentFile
from arena.operations.new_bot import GAME_TEMPLATES, KITS, TEMPLATES, files_elsewhere
from arena.report.columns import LEADERBOARD, PLUS_MINUS
from arena.report.matches import MATCH_COLUMNS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]
PART = re.compile(r"(<!-- (\w+) of ([^>\n]+) -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)
WIDTH = 125
YAML_TYPES = {
    "IntType": "integer",
    "FloatType": "number",
    "StrType": "text",
    "BoolType": "true or false",
    "DictType": "object",
    "AnyType": "any value",
    "DateTimeType": "time with zone",
    "VarTupleType": "list",
    "ListType": "list",
}
MEANINGS = {"±": PLUS_MINUS} | {each.name: each.meaning for each in LEADERBOARD}


def main() -> None:
    """Write the pages whose generated parts differ from the code."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if fill_page(text) != text:
            page.write_text(fill_page(text), encoding="utf-8")
            print(page.relative_to(ROOT))


def fill_page(text: str) -> str:
    """Return a page with the tables and texts of the current code."""
    return PART.sub(lambda found: found[1] + part(found[2], found[3]) + found[4], text)


def part(kind: str, name: str) -> str:
    """Return a part of a page; KeyError for one that does not exist."""
    if kind != "meaning":
        parts = {
            "columns of the leaderboard": leaderboard,
            "columns of league matches": matches,
            "kits of new-bot": kits,
            "keys of tournaments": tournament_keys,
            "packages of arena": packages,
            "contracts of imports": contracts,
            "chain of packages": chain,
        }
        return "\n".join(parts[f"{kind} of {name}"]())
    names = name.split(", ")
    if len(names) == 1:
        return flowing(sentence(MEANINGS[name]))
    return "\n".join(flowing(f"- `{column}`: {MEANINGS[column]}") for column in names)


def flowing(text: str) -> str:
    """Wrap a paragraph without breaking its code."""
    whole = re.sub("`[^`]*`", lambda found: found[0].replace(" ", "\0"), text)
    return fill(whole, WIDTH, subsequent_indent="  " * text.startswith("- "), break_on_hyphens=False).replace("\0", " ")


def sentence(meaning: str) -> str:
    """Return a meaning with a capital letter and a full stop."""
    return f"{meaning[:1].upper()}{meaning[1:]}."


def leaderboard() -> list[str]:
    """Return a line for each column of the leaderboard."""
    return ["| Column | Meaning |", "|---|---|", *(f"| `{column.name}` | {column.meaning} |" for column in LEADERBOARD)]


def matches() -> list[str]:
    """Return a line for each column of the list of matches, by its names in CSV and in JSON."""
    rows = [(column.name + "_S" * column.is_by_seat, column.key, column.meaning) for column in MATCH_COLUMNS]
    return [
        "| CSV | JSON | Meaning |",
        "|---|---|---|",
        *(f"| `{name}` | `{key}` | {meaning} |" for name, key, meaning in rows),
    ]


def kits() -> list[str]:
    """Return a line for each language of `arena new-bot`."""
    lines = ["| Language | `--lang` | Files | On Debian | For Riff Raff |", "|---|---|---|---|---|"]
    for name, kit in KITS.items():
        files = [*TEMPLATES.joinpath(name).iterdir(), *files_elsewhere(name)]
        names = ", ".join(sorted(f"`{file.name}`" for file in files if file.name not in ("bot.yaml", "__pycache__")))
        packages = " ".join(f"`{package}`" for package in kit.packages)
        riffraff = "yes" * (f"{name}-riffraff" in GAME_TEMPLATES)
        lines.append(f"| {kit.title} | `{name}` | {names} | {packages} | {riffraff} |")
    return lines


def tournament_keys() -> list[str]:
    """Return a line for each key of a tournament file, with its type, default and range."""
    return [
        "| Key | Type | Default | Range |",
        "|---|---|---|---|",
        *key_lines(msgspec.inspect.type_info(TournamentFile)),
    ]


def key_lines(kind: Any, prefix: str = "") -> Iterator[str]:
    """Yield the lines of the keys of a section, and of the sections in it."""
    for field in kind.fields:
        types = map(plain_type, getattr(plain_type(field.type), "types", (field.type,)))
        values = [value for value in types if not isinstance(value, msgspec.inspect.NoneType)]
        items = [plain_type(getattr(value, "item_type", value)) for value in values]
        sections = [item for item in items if isinstance(item, msgspec.inspect.StructType)]
        name = f"{prefix}{field.encode_name}"
        if not sections:
            limits = "; ".join(dict.fromkeys(filter(None, map(range_of, values))))
            types_text = " or ".join(dict.fromkeys(map(type_name, values)))
            yield f"| `{name}` | {types_text} | {default_of(field)} | {limits} |"
        for section in sections:
            tag = f", {section.tag}: " if section.tag else ": "
            yield from key_lines(section, name + tag)


def plain_type(kind: Any) -> Any:
    """Return a type without the metadata around it."""
    return plain_type(kind.type) if isinstance(kind, msgspec.inspect.Metadata) else kind


def default_of(field: Any) -> str:
    """Return the default of a key for a reader; `required` if it has none."""
    if field.required:
        return "required"
    default = field.default
    if default in (None, msgspec.UNSET, msgspec.NODEFAULT, "", ()):
        return ""
    plain = number(default).replace(" ", "") if type(default) in (int, float) else json.dumps(default)
    return f"`{default if isinstance(default, str) else plain}`"


def number(value: float) -> str:
    """Write a number without an exponent, in groups of three digits."""
    return f"{value:.4g}" if value != int(value) else f"{int(value):_}".replace("_", " ")


def type_name(kind: Any) -> str:
    """Return the type of a value as YAML writes it: `integer`, `list of text`, or the choice of words."""
    if isinstance(kind, msgspec.inspect.LiteralType):
        return " or ".join(f"`{value}`" for value in kind.values)
    item = getattr(kind, "item_type", None) and plain_type(kind.item_type)
    return YAML_TYPES[type(kind).__name__] + (f" of {type_name(item)}" if item else "")


def range_of(kind: Any) -> str:
    """Return the bounds of a number or of the length of a text: `1 to 64`, `above 0`."""
    if (pattern := getattr(kind, "pattern", None)) is not None:
        return f"`{pattern}`".replace("|", "\\|")
    low, high = (getattr(kind, name, None) for name in ("ge", "le"))
    above, below = (getattr(kind, name, None) for name in ("gt", "lt"))
    bounds = [f"{number(low)} to {number(high)}"] if low is not None and high is not None else []
    words = {"at least": low, "above": above, "at most": high, "below": below}
    return " and ".join(bounds or [f"{word} {number(bound)}" for word, bound in words.items() if bound is not None])


@cache
def import_contracts() -> list[dict[str, Any]]:
    """Read the contracts of import-linter."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return list(settings["tool"]["importlinter"]["contracts"])


def layers() -> list[str]:
    """Return the packages and modules of arena, from the top to the bottom."""
    (house,) = (contract for contract in import_contracts() if contract["type"] == "layers")
    return [name for layer in house["layers"] for name in layer.split(" | ")]


def packages() -> list[str]:
    """Return a line for each package, with the first line of its docstring."""
    lines = ["| `arena/` | is |", "|---|---|"]
    for name in layers():
        path = ROOT / "arena" / name
        source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        about = (ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or "").partition("\n")[0]
        lines.append(f"| `{name}` | {about} |")
    return lines


def contracts() -> list[str]:
    """Return a line for each contract, with what it forbids."""
    return [
        "| contract | it holds |",
        "|---|---|",
        *(f"| {contract['name']} | {rule_of(contract)} |" for contract in import_contracts()),
    ]


def rule_of(contract: Mapping[str, Any]) -> str:
    """Return the rule of a contract as a sentence."""
    if contract["type"] == "layers":
        return "each package imports only those that stand below it in the table above"
    if contract["type"] == "acyclic_siblings":
        return "modules of one package import each other without a circle"
    names = {
        key: ", ".join(f"`{name}`" for name in contract.get(key, ())) for key in ("source_modules", "forbidden_modules")
    }
    if contract["type"] == "independence":
        return f"none of {', '.join(f'`{name}`' for name in contract['modules'])} imports another one"
    allowed = [name.partition(" -> ")[0] for name in contract.get("ignore_imports", ())]
    but = f", but for {', '.join(f'`{name}`' for name in allowed)}" if allowed else ""
    return f"{names['source_modules']} does not import {names['forbidden_modules']}{but}"


def chain() -> list[str]:
    """Return the longest chain of imports from package to package, the first of equally long ones."""
    imports = {
        name: {
            below
            for path in [*(ROOT / "arena" / name).rglob("*.py"), ROOT / "arena" / f"{name}.py"]
            if path.exists()
            for below in re.findall(r"^ *(?:from|import) arena\.(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        }
        for name in layers()
    }
    ways: dict[str, list[str]] = {}
    for name in reversed(layers()):
        below = [ways[other] for other in sorted(imports[name] & set(ways))]
        ways[name] = [name, *max(below, key=len, default=[])]
    return [" → ".join(f"`{name}`" for name in max(ways.values(), key=len))]


if __name__ == "__main__":
    main()
