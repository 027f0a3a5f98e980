"""Pages name commands, files, tests and places that exist."""

import re
import shlex
from pathlib import Path
from xml.etree import ElementTree as ET

import click
import msgspec
import pytest
import yaml
from msgspec import UNSET
from picture import END_FRAMES, ROWS, draw
from support.docs_pages import BLOCKS, NAMES, ROOT, Block, anchors, blocks, links

from arena import validation
from arena.cli import cli
from arena.cli.compare import compare
from arena.league.tournament import ClusterSettings, TournamentFile, read_tournament
from arena.match.settings import ClockSettings
from arena.process.limits import Limits
from arena.process.manifest import Manifest
from arena.standings.ratings import RatingSettings
from arena.store.bots import BotStore
from arena.yaml_file import parse_yaml, read_yaml

PREFIX = re.compile(r"^(?:python3 start\.py|arena)\s+(?!test\b)")
README_LINES = 70
SVG = "{http://www.w3.org/2000/svg}"
DATA = {"sh", "text", "json", "yaml"}
PLAYED_ELSEWHERE = ("riffraff",)
"""The kit-free bot of Riff Raff plays in protocol/test_riffraff.py."""


def commands() -> list[tuple[str, str]]:
    """(page, command line) of each line of a shell block that begins with `arena` or `start.py`."""
    lines = [(block.page, line) for block in BLOCKS if block.language == "sh" for line in block.text.splitlines()]
    return [(page, re.split(r" [|>] ", PREFIX.sub("", line))[0]) for page, line in lines if PREFIX.match(line)]


@pytest.mark.parametrize(("page", "line"), commands())
def test_a_shown_command_parses(page: str, line: str) -> None:
    """Command, options and arguments exist as they are written."""
    arguments = shlex.split(line, comments=True)

    command: click.Command | None = cli
    while isinstance(command, click.Group):
        _, command, arguments = command.resolve_command(click.Context(command), arguments)
    assert command is not None, page
    is_known_later = "$" in line or "openspiel:" in line  # a variable, or a game of an extra that is not installed here
    assert command.make_context(page, arguments, resilient_parsing=is_known_later).command is command


@pytest.mark.parametrize("page", NAMES)
def test_links_within_the_project_lead_somewhere(page: str) -> None:
    """Each has its file, and its heading."""
    for target in links(page):
        name, _, anchor = target.partition("#")
        file = (ROOT / page).parent / name if name else ROOT / page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


@pytest.mark.parametrize("page", NAMES)
def test_programs_and_tests_that_a_page_names_exist(page: str) -> None:
    """`python benchmarks/run.py` and the like, and tests by the name of their file."""
    text = (ROOT / page).read_text(encoding="utf-8")

    programs = set(re.findall(r"\bpython3? ((?:benchmarks|docs|tests)/[\w/]+\.py)", text))
    assert [name for name in programs if not (ROOT / name).exists()] == []
    tests = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    assert set(re.findall(r"\btest_\w+\.py", text)) <= tests


def test_a_program_of_the_project_knows_the_options_a_page_shows() -> None:
    """`--only` and the like of each line that begins with `python` stand in the program's source."""
    lines = [line for block in BLOCKS if block.language == "sh" for line in block.text.splitlines()]
    shown = [words[1:] for line in lines if len(words := shlex.split(line, comments=True)) > 1 and words[0] == "python"]
    sources = [((ROOT / name).read_text(encoding="utf-8"), more) for name, *more in shown if name.endswith(".py")]

    assert sources
    for source, more in sources:
        assert [word for word in more if word.startswith("--") and f'"{word}"' not in source] == []


@pytest.mark.parametrize("page", NAMES)
def test_code_on_a_page_is_used_there(page: str) -> None:
    """A block in a language that runs is for the shell, is saved to a file that a command names, or is data."""
    shown = blocks(page)
    typed = "".join(block.text for block in shown if block.language == "sh")

    for block in shown:
        if block.file and block.language != "yaml":
            assert Path(block.file).name in typed or Path(block.file).parts[0] in typed
        else:
            assert block.file or block.language in DATA or block.words == PLAYED_ELSEWHERE


def test_the_readme_fits_on_a_screen_or_two() -> None:
    """It has room for a sentence, a picture, commands, a bot, its table and links; it invents no address."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    assert len(text.splitlines()) <= README_LINES
    assert "://" not in text
    for word in ("referee", "JSON lines", "any language", "round robin", "parallel", "TrueSkill", "Submit a script"):
        assert re.search(rf"\[{word}\]\(", text), word


def test_the_page_of_results_has_the_table_of_the_first_page() -> None:
    """Both are of the league whose secret is published."""
    results = (ROOT / "results" / "README.md").read_text(encoding="utf-8").translate({ord(sign): None for sign in "| "})
    (table,) = [block.text for block in blocks("docs/index.md") if block.text.startswith("  rank")]

    lines = re.findall(r"^ +\d  .*$", table, re.MULTILINE)
    assert lines
    assert {"".join(line.split()) for line in lines} <= {*results.splitlines()}


def test_the_picture_is_a_recording_of_a_whole_match() -> None:
    """Its first frame is the start, its last one the end, which stands still for readers who want no motion."""
    texts = [*ET.fromstring((ROOT / "docs" / "picture.svg").read_text(encoding="utf-8")).iter(f"{SVG}text")]
    lines = {line.get("class", ""): "".join(line.itertext()) for line in texts}
    words = "\n".join("".join(line.itertext()) for line in texts)
    still = "\n".join(line for name, line in lines.items() if name.endswith(" z"))

    last = re.findall(r"step 0 of (\d+) ", words)[0]
    assert f"step {last} of {last} " in still
    assert re.search(r"seat \d \w+ wins: \d+ to \d+", words)


def test_a_line_of_the_recording_is_drawn_once_for_the_frames_in_which_it_stays() -> None:
    """With the colours of its parts, and no markup of its own."""
    line = "\x1b[38;5;4m<ann>\x1b[0m & bob"
    root = ET.fromstring(draw([[line, *[""] * (ROWS - 1)], [line, "b", *[""] * (ROWS - 2)]], "x"))

    lines = [line for line in root.iter(f"{SVG}text") if line.get("class")]
    assert ["".join(line.itertext()) for line in lines] == ["<ann> & bob", "b"]
    assert [line.get("class") for line in lines] == [f"r f0-{1 + END_FRAMES} z", f"r f1-{1 + END_FRAMES} z"]
    assert [part.text for part in root.iter(f"{SVG}tspan")] == ["<ann>"]


def tournament_of(text: str, folder: Path) -> list[str]:
    path = folder / "shown.yaml"
    path.write_text(text, encoding="utf-8")
    tournament = read_tournament(path, BotStore(folder / "results", ROOT / "bots").find)
    return [player.name for player in tournament.players]


def test_the_workflow_to_copy_is_one_with_options_that_compare_has() -> None:
    """The last step of the workflow on the page of versions is a command line that `arena compare` takes."""
    (text,) = [block.text for block in blocks("docs/author.md") if block.file.endswith("better.yml")]
    line = yaml.safe_load(text)["jobs"]["compare"]["steps"][-1]["run"].partition(" >> ")[0]

    context = compare.make_context("compare", shlex.split(line)[2:])

    assert context.params["form"] == "markdown"
    assert context.params["elo1"] > context.params["elo0"]


TEMPLATES = ROOT / "arena" / "operations" / "templates"
COMMENTED = re.compile(r"^( *)# ?( *[a-z_]+:(?: .*)?)$", re.MULTILINE)
"""A key in a comment."""
ALTERNATIVES = ("blocks_per_pairing", "scheduler_file", "increment_ms")
"""Keys in the place of another one."""


def test_the_page_of_tournaments_shows_every_key(tmp_path: Path) -> None:
    """Every key of the example, also one in a comment, is one with a value of the right kind, and none is missing."""
    (text,) = [block.text for block in blocks("docs/tournaments.md") if block.file == "mine.yaml"]
    whole = COMMENTED.sub(r"\1\2", text)
    others = "".join(line for line in whole.splitlines(keepends=True) if not line.strip().startswith(ALTERNATIVES))
    shown = yaml.safe_load(whole)

    assert tournament_of(text, tmp_path) == tournament_of(others, tmp_path) == ["random", "greedy", "sensible-a"]
    whole = whole.replace("move_ms: 50", "move_ms: 0")  # increments ask for it
    assert parse_yaml(whole.encode(), TournamentFile, place="mine.yaml", limit=1 << 20).cluster
    assert {*shown} == {*TournamentFile.__struct_fields__}
    for key, kind in {
        "cluster": ClusterSettings,
        "clock": ClockSettings,
        "limits": Limits,
        "rating": RatingSettings,
    }.items():
        assert {*shown[key]} == {*kind.__struct_fields__}


def test_a_tournament_has_what_its_file_says(tmp_path: Path) -> None:
    """Each key of the file is in the tournament as it stands there, or resolved."""
    path = tmp_path / "mine.yaml"
    (text,) = [block.text for block in blocks("docs/tournaments.md") if block.file == "mine.yaml"]
    lines = COMMENTED.sub(r"\1\2", text).splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.strip().startswith(ALTERNATIVES)))
    file = read_yaml(path, TournamentFile, limit=1 << 20)
    tournament = read_tournament(path, BotStore(tmp_path / "results", ROOT / "bots").find)

    changed = {"players", "seed", "schedule", "blocks_per_pairing", "description", "opens", "deadline", "closes"}
    for key in {*TournamentFile.__struct_fields__} - changed:
        assert getattr(tournament, key) == getattr(file, key) != UNSET


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*/bot.yaml")), ids=lambda path: path.parent.name)
def test_a_key_in_a_comment_of_a_kit_can_be_used(path: Path) -> None:
    """Who takes the sign away has a manifest."""
    text = COMMENTED.sub(r"\1\2", path.read_text().replace("{{name}}", "mybot"))
    given = yaml.safe_load(text)

    assert {"description", "authors"} <= {*given}
    assert validation.read_struct(given, Manifest, place=str(path)).description


@pytest.mark.parametrize(
    "block", [each for each in BLOCKS if each.file.endswith("bot.yaml")], ids=lambda each: each.file
)
def test_a_manifest_on_a_page_is_one(block: Block) -> None:
    """Its keys are known, and its folder has its name."""
    manifest = validation.read_struct(yaml.safe_load(block.text), Manifest, place=block.page)

    assert manifest.name == Path(block.file).parent.name
    assert msgspec.to_builtins(manifest)["command"]


@pytest.mark.parametrize("path", sorted((ROOT / "tournaments").glob("*.yaml")), ids=lambda path: path.name)
def test_a_bundled_tournament_can_be_read(path: Path, tmp_path: Path) -> None:
    """With the bundled bots, and under the name of its file."""
    tournament = read_tournament(path, BotStore(tmp_path / "results", ROOT / "bots").find)
    assert tournament.name == path.stem


def test_the_page_of_numbers_says_how_far_a_score_is_off() -> None:
    """By the normal approximation: 1.96 standard deviations of a coin, in points."""
    text = (ROOT / "docs" / "numbers.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| ([\d.]+) \|$", text, re.MULTILINE)

    assert len(rows) >= 3
    assert [abs(98 / int(matches) ** 0.5 - float(points)) < 0.5 for matches, points in rows] == [True] * len(rows)
