"""Games of other packages: found, refused with a sentence, and known by their files."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.golden import Golden
from support.plugin_packages import NIM, install

from arena import games, plugins
from arena.cli import execute
from arena.errors import HarnessFault, MachineFault, SpecError
from arena.games import (
    bundled_names,
    fingerprint_of,
    is_plugin,
    load_all_games,
    load_game,
    plugin_package,
    require_package,
)
from arena.plugins import Package

Installer = Callable[..., Path]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Installer]:
    """Installs a package with the given code under a name of its own, which is that of its only entry point."""
    folder, module = tmp_path / "site", "plugged_" + request.node.name.replace("[", "_").rstrip("]").replace("-", "_")

    def put(code: str = NIM, *, entry: str = "", entries: dict[str, str] | None = None, top: str = "") -> Path:
        entries = entries or {entry or "other-nim": f"{top or module}:Other"}
        made = install(folder, top or module, code.replace("{name}", entry or "other-nim"), entries=entries)
        monkeypatch.syspath_prepend(folder)
        return made

    games._load_plugin.cache_clear()
    yield put
    games._load_plugin.cache_clear()


def refusal(name: str) -> str:
    """The sentence with which a game is refused; it is one line."""
    with pytest.raises(SpecError) as caught:
        load_game(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_game_of_an_installed_package_is_found_by_its_entry_point(site: Installer) -> None:
    """The plug-in has the distribution, its version and the hash of its files."""
    file = site()

    game = load_game("other-nim")

    assert (game.name, game.rules_version) == ("other-nim", "7")
    assert load_game("other-nim") is game
    package = plugin_package("other-nim")
    assert package is not None
    assert (package.distribution, package.version, len(package.files)) == (file.parent.name, "1.0", 64)
    assert fingerprint_of("other-nim").package == package
    assert fingerprint_of("other-nim").rules == "7"


def test_the_same_game_is_found_by_its_module(site: Installer) -> None:
    """`module:Class` names the game of the same package."""
    module = site().parent.name

    assert load_game(f"{module}:Other").name == "other-nim"
    assert plugin_package(f"{module}:Other") == plugin_package("other-nim")
    assert is_plugin(f"{module}:Other")


def test_bundled_games_are_no_plugins_but_have_a_fingerprint() -> None:
    """Without a package: they are known by the version of arena."""
    assert plugin_package("nim") is None
    assert not is_plugin("nim")
    assert not is_plugin("chess")
    assert fingerprint_of("nim").package == fingerprint_of("shanghaien").package
    assert fingerprint_of("nim").package.distribution == "bot-arena"
    require_package("nim", None)


def test_any_byte_of_the_package_changes_its_hash(site: Installer) -> None:
    """Other modules and data too, but nothing that Python makes itself."""
    folder = site().parent
    load_game("other-nim")
    (folder / "cards.json").write_text("[1]")

    def files() -> str:
        return plugins.hash_of(folder.name)

    first = files()
    (folder / "cards.json").write_text("[2]")
    second = files()
    (folder / "__pycache__").mkdir(exist_ok=True)
    (folder / "__pycache__" / "x.pyc").write_text("made")
    third = files()
    (folder / "cards.json").rename(folder / "decks.json")

    assert len({first, second, files()}) == 3
    assert second == third


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("def (", "cannot be loaded: SyntaxError: invalid syntax (/"),
        ("class Another: pass", "__init__.py has no Other"),
        ("class Other:\n    def __init__(self): raise ValueError('no board')", "ValueError: no board"),
    ],
    ids=["import", "exit", "syntax", "missing", "constructor"],
)
def test_a_package_that_cannot_be_imported_is_named(site: Installer, code: str, told: str) -> None:
    """The refusal names the entry point; other games and their list still work."""
    module = site(code).parent.name

    sentence = refusal("other-nim")

    assert sentence.startswith(f"entry point other-nim = {module}:Other of {module} 1.0 ")
    assert told in sentence
    assert load_game("nim")
    offered = {each.name: each for each in load_all_games()}
    assert offered["other-nim"].problem == sentence
    assert not any(offered[name].problem for name in bundled_names())


def test_an_object_that_is_no_game_is_told_all_that_it_lacks(site: Installer, golden: Golden) -> None:
    """One refusal lists all missing parts."""
    site("class Other:\n    name = 'Other Nim'\n    seat_counts = (2, 11)\n    def turn(self, state): ...")

    sentence = refusal("other-nim")

    for part in ("name: found 'Other Nim'", "rules_version: found None", "seat_counts: found (2, 11)"):
        assert part in sentence
    golden(sentence)
    assert "`turn(" not in sentence


def test_a_method_that_a_class_of_the_base_lacks_is_named(site: Installer, golden: Golden) -> None:
    """The base class has no stub of it."""
    code = (
        NIM.replace("class Other", "class Whole")
        + "\n\nfrom arena.games.base import BaseGame\n\nclass Other(BaseGame):\n"
    )
    kept = ("name", "rules_version", "seat_counts", "setup", "turn", "observe", "legal", "apply", "outcome")
    site(code + "".join(f"    {member} = Whole.{member}\n" for member in kept))

    golden(refusal("other-nim"))


def test_a_game_of_another_name_than_its_entry_point_is_refused(site: Installer, golden: Golden) -> None:
    """Game and entry point must have one name."""
    site(NIM.replace("{name}", "nom"))

    golden(refusal("other-nim"))


def test_no_package_takes_the_name_of_a_bundled_game(
    site: Installer, capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    """The bundled one is played, by whichever name; the list tells of the other one, which is never imported."""
    module = site(f"open({str(tmp_path / 'imported')!r}, 'w').close()\n{NIM}", entry="nim").parent.name

    assert type(load_game("nim")).__module__ == "arena.games.nim"
    assert execute(["games"]) == 0
    printed = capsys.readouterr()
    assert f"left out: entry point nim = {module}:Other of {module} 1.0: nim is a game of arena" in printed.err
    assert printed.out.count("nim") == 1
    assert not (tmp_path / "imported").exists()
    golden(refusal(f"{module}:Other"))


def test_two_packages_with_one_name_are_both_refused(site: Installer) -> None:
    """A name that two packages claim is ambiguous."""
    site(top="plugged_twin_a")
    site(top="plugged_twin_b")

    sentence = refusal("other-nim")

    assert "plugged_twin_a:Other" in sentence
    assert "plugged_twin_b:Other" in sentence


def test_an_unknown_game_is_refused_with_those_of_other_packages(site: Installer, golden: Golden) -> None:
    """The refusal lists games of other packages without importing them."""
    site("raise AssertionError")

    golden(refusal("othernim"))


@pytest.mark.parametrize("name", ["os:system", "arena.games.nim:Nim", "no_such_module_at_all:Game"])
def test_a_reference_goes_to_packages_of_others_only(name: str) -> None:
    """Neither the standard library nor arena itself is called."""
    assert refusal(name).startswith(f"{name}: ")
    assert ("is a part of" in refusal(name)) == (not name.startswith("no_such"))


def test_a_package_that_is_another_one_is_refused(site: Installer, golden: Golden) -> None:
    """A worker plays no other version than that with which the league began."""
    site()
    found = plugin_package("other-nim")
    require_package("other-nim", found)

    with golden.raises(SpecError):
        require_package("other-nim", Package("gone", "0.9", "00"))


def test_commands_import_no_plugin_that_they_do_not_need(tmp_path: Path) -> None:
    """A broken plug-in does not disturb commands that do not need it."""
    marker = tmp_path / "imported"
    install(
        tmp_path / "site",
        "plugged_costly",
        f"open({str(marker)!r}, 'w').close()",
        entries={"costly": "plugged_costly:G"},
    )
    code = (
        "import sys, arena; from arena.cli import execute; from arena import plugins; "
        "plugins.entry_points, own, plugins.own_entry_points = None, plugins.own_entry_points, None; "
        "codes = [execute(['--help']), execute(['check', '--help']), execute(['match', '--help'])]; "
        "plugins.own_entry_points = own; assert codes == [0, 0, 0]; "
        "from arena.games import load_game; load_game('nim'); "
        "assert 'arena.games.nim' in sys.modules and 'arena.games.kuhn_poker' not in sys.modules"
    )

    environment = {"PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run([sys.executable, "-c", code], check=False, cwd=tmp_path, env=environment, capture_output=True)

    assert done.returncode == 0, done.stderr
    assert not marker.exists()


FAMILY = """
from arena.games import OfferedGame
from arena.games.kuhn_poker import GAME
from arena.plugins import Package, Plugin

class Family:
    def load(self, name):
        return Plugin("the heap shop", GAME, Package("heaps", "1", "00")), GAME
    def offer(self):
        return OfferedGame("heap:NAME", "the heap shop", "1", "2")

FAMILY = Family()
"""


@pytest.mark.parametrize("count", [1, 2])
def test_a_family_of_games_registers_like_that_of_arena(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, golden: Golden
) -> None:
    """Under a prefix; two packages with one prefix are both named."""
    for number in range(count):
        install(tmp_path, f"plugged_heap{number}", FAMILY, entries={})
        info = tmp_path / f"plugged_heap{number}-1.0.dist-info" / "entry_points.txt"
        info.write_text(f"[arena.game_families]\nheap = plugged_heap{number}:FAMILY\n")
    monkeypatch.syspath_prepend(tmp_path)
    offered = {each.name: each for each in load_all_games()}

    if count == 1:
        assert load_game("heap:any(size=3)").name == "kuhn_poker"
        assert plugin_package("heap:any(size=3)") == Package("heaps", "1", "00")
        golden(offered["heap:NAME"].place)
        games._load_plugin.cache_clear()
    else:
        golden(refusal("heap:any(size=3)"))
        assert offered["heap"].problem
    assert load_game("nim")


def test_an_installation_without_its_games_is_named(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    plugins.own_entry_points.cache_clear()
    monkeypatch.setattr(plugins, "OWN_DISTRIBUTION", "no-such-arena")

    with golden.raises(MachineFault):
        load_game("nim")

    plugins.own_entry_points.cache_clear()


def test_an_editable_installation_is_one(tmp_path: Path, site: Installer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files lie elsewhere; its metadata say where."""
    folder = site().parent
    project = tmp_path / "my project"
    shutil.copytree(folder, project / "src" / "plugged_edited")
    info = folder.parent / "plugged_edited-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: edited\nVersion: 2.0\n")
    url = project.as_uri()
    (info / "direct_url.json").write_text(f'{{"url": "{url}", "dir_info": {{"editable": true}}}}')
    monkeypatch.syspath_prepend(project / "src")

    package = (load_game("plugged_edited:Other"), plugin_package("plugged_edited:Other"))[1]

    assert package is not None
    assert (package.distribution, package.version) == ("edited", "2.0")


@pytest.mark.process
def test_code_that_kills_its_process_is_run_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """Each death is a phrase for the word at which it came, and the other words are answered."""
    (tmp_path / "dying.py").write_text(
        "import os, signal, sys\n"
        "for word in sys.argv[1:]:\n"
        "    if word.startswith('SIG'): os.kill(os.getpid(), getattr(signal, word))\n"
        "    if word.isdecimal(): print('the last words', file=sys.stderr, flush=True); os._exit(int(word))\n"
        "    print('noise'); print('{\"said\": \"' + word + '\"}', flush=True)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    answers = plugins.run_in_child("dying", ["one", "SIGSEGV", "two", "3", "three", "SIGXCPU", "four"])

    assert [each.get("said") for each in answers] == ["one", None, "two", None, "three", None, None]
    assert [each.get("problem") for each in answers] == [
        None,
        "its code dies of SIGSEGV",
        None,
        "its process ended with exit code 3: the last words",
        None,
        *["it used up its limit of time without an end"] * 2,
    ]
    assert plugins.run_in_child("dying", ["SIGALRM"]) == [{"problem": "it used up its limit of time without an end"}]
    with golden.raises(HarnessFault):
        plugins.run_in_child("dying", ["SIGKILL"])


def test_without_openspiel_its_games_are_refused_with_the_extra(
    monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """The refusal names the extra to install; other games still work."""
    monkeypatch.setitem(sys.modules, "pyspiel", None)

    for name in ("leduc_poker", "no_such_game"):
        sentence = refusal(f"openspiel:{name}")
        golden(sentence)
        assert "install 'open-spiel>=" in sentence
    assert load_game("nim")
