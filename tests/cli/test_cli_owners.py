"""Who may hand in a bot under which name, whatever the bot calls itself, and in whatever order."""

import itertools
import json
import os
import pwd
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Said, Terminal

from arena.operations.examination import Examined, Trial


@pytest.fixture
def sound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bots that nobody doubts: none is started."""

    def examine_all(trials: Sequence[Trial], _workers: int, _tick: object) -> Iterator[tuple[int, Examined]]:
        yield from ((number, Examined(trial.bot)) for number, trial in enumerate(trials))

    monkeypatch.setattr("arena.operations.submit_bots.examine_all", examine_all)
    monkeypatch.setattr("arena.operations.submit_bots.examine_bot", lambda trial, _on: trial.bot)


def hand_in(folder: str, name: str, note: str = "") -> str:
    """A sound bot of that name in a folder; another `note` makes another version."""
    place = Path("in", folder)
    place.mkdir(parents=True, exist_ok=True)
    (place / "bot.py").write_text(bot_script(note=repr(note)))
    (place / "bot.yaml").write_text(f"name: {name}\ncommand: [python3, bot.py]\n")
    return f"in/{folder}"


def submit(terminal: Terminal, *words: str) -> Said:
    return terminal.arena("submit --game nim --isolation none", *words)


def owners(terminal: Terminal) -> dict[str, str]:
    """The owners of the names on the list."""
    found = json.loads(terminal.arena("bots --format json").out)
    return {row["bot"]: row["owner"] for row in found if row["place"].startswith("submitted")}


def results(said: Said) -> dict[str, str]:
    """What became of each bot of the table."""
    lines = (line.split() for line in said.out.splitlines() if line.startswith("in/"))
    return {line[0].removeprefix("in/"): line[1] for line in lines}


@pytest.mark.parametrize(
    ("bots", "accepted"),
    [
        ({"tina": "gina", "gina": "gina"}, {"gina"}),
        ({"tina": "GINA", "gina": "gina"}, {"gina"}),
        ({"tina": "gina", "gina": "whale"}, {"gina"}),
        ({"tina": "g-i-n-a", "gina": "whale"}, {"gina"}),
        ({"tina": "pau1", "paul": "paul"}, {"paul"}),
        ({"tina": "rnarie", "marie": "nobody"}, {"marie"}),
        ({"tina": "shark", "gina": "shark"}, set()),
        ({"tina": "shark", "gina": "Shark"}, set()),
        ({"tina": "gina", "gina": "tina"}, set()),
        ({"tina": "gina", "gina": ""}, set()),
        ({"tina": "tina", "gina": "gina"}, {"tina", "gina"}),
        ({"Ian": "ian", "lan": "lan"}, {"Ian", "lan"}),
    ],
)
@pytest.mark.usefixtures("sound")
def test_no_bot_takes_the_name_of_another_folder(terminal: Terminal, bots: dict[str, str], accepted: set[str]) -> None:
    """Whichever comes first, also if the bot there has another name, or cannot be read at all."""
    for folder, name in bots.items():
        hand_in(folder, name)

    for number, order in enumerate(itertools.permutations(bots)):
        said = submit(terminal, *(f"in/{folder}" for folder in order), "--results", f"results{number}")

        found = results(said)
        assert {folder for folder, result in found.items() if result == "accepted"} == accepted, said.out
        assert set(found) == set(bots)


@pytest.mark.usefixtures("sound")
def test_another_owner_replaces_nothing(terminal: Terminal) -> None:
    """Neither by a later hand-in nor by one that looks the same; the owner does, also after a withdrawal."""
    assert submit(terminal, hand_in("gina", "gina")).code == 0
    for name in ("gina", "Gina", "g.ina"):
        said = submit(terminal, "--replace", hand_in("tina", name, "mine now"))
        assert (said.code, said.out) == (2, ""), name
        assert "belongs to gina; choose another name, or give --owner" in said.err
    terminal.arena("withdraw gina")
    assert submit(terminal, hand_in("tina", "gina")).code == 2
    assert submit(terminal, hand_in("gina", "gina", "better")).code == 0
    assert submit(terminal, "--replace", hand_in("gina", "gina", "best")).code == 0
    moved = Path("in/gina").rename("in/gina-week-2")
    assert submit(terminal, "--replace", str(moved)).code == 2
    assert submit(terminal, "--replace", str(moved), "--owner", "gina").code == 0

    assert owners(terminal) == {"gina": "gina"}


@pytest.mark.usefixtures("sound")
def test_the_organiser_gives_a_name_to_somebody_else(terminal: Terminal) -> None:
    """By an option, and from then on the former owner is the other one."""
    assert submit(terminal, hand_in("tina", "shark")).code == 0
    assert submit(terminal, "--replace", "--take-over", hand_in("gina", "shark", "new")).code == 0
    assert owners(terminal) == {"shark": "gina"}
    assert submit(terminal, "--replace", hand_in("tina", "shark", "again")).code == 2


@pytest.mark.usefixtures("sound")
def test_a_file_belongs_to_the_user(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder is a user, and the environment has no say."""
    for name in ("shark", "whale"):
        Path(f"{name}.py").write_text(bot_script())
    monkeypatch.setenv("USER", "gina")
    monkeypatch.setenv("LOGNAME", "gina")

    assert submit(terminal, "./shark.py").code == 0
    assert submit(terminal, "./whale.py", "--owner", "ann").code == 0
    assert submit(terminal, "--replace", hand_in("root", "shark")).code == 2

    assert owners(terminal) == {"shark": f"user/{pwd.getpwuid(os.getuid()).pw_name}", "whale": "ann"}
    assert submit(terminal, "./whale.py", "--owner", "user/ann").code == 2


@pytest.mark.process
def test_what_a_report_says_of_others(terminal: Terminal) -> None:
    """The verdict first; no name of another author, no path of the organiser."""
    for folder, name in {"tina": "gina", "gina": "gina", "ben": "shark", "kim": "shark", "lea": "[bad"}.items():
        hand_in(folder, name)
    hand_in("eve", "eve")
    Path("in/eve/bot.yaml").write_text("name: eve\nversion: 1\ncomand: [python3, bot.py]\n")
    hand_in("max", "max")
    Path("in/max/bot.py").write_text("raise SystemExit(3)\n")
    everybody = sorted(each.name for each in Path("in").iterdir())

    said = submit(
        terminal, *(str(Path("in", name).absolute()) for name in everybody), "--reports", "told", "--width", "500"
    )

    told = {path.stem: path.read_text() for path in Path("told").iterdir()}
    assert len(told) == len(everybody)
    assert sorted(text.split(":")[0] for text in told.values()) == ["accepted", *["refused"] * 6]
    assert all(str(Path.cwd()) not in text for text in told.values())
    assert "tina" not in "".join(told.values())
    assert "kim" not in "".join(told.values())
    assert "ben" not in "".join(told.values())
    assert sum("gina" in text for text in told.values()) == 2
    assert "\\n" not in said.out
    assert " eve/bot.yaml: 2 mistakes: " in said.out
    assert 'the name "gina" is for bots of somebody else; choose another name\n' in "".join(told.values())


@pytest.mark.usefixtures("sound")
def test_two_commands_at_once_give_a_name_to_one(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is looked at once more when the bot comes onto the list."""
    hand_in("tina", "shark")
    hand_in("gina", "shark", "other")
    assert submit(terminal, "in/gina").code == 0
    monkeypatch.setattr("arena.store.bots.BotStore.owned_names", lambda _: {})
    monkeypatch.setattr("arena.store.bots.BotStore.submitted", lambda _: [])

    one, many = submit(terminal, "in/tina"), submit(terminal, "in/tina", "--reports", "told")

    assert one.code == 2
    assert 'the name "shark" belongs to gina' in one.err
    assert results(many) == {"tina": "refused"}
    monkeypatch.undo()


@pytest.mark.usefixtures("sound")
def test_the_list_says_whose_a_name_is(terminal: Terminal) -> None:
    """As a table, as CSV, as JSON."""
    submit(terminal, hand_in("gina", "shark"))

    table, csv = terminal.arena("bots").out, terminal.arena("bots --format csv").out

    (line,) = [line for line in table.splitlines() if line.startswith("shark")]
    assert " gina" in line
    assert csv.splitlines()[0] == "bot,version,hash,place,owner,description"
    assert any(line.startswith("shark,1,") and line.endswith(",gina,") for line in csv.splitlines())
