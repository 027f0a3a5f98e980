"""The parts of pages that the code knows, written anew from it: `python docs/columns.py`.

Rule: a column has one definition, in arena/report, a kit of `new-bot` one, in arena/operations/new_bot.py. A page has
the table of all columns from `<!-- columns of TABLE -->` to `<!-- end -->`, the text of one or several from
`<!-- meaning of NAME -->`, the table of kits from `<!-- kits of new-bot -->`.
"""

import re
from pathlib import Path
from textwrap import fill

from arena.operations.new_bot import KITS, OF_A_GAME, TEMPLATES, files_elsewhere
from arena.report.columns import LEADERBOARD, PLUS_MINUS
from arena.report.matches import MATCH_COLUMNS

DOCS = Path(__file__).resolve().parent
PART = re.compile(r"(<!-- (columns|meaning|kits) of ([^>\n]+) -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)
WIDTH = 125
MEANINGS = {"±": PLUS_MINUS} | {each.name: each.meaning for each in LEADERBOARD}


def main() -> None:
    """Write the pages whose parts are not those of the code."""
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if filled(text) != text:
            page.write_text(filled(text), encoding="utf-8")
            print(page.relative_to(DOCS.parent))


def filled(text: str) -> str:
    """A page with the tables and texts of today's code."""
    return PART.sub(lambda found: found[1] + part(found[2], found[3]) + found[4], text)


def part(kind: str, name: str) -> str:
    """The part of a page; KeyError for a table or a column that does not exist."""
    if kind != "meaning":
        return "\n".join({"the leaderboard": leaderboard, "league matches": matches, "new-bot": kits}[name]())
    names = name.split(", ")
    if len(names) == 1:
        return flowing(sentence(MEANINGS[name]))
    return "\n".join(flowing(f"- `{each}`: {MEANINGS[each]}") for each in names)


def flowing(text: str) -> str:
    """A paragraph whose code stands within one line."""
    whole = re.sub("`[^`]*`", lambda found: found[0].replace(" ", "\0"), text)
    return fill(whole, WIDTH, subsequent_indent="  " * text.startswith("- "), break_on_hyphens=False).replace("\0", " ")


def sentence(meaning: str) -> str:
    """With a capital letter and a full stop."""
    return f"{meaning[:1].upper()}{meaning[1:]}."


def leaderboard() -> list[str]:
    """A line for each column of the leaderboard."""
    return ["| Column | Meaning |", "|---|---|", *(f"| `{each.name}` | {each.meaning} |" for each in LEADERBOARD)]


def matches() -> list[str]:
    """A line for each column of the list of matches, by its names in CSV and in JSON."""
    rows = [(f"{each.name}_S" if each.is_by_seat else each.name, each.key, each.meaning) for each in MATCH_COLUMNS]
    return [
        "| CSV | JSON | Meaning |",
        "|---|---|---|",
        *(f"| `{name}` | `{key}` | {meaning} |" for name, key, meaning in rows),
    ]


def kits() -> list[str]:
    """A line for each language of `arena new-bot`."""
    lines = ["| Language | `--lang` | Files | On Debian | For Riff Raff |", "|---|---|---|---|---|"]
    for name, kit in KITS.items():
        files = [*TEMPLATES.joinpath(name).iterdir(), *files_elsewhere(name)]
        names = ", ".join(sorted(f"`{each.name}`" for each in files if each.name not in ("bot.yaml", "__pycache__")))
        packages = " ".join(f"`{each}`" for each in kit.packages)
        lines.append(f"| {kit.title} | `{name}` | {names} | {packages} | {'yes' * (f'{name}-riffraff' in OF_A_GAME)} |")
    return lines


if __name__ == "__main__":
    main()
