"""Builds: confined like bots, with a folder to write to; what they leave is looked at, not followed, and sealed."""

import contextlib
import os
import resource
import shutil
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.process_boxes import built, folder_of, in_a_box, refusal

from arena.errors import SpecError
from arena.process import build as building
from arena.process.build import digest_of_folder, is_too_large
from arena.process.sandbox import runtimes
from arena.store.bots import BotStore

pytestmark = in_a_box

C = '#include <stdio.h>\nint main(void) { puts("built"); }\n'
JAVA = 'class Bot { public static void main(String[] a) { System.out.println("built"); } }\n'


@pytest.mark.parametrize(
    ("program", "name", "code", "command", "made"),
    [
        ("cc", "bot.c", C, "cc -O2 -o bot bot.c", "bot"),
        ("javac", "Bot.java", JAVA, "javac Bot.java", "Bot.class"),
        ("make", "bot.c", C, "make bot", "bot"),
        ("python3", "bot.py", "x = 1\n", "python3 -m compileall -q . && touch bot", "bot"),
    ],
)
def test_compilers_work(tmp_path: Path, program: str, name: str, code: str, command: str, made: str) -> None:
    """Their output lies in the folder."""
    if shutil.which(program, path=runtimes.search_path()) is None:
        pytest.skip(f"no {program} for bots here")
    (folder_of(tmp_path / "run") / name).write_text(code)

    folder = built(tmp_path / "run", command)

    assert (folder / made).is_file()


def test_commands_run_one_after_the_other(tmp_path: Path) -> None:
    """Each runs in the folder and finds the files of the one before."""
    folder = built(folder_of(tmp_path / "run"), "echo a > x", "cat x x > y", "mkdir z && mv y z/")

    assert (folder / "z" / "y").read_text() == "a\na\n"


def test_a_build_works_where_a_thousand_files_are_open(tmp_path: Path) -> None:
    """As in a process that talks to many bots; `select` knows no file from number 1024 on."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, limits[1]), limits[1]))
        for _ in range(1024):
            stack.enter_context(Path("/dev/null").open("rb"))

        folder = built(folder_of(tmp_path / "run"), "echo a > x")

    assert (folder / "x").read_text() == "a\n"


def test_a_failed_build_shows_command_ending_and_output(tmp_path: Path) -> None:
    """The commands after it are not run."""
    said = refusal(folder_of(tmp_path / "run"), "echo out; echo err >&2; exit 3", "touch never")

    assert said == "build `sh -c 'echo out; echo err >&2; exit 3'` ended with exit code 3 and said:\nout\nerr\n"
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "command",
    [
        "cat /etc/shadow",
        "cat /etc/passwd",
        "ls /home",
        "ls /var /srv /opt",
        "cat ../source/secret",
        "cat {outside}/secret",
        "touch /usr/x",
        "touch /x",
        "touch ../x",
        "touch {outside}/x",
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 22), 1)'",
        "python3 -c 'import os; os.setns'  && unshare -U true",
        "mount -t tmpfs x /bot",
        "kill -0 {harness}",
    ],
)
def test_a_build_reaches_nothing_outside(tmp_path: Path, command: str) -> None:
    """It can neither read nor write there; it has no network, no namespaces, no other processes."""
    folder_of(tmp_path, secret="s").chmod(0o777)
    folder_of(tmp_path / "source", secret="s")

    said = refusal(folder_of(tmp_path / "run"), command.format(outside=tmp_path, harness=os.getpid()))

    assert "ended with exit code" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret", "source"]


def test_a_build_sees_none_of_our_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its environment contains no tokens."""
    monkeypatch.setenv("API_TOKEN", "geheim")

    folder = built(folder_of(tmp_path / "run"), "env > settings; cat /proc/1/environ >> settings")

    assert "geheim" not in (folder / "settings").read_text()


def test_a_build_without_end_is_stopped(tmp_path: Path) -> None:
    """The message says how long it had."""
    said = refusal(folder_of(tmp_path / "run"), "echo begun; sleep 60", timeout_s=0.5)

    assert "did not end within 0.5 s and said:\nbegun\n" in said


def test_a_build_that_floods_its_output_is_kept_short(tmp_path: Path) -> None:
    """Beginning and end are kept, and all is read, so that the build can end."""
    said = refusal(folder_of(tmp_path / "run"), "echo first; yes | head -c 50000000; echo last; exit 1")

    assert len(said) < 20_000
    assert "first" in said
    assert "bytes left out" in said
    assert said.endswith("last\n")


def test_a_build_that_fills_the_disk_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size of its files is limited (a sparse file costs nothing here), and their number."""
    monkeypatch.setattr(building, "BUILT_FILE_LIMIT", 200)

    many = refusal(folder_of(tmp_path / "a"), "i=0; while true; do i=$((i+1)); : > f$i; done", timeout_s=30)
    large = refusal(folder_of(tmp_path / "b"), "truncate -s 500M x y z && sleep 60", timeout_s=30)
    quick = refusal(folder_of(tmp_path / "c"), "truncate -s 500M x y z")

    assert "made more than 512 MiB or 200 files" in many
    assert "made more than 512 MiB" in large
    assert "larger than 512 MiB" in quick or "made more than 512 MiB" in quick


def test_daemons_of_a_build_do_not_outlive_it(tmp_path: Path) -> None:
    """The box ends with its first program."""
    folder = built(folder_of(tmp_path / "run"), "setsid sh -c 'sleep 0.3; touch late' & touch now")

    time.sleep(0.5)
    assert [path.name for path in folder.iterdir()] == ["now"]


def test_links_made_by_a_build_are_not_followed(tmp_path: Path) -> None:
    """Their text counts, not their target, whose mode and owner do not change."""
    outside = folder_of(tmp_path / "outside", secret="one") / "secret"
    outside.chmod(0o600)
    before = outside.stat()
    folder = built(
        folder_of(tmp_path / "run"),
        f"ln -s /etc/shadow a; ln -s {outside} b; ln -s {outside.parent} c; ln -s / d; ln -s a loop",
    )

    digest = digest_of_folder(folder)
    outside.write_text("two")

    assert digest_of_folder(folder) == digest
    assert not is_too_large(folder)
    assert (outside.stat().st_mode, outside.stat().st_uid) == (before.st_mode, before.st_uid)


def test_special_bits_vanish(tmp_path: Path) -> None:
    """Files are readable by all and writable by nobody else; what could be run can still be run."""
    folder = built(
        folder_of(tmp_path / "run"),
        "cp /bin/true t; chmod 6777 t; echo > plain; chmod 666 plain; mkdir d; chmod 3777 d",
        "echo > o; chmod 400 o; mkdir e; chmod 700 e",
    )

    modes = {path.name: stat.S_IMODE(path.lstat().st_mode) for path in folder.iterdir()}
    assert modes == {"t": 0o755, "plain": 0o644, "d": 0o755, "o": 0o644, "e": 0o755}
    assert {path.lstat().st_uid for path in (folder, *folder.iterdir())} == {os.geteuid()}


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A reader of a fifo would wait for ever."""
    said = refusal(folder_of(tmp_path / "run"), "mkfifo thing")

    assert said == "the build made thing, which is no plain file, folder or link"


@pytest.mark.parametrize("mode", ["0", "100", "300", "600"])
def test_folders_that_cannot_be_looked_into_are_refused(tmp_path: Path, mode: str) -> None:
    """They could hide any amount of files."""
    said = refusal(folder_of(tmp_path / "run"), f"mkdir -p a/b; echo 1 > a/b/x; chmod {mode} a/b")

    assert said == "the build made a/b, a folder that its owner may not look into"


@pytest.mark.parametrize(("depth", "name"), [(70, "d"), (1100, "d"), (1100, "d" * 20), (70, "d" * 200)])
def test_folders_within_folders_are_refused(tmp_path: Path, depth: int, name: str) -> None:
    """Python's walk and the kernel's paths have a limit of depth; the folder is removed."""
    code = f"import os\nfor _ in range({depth}):\n  os.mkdir('{name}')\n  os.chdir('{name}')\n"
    source = folder_of(tmp_path / "bot", deep_py=code)
    (source / "bot.yaml").write_text("name: mine\ncommand: [sh]\nbuild: [[python3, deep.py]]\n")
    store = BotStore(tmp_path / "results", tmp_path)

    with pytest.raises(SpecError, match="the build made folders within folders: d"):
        store.install(store.find(f"{tmp_path}/bot"))

    assert list((tmp_path / "results" / "bots").iterdir()) == []


def test_no_name_can_pass_for_another_file(tmp_path: Path) -> None:
    """Newlines in names do not make the hashes of different folders equal."""
    two = folder_of(tmp_path / "two")
    (two / "a").write_text("x")
    (two / "b").write_text("")
    one = folder_of(tmp_path / "one")
    (one / "a\n00\n1\nx\nb").write_text("")

    assert digest_of_folder(one) != digest_of_folder(two)


CHANGES: dict[str, Callable[[Path], object]] = {
    "byte": lambda run: (run / "run.sh").write_text("echo hallo\n"),
    "mode": lambda run: (run / "run.sh").chmod(0o755),
    "more": lambda run: (run / "sitecustomize.py").touch(),
    "less": lambda run: (run / "other").unlink(),
    "name": lambda run: (run / "other").rename(run / "others"),
    "bytes that are no text": lambda run: (run / os.fsdecode(b"a\xff\nb")).write_text("y"),
    "link": lambda run: subprocess.run(["ln", "-sf", "/etc/passwd", run / "link"], check=True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_was_changed_shows_in_the_hash(tmp_path: Path, change: str) -> None:
    """The store compares the hash at the next start, and so does `verify`."""
    folder = folder_of(tmp_path, other="")
    (folder / "run.sh").write_text("echo hello\n")
    (folder / os.fsdecode(b"a\xff\nb")).write_text("x")
    (folder / "link").symlink_to("/etc/shadow")
    before = digest_of_folder(folder)

    CHANGES[change](folder)

    assert digest_of_folder(folder) != before


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    """The folder is removed, so that the next attempt starts from the sources."""
    source = folder_of(tmp_path / "bot")
    (source / "bot.yaml").write_text("name: mine\ncommand: [sh]\nbuild: [[sh, -c, 'mkdir -p a/b; chmod 0 a; false']]\n")
    store = BotStore(tmp_path / "results", tmp_path)

    with pytest.raises(SpecError, match=r"ended with exit code 1|may not look into"):
        store.install(store.find(f"{tmp_path}/bot"))

    assert list((tmp_path / "results" / "bots").iterdir()) == []
