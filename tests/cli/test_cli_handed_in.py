"""Hand-ins that reach for files of the organiser: nothing of these comes back to the author."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal

pytestmark = pytest.mark.process
SECRET = "TOPSECRET teacher password 1234"


def private_bot() -> Path:
    """The organiser's own bot, with a line that nobody else may read."""
    place = Path("private/strong").absolute()
    place.mkdir(parents=True, mode=0o700)
    (place / "bot.py").write_text(f"# {SECRET}\n{bot_script()}")
    (place / "bot.yaml").write_text("name: strong\ncommand: [python3, bot.py]\n")
    (place / "notes.py").write_text(f"raise SystemExit('{SECRET}')\n")
    return place


def copied(place: Path) -> str:
    """All that was copied below a folder."""
    return "".join(path.read_text(errors="replace") for path in place.rglob("*") if path.is_file())


ATTACKS: dict[str, Callable[[Path, Path], object]] = {
    "folder": lambda place, private: place.symlink_to(private),
    "file": lambda place, private: place.with_suffix(".py").symlink_to(private / "notes.py"),
    "relative": lambda place, private: place.symlink_to(os.path.relpath(private, place.parent)),
    "above": lambda place, private: place.symlink_to(private.parent),
    "hard": lambda place, private: os.link(private / "notes.py", place.with_suffix(".py")),
    "pipe": lambda place, _: os.mkfifo(place.with_suffix(".py")),
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("how", ["in/*", "in/*/", "one", "in/eve/strong"])
def test_a_hand_in_that_is_a_link_copies_nothing(terminal: Terminal, attack: str, how: str) -> None:
    """As git, tar and unzip unpack it; reports and copies have no word of the target."""
    private = private_bot()
    Path("in").mkdir()
    ATTACKS[attack](Path("in/eve"), private)
    found = [str(path) for path in Path("in").iterdir()]
    words = {"in/*": found, "in/*/": [f"{path}/" for path in found], "one": found, "in/eve/strong": [how]}[how]

    said = terminal.arena("submit --game nim", *words, *([] if how == "one" else ["--reports", "told"]))

    assert said.code in {1, 2}
    assert SECRET not in said.out + said.err + copied(Path("told")) + copied(Path("results"))
    assert terminal.registered() == []


def test_a_folder_of_bots_with_links_has_none(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are named as left out, and found by no name."""
    private = private_bot()
    Path("own").mkdir()
    Path("own/strong").symlink_to(private)
    Path("own/notes.py").symlink_to(private / "notes.py")
    Path("own/gone").symlink_to("nowhere")
    monkeypatch.setenv("ARENA_BOTS", "own")

    listed = terminal.arena("bots")
    played = [terminal.arena(f"match {name} random --game nim") for name in ("strong", "notes", "own/strong")]

    assert [line.split(":")[1] for line in listed.err.splitlines()] == [" own/gone", " own/notes.py", " own/strong"]
    assert [said.code for said in played] == [2, 2, 2]
    assert SECRET not in "".join(said.out + said.err for said in played)


def test_a_folder_of_bots_behind_a_link_is_its_users(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one that lies in a repository; and so may the results."""
    private = private_bot()
    Path("elsewhere").mkdir()
    Path("results").symlink_to("elsewhere")
    Path("own").symlink_to(private.parent)
    monkeypatch.setenv("ARENA_BOTS", "own")

    assert terminal.arena("submit strong --game nim").out.splitlines()[-1].startswith("strong 1")
    assert terminal.arena("submit ./private/strong --game nim").code == 0
    assert terminal.league("strong", "random").code == 0


@pytest.mark.parametrize("state", ["missing", "plain", "program", "script"])
def test_the_answer_about_a_file_outside_is_the_same(terminal: Terminal, tmp_path: Path, state: str) -> None:
    """By a path in the command, and by a link that the build makes: first lines and rights show nothing."""
    secret = tmp_path / "secret"
    if state != "missing":
        secret.write_text({"script": "#!/opt/secret/interpreter --token=HIDDEN123\n"}.get(state, "\x7fELF"))
        secret.chmod(0o644 if state == "plain" else 0o755)
    builds = {"path": "", "link": f"build: [[ln, -s, {secret}, x]]\n", "#!": f"build: [[sh, -c, 'ln -s {secret} i']]\n"}
    commands = {"path": str(secret), "link": "./x", "#!": "./bot"}
    said = {}
    for way, build in builds.items():
        place = Path("in", "eve")
        place.mkdir(parents=True, exist_ok=True)
        (place / "bot").write_text("#!./i\n")
        (place / "bot").chmod(0o755)
        (place / "bot.yaml").write_text(f"name: eve\ncommand: [{commands[way]}]\n{build}")
        found = terminal.arena("submit ./in/eve --game nim")
        said[way] = next(line for line in found.out.splitlines() if "FAILED" in line)
        assert "HIDDEN123" not in found.out + found.err

    out = "leads out of what bots see of this machine; `arena doctor` lists that"
    assert said["path"].endswith(f"cannot start `{secret}` in ./in/eve: {secret} {out}")
    assert said["link"].endswith(f"cannot start `./x` in ./in/eve: ./in/eve/x {out}")
    assert said["#!"].endswith("the first line of ./in/eve/bot asks for the interpreter ./i, which bots do not see")
