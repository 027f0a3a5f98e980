"""Bots handed in: who may give a bot which name, whatever it calls itself, and what comes back to its author."""

import itertools
import os
import pwd
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.bot_source import bot_script
from support.golden import Golden

from arena.errors import SpecError
from arena.operations.events import Event
from arena.operations.examination import Examination, Trial
from arena.operations.list_bots import ListBots, WithdrawBot, list_bots, withdraw_bot
from arena.operations.submit_bots import SubmissionVerdict, SubmitBots, SubmittedBot, submit_bot, submit_bots
from arena.store.bots import BotStore
from arena.store.owners import NameTaken

CRASHES = "raise SystemExit('no such module: torch')\n"
HANGS = "import time\ntime.sleep(1000)\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def sound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bots that nobody doubts: none is started."""

    def examine_all(trials: Sequence[Trial], _workers: int, _tick: object) -> Iterator[tuple[int, Examination]]:
        yield from ((number, Examination(trial.bot)) for number, trial in enumerate(trials))

    monkeypatch.setattr("arena.operations.submit_bots.examine_all", examine_all)
    monkeypatch.setattr("arena.operations.submit_bots.examine_bot", lambda trial, _on: trial.bot)


def bot(folder: str, name: str = "", *, script: str = "", manifest: str = "") -> str:
    """A bot in a folder, sound unless it has another script or manifest."""
    place = Path("in", folder)
    place.mkdir(parents=True, exist_ok=True)
    (place / "bot.py").write_text(script or bot_script())
    (place / "bot.yaml").write_text(manifest or f"name: {name or folder}\ncommand: [python3, bot.py]\n")
    return f"in/{folder}"


def version(folder: str, name: str, note: str) -> str:
    """Another version of a sound bot."""
    return bot(folder, name, script=bot_script(note=repr(note)))


def request(*bots: str, **choices: Any) -> SubmitBots:
    return SubmitBots(bots=bots, game="nim", **{"isolation": "none", **choices})


def verdict(text: str, **choices: Any) -> SubmissionVerdict:
    (submission,) = submit_bots(request(text, **choices))
    return submission.verdict


def owners() -> dict[str, str]:
    """The owners of the names on the list."""
    return {row.bot: row.owner for row in list_bots(ListBots()) if row.place.startswith("submitted")}


def by_name(submissions: Sequence[SubmittedBot]) -> dict[str, SubmittedBot]:
    return {Path(submission.text).name: submission for submission in submissions}


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
        ({"tina": "gina", "gina": "[]"}, set()),
        ({"tina": "tina", "gina": "gina"}, {"tina", "gina"}),
        ({"Ian": "ian", "lan": "lan"}, {"Ian", "lan"}),
    ],
)
@pytest.mark.usefixtures("sound")
def test_no_bot_takes_the_name_of_another_folder(bots: dict[str, str], accepted: set[str]) -> None:
    """Whichever comes first, also if the bot there has another name, or cannot be read at all."""
    texts = [bot(folder, name) for folder, name in bots.items()]

    for number, order in enumerate(itertools.permutations(texts)):
        found = by_name(submit_bots(request(*order, results=Path(f"results{number}"))))

        assert {name for name, each in found.items() if each.verdict is SubmissionVerdict.ACCEPTED} == accepted
        assert set(found) == set(bots)


@pytest.mark.usefixtures("sound")
def test_another_owner_replaces_nothing(golden: Golden) -> None:
    """Neither by a later hand-in nor by one that looks the same; the owner does, also after a withdrawal."""
    assert verdict(bot("gina")) is SubmissionVerdict.ACCEPTED
    for name in ("gina", "Gina", "g.ina"):
        with golden.raises(NameTaken):
            submit_bot(request(version("tina", name, "mine now"), replace=True))
    withdraw_bot(WithdrawBot(bot="gina"))
    assert verdict(bot("tina", "gina")) is SubmissionVerdict.REFUSED
    assert verdict(version("gina", "gina", "better")) is SubmissionVerdict.ACCEPTED
    assert verdict(version("gina", "gina", "best")) is SubmissionVerdict.REFUSED
    assert verdict(version("gina", "gina", "best"), replace=True) is SubmissionVerdict.ACCEPTED
    moved = str(Path("in/gina").rename("in/gina-week-2"))
    assert verdict(moved, replace=True) is SubmissionVerdict.REFUSED
    assert verdict(moved, replace=True, owner="gina") is SubmissionVerdict.ACCEPTED

    assert owners() == {"gina": "gina"}


@pytest.mark.usefixtures("sound")
def test_the_organiser_gives_a_name_to_somebody_else() -> None:
    """By a choice, and from then on the former owner is the other one."""
    assert verdict(bot("tina", "shark")) is SubmissionVerdict.ACCEPTED
    assert verdict(version("gina", "shark", "new"), replace=True, take_over=True) is SubmissionVerdict.ACCEPTED
    assert owners() == {"shark": "gina"}
    assert verdict(version("tina", "shark", "again"), replace=True) is SubmissionVerdict.REFUSED


@pytest.mark.usefixtures("sound")
def test_a_file_belongs_to_the_user(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """No folder is a user, and the environment has no say."""
    for name in ("shark", "whale"):
        Path(f"{name}.py").write_text(bot_script())
    monkeypatch.setenv("USER", "gina")
    monkeypatch.setenv("LOGNAME", "gina")

    assert verdict("./shark.py") is SubmissionVerdict.ACCEPTED
    assert verdict("./whale.py", owner="ann") is SubmissionVerdict.ACCEPTED
    assert verdict(version("root", "shark", "x"), replace=True) is SubmissionVerdict.REFUSED
    assert owners() == {"shark": f"user/{pwd.getpwuid(os.getuid()).pw_name}", "whale": "ann"}
    with golden.raises(SpecError):
        submit_bots(request("./whale.py", owner="user/ann"))


@pytest.mark.usefixtures("sound")
def test_two_commands_at_once_give_a_name_to_one(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """The name is looked at once more when the bot comes onto the list."""
    assert verdict(version("gina", "shark", "other")) is SubmissionVerdict.ACCEPTED
    with monkeypatch.context() as patch:
        patch.setattr("arena.store.bots.BotStore.owned_names", lambda _: {})
        patch.setattr("arena.store.bots.BotStore.submissions", lambda _: [])

        with golden.raises(NameTaken):
            submit_bot(request(bot("tina", "shark")))
        assert verdict("in/tina") is SubmissionVerdict.REFUSED


@pytest.mark.usefixtures("sound")
def test_a_bot_on_the_list_is_accepted_whenever_the_stop_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between the list and the verdict leaves no bot that is on the list and called not examined."""
    register = BotStore.register

    def register_and_stop(*arguments: Any, **named: Any) -> None:
        register(*arguments, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(BotStore, "register", register_and_stop)
    submissions = by_name(submit_bots(request(bot("ann"), bot("bob"))))

    assert {owner for owner in owners() if submissions[owner].verdict is SubmissionVerdict.ACCEPTED} == {"ann"}
    assert submissions["bob"].verdict is SubmissionVerdict.NOT_EXAMINED


@pytest.mark.usefixtures("sound")
def test_a_bundled_bot_keeps_its_name(golden: Golden) -> None:
    """The very same content is no mistake, and no submission."""
    with golden.raises(NameTaken):
        submit_bot(request(bot("mine", "random"), replace=True))
    found, place = submit_bot(request("random"))

    assert (found.name, Path(place).name, owners()) == ("random", "random", {})
    assert verdict("random") is SubmissionVerdict.UNCHANGED


@pytest.mark.process
def test_a_failed_build_is_reported_and_kept_nowhere(golden: Golden) -> None:
    """With the compiler's own words."""
    build = "[[sh, -c, 'echo undefined reference to main; exit 1']]"
    bot("ada", manifest=f"name: ada\ncommand: [python3, bot.py]\nbuild: {build}\n")

    with golden.raises(SpecError):
        submit_bot(request("in/ada"))

    assert list(Path("results/bots").iterdir()) == []


@pytest.mark.process
def test_many_bots_are_judged_each_by_itself() -> None:
    """A crash, a hang, an illegal action, a broken file and a doubled name cost nobody else; authors read no other's.

    A bot that brings down its worker, which it can without a sandbox, is examined once more and refused.
    """
    for name in ("ada", "ben"):
        bot(name)
    bot("crash", script=CRASHES)
    bot("hang", script=HANGS, manifest="{name: hang, command: [python3, bot.py], limits: {startup_ms: 100}}")
    bot("cheat", script=bot_script("99"))
    bot("broken", manifest="name: broken\n")
    bot("eve", "twin")
    bot("kim", manifest="name: twin\ncommand: [python3, bot.py]\nversion: '2'\n")
    bot("tina", "ada")
    bot("killer", script="import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n" + bot_script())
    Path("in/README.md").write_text("bots of the course\n")
    events: list[Event] = []

    found = by_name(submit_bots(request(*sorted(map(str, Path("in").iterdir())), workers=3), events.append))

    assert (
        [name for name, each in found.items() if each.verdict is SubmissionVerdict.ACCEPTED]
        == ["ada", "ben"]
        == [*owners()]
    )
    reasons = {name: each.reason for name, each in found.items() if each.verdict is SubmissionVerdict.REFUSED}
    assert reasons["crash"].startswith("crash: the bot ended with exit code 1")
    assert reasons["hang"].startswith('timeout: no "hello" within 0.1 s')
    assert reasons["cheat"].startswith("illegal_action: action 99 is not an index")
    assert reasons["killer"] == "the process that examined it died 2 times"
    assert reasons["broken"].startswith("broken/bot.yaml: ")
    assert ("in/kim" in reasons["eve"], "in/eve" in reasons["kim"]) == (True, True)
    assert reasons["tina"].startswith('the name "ada" is for bots of ada; choose another name, or give --owner')
    assert found["tina"].for_author == 'the name "ada" is for bots of somebody else; choose another name'
    assert "no such module: torch" in found["crash"].details
    assert len(found["ada"].events) == 14
    assert not [each for each in found.values() if any(f"in/{name}" in each.for_author for name in found)]
    assert "left out: in/README.md is no bot" in [getattr(event, "sentence", "") for event in events]


SECRET = "TOPSECRET teacher password 1234"
ATTACKS: dict[str, Callable[[Path, Path], object]] = {
    "folder": lambda place, private: place.symlink_to(private),
    "file": lambda place, private: place.with_suffix(".py").symlink_to(private / "notes.py"),
    "relative": lambda place, private: place.symlink_to(os.path.relpath(private, place.parent)),
    "above": lambda place, private: place.symlink_to(private.parent),
    "hard": lambda place, private: os.link(private / "notes.py", place.with_suffix(".py")),
    "pipe": lambda place, _: os.mkfifo(place.with_suffix(".py")),
}


def private_bot() -> Path:
    """The organiser's own bot, with a line that nobody else may read."""
    place = Path("private/strong").absolute()
    place.mkdir(parents=True, mode=0o700)
    (place / "bot.py").write_text(f"# {SECRET}\n{bot_script()}")
    (place / "bot.yaml").write_text("name: strong\ncommand: [python3, bot.py]\n")
    (place / "notes.py").write_text(f"raise SystemExit('{SECRET}')\n")
    return place


@pytest.mark.process
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hand_in_that_is_a_link_copies_nothing(attack: str) -> None:
    """As git, tar and unzip unpack it; what comes back and what is copied has no word of the target."""
    private = private_bot()
    Path("in").mkdir()
    ATTACKS[attack](Path("in/eve"), private)
    (text,) = map(str, Path("in").iterdir())

    for given in (text, f"{text}/", "in/eve/strong"):
        (submission,) = submit_bots(request(given, isolation="sandbox"))
        with pytest.raises(SpecError) as error:
            submit_bot(request(given, isolation="sandbox"))
        assert submission.verdict is SubmissionVerdict.REFUSED
        assert SECRET not in str(error.value) + repr(submission)
    copies = [path for path in Path("results").rglob("*") if path.is_file()]
    assert SECRET not in "".join(path.read_text(errors="replace") for path in copies)
    assert owners() == {}


@pytest.mark.process
@pytest.mark.parametrize("state", ["missing", "plain", "program", "script"])
def test_the_answer_about_a_file_outside_is_the_same(tmp_path: Path, state: str, golden: Golden) -> None:
    """By a path in the command, and by a link that the build makes: first lines and rights show nothing."""
    secret = tmp_path / "secret"
    if state != "missing":
        secret.write_text({"script": "#!/opt/secret/interpreter --token=HIDDEN123\n"}.get(state, "\x7fELF"))
        secret.chmod(0o644 if state == "plain" else 0o755)
    builds = {"path": "", "link": f"build: [[ln, -s, {secret}, x]]\n", "#!": f"build: [[sh, -c, 'ln -s {secret} i']]\n"}
    commands = {"path": str(secret), "link": "./x", "#!": "./bot"}
    reasons = {}
    for way, build in builds.items():
        bot("eve", manifest=f"name: eve\ncommand: [{commands[way]}]\n{build}")
        Path("in/eve/bot").write_text("#!./i\n")
        Path("in/eve/bot").chmod(0o755)
        (found,) = submit_bots(request("in/eve", isolation="sandbox"))
        assert "HIDDEN123" not in repr(found)
        reasons[way] = found.reason.partition(" (step ")[0]

    out = "leads out of what bots see of this machine; `arena doctor` lists that"
    assert reasons["path"].endswith(f"cannot start `{secret}` in eve: {secret} {out}")
    assert reasons["link"].endswith(f"cannot start `./x` in eve: eve/x {out}")
    golden(reasons["#!"])


def test_a_folder_of_bots_has_no_links_and_no_broken_bots(golden: Golden) -> None:
    """They are named as left out, and hide none of the others."""
    private = private_bot()
    bot("ada")
    Path("in").rename("own")
    Path("own/broken").mkdir()
    Path("own/broken/bot.yaml").write_text("name: x\nverison: '1'\ncommand: [x]")
    Path("own/strong").symlink_to(private)
    Path("own/notes.py").symlink_to(private / "notes.py")
    Path("own/gone").symlink_to("nowhere")
    warnings: list[Event] = []

    rows = list_bots(ListBots(bots_folder=Path("own")), warnings.append)

    sentences = sorted(getattr(each, "sentence", "").removeprefix("left out: ") for each in warnings)
    places = ["own/broken/bot.yaml", "own/gone", "own/notes.py", "own/strong"]
    assert [sentence.split(":")[0] for sentence in sentences] == places
    golden(sentences[0])
    assert [row.bot for row in rows if row.place == "own/"] == ["ada"]


@pytest.mark.usefixtures("sound")
def test_a_folder_of_bots_behind_a_link_is_its_users() -> None:
    """Such as one that lies in a repository; and so may the results."""
    private = private_bot()
    Path("elsewhere").mkdir()
    Path("results").symlink_to("elsewhere")
    Path("own").symlink_to(private.parent)

    assert submit_bot(request("strong", bots_folder=Path("own")))[1] == "own/strong"
    assert submit_bot(request("./private/strong"))[1] == ""
