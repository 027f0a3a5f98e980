"""Bots in the store: found by what people call them, installed once and whole, watched for changes."""

import shutil
import threading
from pathlib import Path

import pytest
from support.golden import Golden
from support.store_bots import bot_folder, files, store

from arena.errors import SpecError
from arena.process.manifest import BotSpec, read_bot
from arena.store import database
from arena.store.bots import BotStore


def register(bots: BotStore, bot: BotSpec, folder: Path) -> BotSpec:
    installed = bots.install(bot)
    connection = database.open_for_writing(folder / "results")
    bots.register(installed, "ann", connection)
    connection.close()
    return installed


def test_installs_a_copy_that_nobody_edits(tmp_path: Path) -> None:
    """A copy plays: editing the original changes neither the copy nor its hash."""
    source = bot_folder(tmp_path / "mine", "mine")
    bots = store(tmp_path)

    installed = bots.install(bots.find(str(source)))
    (source / "bot.py").write_text("something else")

    home = tmp_path / "results" / "bots" / installed.digest
    assert Path(installed.folder) == (home / "run").resolve()
    assert (home / "run" / "bot.py").read_text() == "print()"
    assert bots.find_changed([installed.digest]) == []
    assert [path.name for path in (tmp_path / "results" / "bots").iterdir()] == [installed.digest]


def test_installing_twice_changes_nothing(tmp_path: Path) -> None:
    """The second time finds it there; the build runs once."""
    source = bot_folder(tmp_path / "mine", "mine", build="build: [[sh, -c, 'date +%N > built']]\n")
    bots = store(tmp_path)

    first = bots.install(bots.find(str(source)))
    before = files(tmp_path / "results")
    second = bots.install(bots.find(str(source)))

    assert first == second
    assert files(tmp_path / "results") == before


def test_two_installs_at_once_give_one_bot(tmp_path: Path) -> None:
    """The second install uses the copy that the first has made."""
    source = bot_folder(tmp_path / "mine", "mine", build="build: [[sh, -c, 'sleep 0.1; echo x > built']]\n")
    bots = store(tmp_path)
    found: list[BotSpec] = []
    threads = [threading.Thread(target=lambda: found.append(bots.install(read_bot(source)))) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 4
    assert len(set(found)) == 1
    assert [path.name for path in (tmp_path / "results" / "bots").iterdir()] == [found[0].digest]
    assert (Path(found[0].folder) / "built").is_file()


def test_a_bot_that_changes_while_it_is_copied_is_refused(tmp_path: Path, golden: Golden) -> None:
    """Its hash would be another's."""
    source = bot_folder(tmp_path / "mine", "mine")
    bots = store(tmp_path)
    found = bots.find(str(source))
    (source / "bot.py").write_text("edited meanwhile")

    with golden.raises(SpecError):
        bots.install(found)

    assert list((tmp_path / "results" / "bots").iterdir()) == []


def test_finds_by_path_name_and_hash(tmp_path: Path) -> None:
    """A slash makes a path; otherwise it is the name of a bundled bot, or `name@beginning-of-hash`."""
    bundled = bot_folder(tmp_path / "bots" / "fox", "fox")
    other = bot_folder(tmp_path / "mine", "fox", content="other")
    bots = store(tmp_path)

    by_name, by_path = bots.find("fox"), bots.find(str(other))
    register(bots, by_path, tmp_path)

    assert by_name.source == str(bundled.resolve())
    assert by_path.digest != by_name.digest
    assert bots.find(f"fox@{by_path.digest[:8]}").digest == by_path.digest
    assert bots.find(f"fox@{by_name.digest}").digest == by_name.digest


def test_an_ambiguous_name_lists_the_choices(tmp_path: Path, golden: Golden) -> None:
    """Two bots of one name and different content: the reader is told how to name each."""
    bot_folder(tmp_path / "bots" / "fox", "fox")
    bots = store(tmp_path)
    other = register(bots, bots.find(str(bot_folder(tmp_path / "mine", "fox", content="other"))), tmp_path)

    with pytest.raises(SpecError) as caught:
        bots.find("fox")

    golden(caught.value)
    assert f"fox@{other.digest[:8]}" in str(caught.value)
    golden(caught.value)


def test_equal_content_is_not_ambiguous(tmp_path: Path) -> None:
    """A bundled bot that was submitted too is one bot."""
    bot_folder(tmp_path / "bots" / "fox", "fox")
    bots = store(tmp_path)
    register(bots, bots.find("fox"), tmp_path)

    assert bots.find("fox").name == "fox"


def test_the_latest_submission_is_the_one_meant(tmp_path: Path) -> None:
    """A new version under the same name takes its place; the old one is found by its hash."""
    bots = store(tmp_path)
    old = register(bots, bots.find(str(bot_folder(tmp_path / "one", "fox", content="1"))), tmp_path)
    new = register(bots, bots.find(str(bot_folder(tmp_path / "two", "fox", content="2"))), tmp_path)

    assert bots.find("fox").digest == new.digest
    assert bots.find(f"fox@{old.digest[:8]}").digest == old.digest
    assert [each.digest for each in bots.submissions()] == [new.digest, old.digest]


@pytest.mark.parametrize("text", ["fxo", "fox@ffffffff", "fxo@", ""])
def test_an_unknown_bot_is_told_with_the_known_ones(tmp_path: Path, text: str) -> None:
    """The message lists what there is."""
    bot_folder(tmp_path / "bots" / "fox", "fox")

    with pytest.raises(SpecError, match=f'no bot "{text}"; known: .*fox'):
        store(tmp_path).find(text)


def test_a_path_without_a_slash_is_pointed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """A bare word is a name; whoever means the folder here is told how to write it."""
    bot_folder(tmp_path / "mine", "mine")
    monkeypatch.chdir(tmp_path)

    with golden.raises(SpecError):
        store(tmp_path).find("mine")


def test_a_broken_bot_among_the_bundled_is_in_nobodys_way(tmp_path: Path, golden: Golden) -> None:
    """The others are found; it is named where nothing is found, and in the list of what cannot be read."""
    bot_folder(tmp_path / "bots" / "fox", "fox")
    broken = bot_folder(tmp_path / "bots" / "bad", "bad")
    (broken / "bot.yaml").write_text("name: bad\n")
    (tmp_path / "bots" / "README.md").write_text("# Bots")
    (tmp_path / "bots" / ".gitignore").write_text("*")
    bots = store(tmp_path)

    assert bots.find("fox").name == "fox"
    assert [str(error).partition(": ")[0] for error in bots.unreadable()] == [str(broken / "bot.yaml")]
    with golden.raises(SpecError):
        bots.find("bad")


def test_a_submission_whose_files_are_gone_says_so(tmp_path: Path, golden: Golden) -> None:
    """Results may be cleaned up by hand; the list then names what has to be submitted again."""
    bots = store(tmp_path)
    installed = register(bots, bots.find(str(bot_folder(tmp_path / "mine", "mine"))), tmp_path)
    shutil.rmtree(tmp_path / "results" / "bots" / installed.digest)

    with golden.raises(SpecError):
        bots.find("mine")


def test_a_path_that_is_not_there_is_told_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """`./fox` is a path and nothing else, even if there is a bot of that name."""
    bot_folder(tmp_path / "bots" / "fox", "fox")
    monkeypatch.chdir(tmp_path)

    with golden.raises(SpecError):
        store(tmp_path).find("./fox")


@pytest.mark.parametrize("is_submitted", [False, True])
def test_a_bot_of_the_user_hides_the_bundled_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, *, is_submitted: bool
) -> None:
    """A warning appears once, with the hash by which the bundled bot is still found."""
    bundled, mine = store(tmp_path).find("greedy"), tmp_path / ("elsewhere" if is_submitted else "bots") / "greedy"
    bots = store(tmp_path)
    bot_folder(mine, "greedy")
    if is_submitted:
        register(bots, bots.find(str(mine)), tmp_path)

    found = [bots.find("greedy") for _ in range(2)]

    assert {each.digest for each in found} == {read_bot(mine).digest}
    place = "a submitted bot" if is_submitted else str(mine)
    assert caplog.messages == [f"greedy is {place} here; it hides the bundled bot greedy@{bundled.digest[:8]}"]
    assert bots.find(f"greedy@{bundled.digest[:8]}").digest == bundled.digest


def test_the_same_bot_in_the_users_folder_hides_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A copy of a bundled bot plays as that."""
    bundled = store(tmp_path).find("greedy")
    shutil.copytree(bundled.source, tmp_path / "bots" / "greedy")

    assert store(tmp_path).find("greedy").digest == bundled.digest
    assert caplog.messages == []


def test_no_bundled_bot_plays_for_one_that_cannot_be_read(tmp_path: Path, golden: Golden) -> None:
    """A mistake in the user's own bot is named, and no other bot plays under its name."""
    (bot_folder(tmp_path / "bots" / "greedy", "greedy") / "bot.yaml").write_text("name: greedy\n")

    with golden.raises(SpecError):
        store(tmp_path).find("greedy")


def test_a_withdrawn_submission_is_off_the_list(tmp_path: Path) -> None:
    """The latest by its name, any by its hash; the copies stay, and the same bot may come again."""
    bots = store(tmp_path)
    old, mid, new = (
        register(bots, bots.find(str(bot_folder(tmp_path / text, "fox", content=text))), tmp_path) for text in "123"
    )

    first = bots.withdraw(f"fox@{mid.digest[:8]}")
    second = bots.withdraw("fox")

    assert [first.digest, second.digest] == [mid.digest, new.digest]
    assert [each.digest for each in bots.submissions()] == [old.digest]
    assert bots.find("fox").digest == old.digest
    assert bots.find_changed([mid.digest, new.digest]) == []
    register(bots, new, tmp_path)
    assert bots.find("fox").digest == new.digest


@pytest.mark.parametrize("text", ["owl", "fox@ffff", ""])
def test_what_was_not_submitted_cannot_be_withdrawn(tmp_path: Path, text: str) -> None:
    """The message lists what was; without a database nothing is made."""
    bots = store(tmp_path)
    with pytest.raises(SpecError, match=f'no submission "{text}"; known: none'):
        bots.withdraw(text)
    assert not (tmp_path / "results").exists()
    fox = register(bots, bots.find(str(bot_folder(tmp_path / "mine", "fox"))), tmp_path)

    with pytest.raises(SpecError, match=f'no submission "{text}"; known: fox@{fox.digest[:8]}'):
        bots.withdraw(text)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, golden: Golden) -> None:
    """The folder of the results and the option that chooses another."""
    (tmp_path / "results").touch()
    bot = read_bot(bot_folder(tmp_path / "mine", "fox"))

    with golden.raises(SpecError):
        store(tmp_path).install(bot)
