"""`arena new-bot`, `check`, `submit`, `bots`, `match` and `play` in this process, with real bots."""

import io
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import ROOT, Terminal
from support.golden import Golden

from arena.games import bundled_names
from arena.league.tournament import read_tournament
from arena.operations.new_bot import KITS, missing_programs
from arena.store.bots import BotStore

pytestmark = pytest.mark.process
LANGUAGES = [each if each == "python" else pytest.param(each, marks=pytest.mark.slow) for each in KITS]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_bot_passes_its_check(terminal: Terminal, language: str) -> None:
    """Made from its kit, in each language, and built in the sandbox, it plays at once under its own name."""
    made = terminal.arena(f"new-bot mine --lang {language}")
    if missing := missing_programs(Path("mine")):
        assert f"no {missing[0]}" in made.err
        pytest.skip(f"bots on this machine have no {missing[0]}")
    checked = terminal.arena("check ./mine --game nim")

    assert (made.code, made.err) == (0, "")
    assert "next: arena check ./mine" in made.out
    assert checked.code == 0, checked.out + checked.err
    assert "FAILED" not in checked.out
    assert not any("{{name}}" in path.read_text() for path in Path("mine").iterdir())


def test_a_new_bot_whose_language_is_missing_is_made_all_the_same(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """The author hears what to install; other names of a language are known."""
    monkeypatch.setattr("arena.operations.new_bot.search_path", lambda: "/nowhere")

    said = terminal.arena("new-bot mine --lang TS")

    assert said.code == 0
    golden(said.err)
    assert Path("mine/bot.ts").exists()


def test_a_new_bot_writes_into_its_folder_only(terminal: Terminal) -> None:
    """With `--to` no league is made, and an existing folder is refused."""
    made, again = (terminal.arena("new-bot mine --to shelf/mine") for _ in range(2))

    assert (made.code, "league run" in made.out, Path("tournaments").exists()) == (0, False, False)
    assert (again.code, "shelf/mine exists already" in again.err) == (2, True)


def test_a_full_disk_leaves_no_half_of_a_new_bot(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same command works when there is room again."""

    def copy_first(_source: Path, target: Path, **_options: object) -> None:
        target.mkdir()
        raise shutil.Error([("a", "b", "[Errno 28] No space left on device")])

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copytree", copy_first)
        said = terminal.arena("new-bot mine")

    assert (said.code, said.err) == (5, "error: [Errno 28] No space left on device\n")
    assert terminal.arena("new-bot mine").code == 0


@pytest.mark.parametrize("game", bundled_names())
def test_a_new_bot_has_a_league_of_its_own(terminal: Terminal, game: str, golden: Golden) -> None:
    """A tournament against bundled bots, found by its name; one that is there already stays as it is."""
    made = terminal.arena(f"new-bot mine --game {game}")
    file = Path("tournaments/mine.yaml")
    tournament = read_tournament(file, BotStore(terminal.results, ROOT / "bots").find)
    file.write_text(file.read_text() + "# mine\n")
    shutil.rmtree("mine")
    again = terminal.arena(f"new-bot mine --game {game}")

    golden(made.out)
    golden(again.out)
    assert (tournament.game, tournament.players[0].name, len(tournament.players) > 1) == (game, "mine", True)
    assert file.read_text().endswith("# mine\n")


def test_many_blocks_are_played_in_parallel_with_the_same_result(terminal: Terminal, golden: Golden) -> None:
    """Eleven blocks on all cores give what eleven blocks here give."""
    parallel = terminal.arena("match random random --game nim --seed 0 --blocks 11").out
    here = terminal.arena("match random random --game nim --seed 0 --blocks 11 --steps").out

    def table(text: str) -> list[str]:
        return [" ".join(line.split()[:-1]) for line in text.splitlines() if re.match(r"\s+\d ", line)]

    assert table(parallel) == table(here)[-2:]
    golden(parallel)
    assert " takes " in here


@pytest.mark.parametrize("seat", [0, 1])
def test_a_person_plays_to_the_end(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, seat: int, golden: Golden
) -> None:
    """Wrong input is asked for again; the result and the way to play the same luck again are told."""
    monkeypatch.setattr("sys.stdin", io.StringIO("x\n0\n" + "1\n" * 30))

    said = terminal.arena(f"play random --game nim --seed s --seat {seat}", "--options", '{"heaps": [2, 3]}')

    assert said.code == 0
    golden(said.out)
    place = f" --seat {seat}" if seat else ""
    assert f"arena play random --seed s{place} --game nim --options '{{\"heaps\": [2, 3]}}'\n" in said.out


def test_the_command_for_the_same_luck_leaves_out_what_is_so_anyway(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """Seat 0, the default game, no options; also after a match that the person gives up."""
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))

    said = terminal.arena("play random --seed s")

    assert (said.code, "you forfeited: gave up" in said.out) == (0, True)
    golden(said.out)


def test_a_bot_called_you_is_not_mistaken_for_the_person(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """A bot called `you` gets another name at the table than the person."""
    Path("you.py").write_text(bot_script())
    monkeypatch.setattr("click.prompt", lambda *_, **__: "1")

    said = terminal.arena("play ./you.py --game nim --isolation none")

    golden(said.out)


def test_a_person_who_goes_away_interrupts(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of the input is no answer: exit 3."""
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    assert terminal.arena("play random --game nim").code == 3


def test_the_lists_tell_the_own_from_the_bundled(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, golden: Golden
) -> None:
    """The user's bots and tournaments come first; a bundled one of such a name is hidden, and each use says so."""
    monkeypatch.delenv("ARENA_BOTS")
    terminal.arena("new-bot random --to bots/random")
    Path("tournaments").mkdir()
    content = "{name: nim, game: nim, cycles: 1, players: [{bot: random}, {bot: random, name: twin}]}"
    Path("tournaments/nim.yaml").write_text(content)

    bots, tournaments = terminal.arena("bots").out, terminal.arena("tournaments").out
    ran = terminal.arena("league run nim --workers 1")

    golden(bots)
    golden(tournaments)
    assert ran.code == 0, ran.err
    assert [message.partition(" here; ")[0] for message in caplog.messages if "hides" in message] == [
        "nim is tournaments/nim.yaml",
        "random is bots/random",
    ]


def test_matches_of_which_nothing_is_kept_make_no_results(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a check nor a match, few blocks or many, nor a person's; where there are results, bots are kept built."""
    terminal.arena("new-bot mine")
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))

    codes = [
        terminal.arena(f"{command} --game nim").code
        for command in ("check ./mine", "match ./mine random", "match ./mine random --blocks 11", "play ./mine")
    ]

    assert codes == [0, 0, 0, 0]
    assert sorted(path.name for path in terminal.folder.iterdir()) == ["mine", "tournaments"]
    terminal.results.mkdir()
    terminal.arena("match ./mine random --game nim")
    assert len(list((terminal.results / "bots").iterdir())) == 2


def without_the_right_to_run(folder: str, *, build: bool = False) -> None:
    """A bot whose script, or whose script of the build, cannot be run yet."""
    shutil.copytree(ROOT / "bots" / "random", folder)
    script = Path(folder, "run.sh")
    script.write_text("#!/bin/sh\n" + ("touch built" if build else "exec python3 bot.py") + "\n")
    script.chmod(0o644)
    run = "build: [[./run.sh]]\ncommand: [python3, bot.py]" if build else "command: [./run.sh]"
    Path(folder, "bot.yaml").write_text(f"name: mine\n{run}\n")


def hinted(text: str) -> str:
    """The command between the backticks of a hint."""
    found: list[str] = re.findall(r"`(chmod [^`]*)`", text)
    return found[-1]


@pytest.mark.parametrize(("given", "build"), [("deep/er/mine", False), ("./two words", True)])
def test_the_hint_about_the_right_to_run_helps(terminal: Terminal, given: str, build: bool) -> None:
    """The hint names the author's file as given, not the installed copy; the command in it is enough."""
    without_the_right_to_run(given, build=build)
    line = f"'{given}' --game nim"

    refused = terminal.arena(f"submit {line}")
    hint = hinted(refused.out + refused.err)
    subprocess.run(hint, shell=True, check=True)
    accepted = terminal.arena(f"submit {line}")

    assert refused.code != 0
    assert hint == f"chmod +x {shlex.quote(f'{given}/run.sh')}"
    assert "results/bots" not in refused.out + refused.err
    assert (accepted.code, "submitted: mine" in accepted.out) == (0, True), accepted.out + accepted.err


def test_the_hint_of_a_match_names_the_authors_file(terminal: Terminal) -> None:
    """`match` and `check` install bots, too, and a league plays installed ones; none names a copy."""
    without_the_right_to_run("mine")

    said = [terminal.arena(line) for line in ("check ./mine --game nim", "match ./mine random --game nim --blocks 1")]
    run = terminal.league("./mine", "random")
    shown = terminal.arena(f"show {terminal.first_match()}")

    assert [hinted(each.out + each.err) for each in (said[0], shown)] == ["chmod +x ./mine/run.sh"] * 2
    assert "in ./mine: ./mine/run.sh is not executable" in said[1].out
    assert not [each for each in (*said, run, shown) if "/bots/" in each.out + each.err]
    assert run.code == 0
