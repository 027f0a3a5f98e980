"""Bots that a worker got from another machine: sent once, built here, bounded, and never believed half."""

import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from support.golden import Golden
from support.store_bots import bot_folder, store

from arena.errors import HarnessFault, MachineFault, SpecError
from arena.store.archives import pack_bot
from arena.store.bots import BotStore
from arena.store.cache import BotCache, BotsMissing

BUILD = "build: [[sh, -c, 'cp bot.py made; ln -s bot.py link']]\n"


class Packed(NamedTuple):
    """A bot on its way."""

    digest: str
    archive: bytes


def packed(folder: Path, name: str, *, build: str = "", content: str = "print()") -> Packed:
    """A bot that is installed on the machine of the league."""
    bots = BotStore(folder / "results", folder / "bots", "none")
    bot = bots.install(bots.find(str(bot_folder(folder / name, name, build=build, content=content))))
    return Packed(bot.digest, bots.pack(bot.digest))


def cache(folder: Path, most_bytes: int = 1 << 30) -> BotCache:
    """The cache of a worker on another machine."""
    return BotCache(folder / "worker", "none", most_bytes)


def installed(folder: Path) -> set[str]:
    return {path.name for path in (folder / "worker/none").iterdir() if len(path.name) == 64}


def test_a_bot_is_sent_once_and_runs_from_its_hash(tmp_path: Path) -> None:
    """A worker without the bot reports it; afterwards no process lacks it, not even a later one."""
    bot, worker = packed(tmp_path, "mine", build=BUILD), cache(tmp_path)
    assert worker.missing([bot.digest, bot.digest]) == [bot.digest]
    with pytest.raises(BotsMissing) as caught, worker.hold([bot.digest]):
        pytest.fail("it is not there")
    assert caught.value.digests == (bot.digest,)
    assert pickle.loads(pickle.dumps(caught.value)).digests == (bot.digest,)

    worker.install(*bot)

    assert worker.missing([bot.digest]) == cache(tmp_path).missing([bot.digest]) == []
    with cache(tmp_path).hold([bot.digest]) as folders:
        run = Path(folders[bot.digest])
        assert (run / "made").read_text() == "print()"
        assert (run / "link").readlink() == Path("bot.py")


def test_another_result_of_a_build_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The bot plays all the same; the sentence names the machine and the two builds. Equal builds say nothing."""
    never = packed(tmp_path, "never", build="build: [[sh, -c, 'date +%s%N > made']]\n")
    built = (tmp_path / "results/bots" / never.digest / "built").read_text()
    cache(tmp_path).install(*packed(tmp_path, "always", build=BUILD))
    assert caplog.text == ""

    cache(tmp_path).install(*never)

    assert f"never 1 ({never.digest[:8]}) is built otherwise on {os.uname().nodename} (" in caplog.text
    assert f", not {built[:8]}): another compiler" in caplog.text
    assert cache(tmp_path).missing([never.digest]) == []


@pytest.mark.parametrize("build", ["['false']", "[no-such-compiler]", "[sh, -c, 'mkfifo pipe']"])
def test_a_machine_that_cannot_build_it_says_so(tmp_path: Path, build: str) -> None:
    """The error has the name of the machine and the output of the build; no file is left."""
    bot = store(tmp_path).find(str(bot_folder(tmp_path / "mine", "mine", build=f"build: [{build}]\n")))

    with pytest.raises(HarnessFault, match=f"{os.uname().nodename} cannot install mine 1"):
        cache(tmp_path).install(bot.digest, pack_bot(bot, ""))

    assert installed(tmp_path) == set()
    assert list((tmp_path / "worker/none").glob("*-*")) == []


@pytest.mark.parametrize(
    "digest", ["", "..", "../../etc", "/etc/passwd", "a" * 63, "A" * 64, "0" * 63 + "\n", "0" * 65]
)
def test_a_hash_that_is_a_path_is_refused(tmp_path: Path, digest: str, golden: Golden) -> None:
    """Before anything is opened."""
    worker = cache(tmp_path)

    for attempt in (lambda: worker.missing([digest]), lambda: worker.install(digest, b"")):
        with golden.raises(SpecError):
            attempt()


@pytest.mark.parametrize("damage", ["run/bot.py", "source/bot.py", "built"])
@pytest.mark.parametrize("is_gone", [False, True])
def test_a_damaged_bot_is_sent_again(tmp_path: Path, damage: str, is_gone: bool) -> None:
    """A new process believes nothing that lies there."""
    bot = packed(tmp_path, "mine")
    cache(tmp_path).install(*bot)
    place = tmp_path / "worker/none" / bot.digest / damage
    place.unlink() if is_gone else place.write_text("stronger")

    worker = cache(tmp_path)

    assert worker.missing([bot.digest]) == [bot.digest]
    worker.install(*bot)
    assert worker.missing([bot.digest]) == []
    assert (tmp_path / "worker/none" / bot.digest / "run/bot.py").read_text() == "print()"


def test_the_least_recently_used_leaves_first_and_none_in_use(tmp_path: Path) -> None:
    """The bound counts bytes on the disk; a new bot itself stays."""
    bots = [packed(tmp_path, f"bot{number}", content=f"{number}" * 100_000) for number in range(4)]
    first, second, third, fourth = (bot.digest for bot in bots)
    worker = cache(tmp_path, 3 * 2 * 120_000)
    for bot in bots[:3]:
        worker.install(*bot)
    assert installed(tmp_path) == {first, second, third}
    with worker.hold([first]):
        pass
    worker.install(*bots[3])
    assert installed(tmp_path) == {first, third, fourth}, "the second was used least recently"

    with worker.hold([third]) as folders:
        cache(tmp_path, 1).install(*bots[1])
        assert installed(tmp_path) == {third, second}
        assert Path(folders[third], "bot.py").read_text() == "2" * 100_000
    assert worker.missing([first, second, third, fourth]) == [first, fourth]


def test_several_threads_build_it_once(tmp_path: Path) -> None:
    """The others wait for it, and find it there."""
    builds = tmp_path / "builds"
    bot = packed(tmp_path, "mine", build=f"build: [[sh, -c, 'sleep 0.1; echo x >> {builds}']]\n")
    builds.unlink()
    threads = [threading.Thread(target=lambda: cache(tmp_path).install(*bot)) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert builds.read_text() == "x\n"
    assert installed(tmp_path) == {bot.digest}


def test_the_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """Its owner could exchange the bots."""
    cache(tmp_path)
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)

    with golden.raises(MachineFault):
        cache(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_a_folder_below_that_of_another_user_is_refused(tmp_path: Path, golden: Golden) -> None:
    """Its owner could put another one in our place; root's, such as /tmp, may hold ours."""
    (tmp_path / "worker").mkdir(mode=0o777)
    os.chown(tmp_path / "worker", 12345, -1)

    with golden.raises(MachineFault):
        cache(tmp_path)


def test_nobody_else_reads_the_bots(tmp_path: Path) -> None:
    """The default folder lies among temporary files."""
    former = os.umask(0)
    try:
        cache(tmp_path)
    finally:
        os.umask(former)

    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "worker").rglob("*")} == {0o700}
    assert (tmp_path / "worker").stat().st_mode & 0o777 == 0o700


KILLED = """
import sys, pickle
from pathlib import Path
from arena.store.cache import BotCache
bot = pickle.loads(Path(sys.argv[2]).read_bytes())
BotCache(Path(sys.argv[1]), "none").install(*bot)
"""


@pytest.mark.process
def test_a_kill_in_the_middle_of_an_install_leaves_nothing_believed(tmp_path: Path) -> None:
    """The bot is missing, what was left is swept, and its lock held up nobody."""
    other = packed(tmp_path, "mine")
    slow = bot_folder(tmp_path / "slow", "slow", build="build: [[sh, -c, 'touch begun; exec sleep 600']]\n")
    bot = store(tmp_path).find(str(slow))
    (tmp_path / "bot").write_bytes(pickle.dumps((bot.digest, pack_bot(bot, ""))))
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path / "worker"), str(tmp_path / "bot")])
    try:
        while not list((tmp_path / "worker/none").glob("new-*/home/run/begun")):
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()

    worker = cache(tmp_path)

    assert worker.missing([bot.digest]) == [bot.digest]
    assert installed(tmp_path) == set()
    worker.install(*other)
    assert list((tmp_path / "worker/none").glob("*scratch")) == []


HOLDING = """
import sys
from pathlib import Path
from arena.store.cache import BotCache
with BotCache(Path(sys.argv[1]), "none").hold([sys.argv[2]]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.process
def test_a_bot_in_use_by_another_process_stays_until_that_dies(tmp_path: Path) -> None:
    """A lock that the kernel lifts; a bot whose user was killed is not kept for ever."""
    bot, other = packed(tmp_path, "mine"), packed(tmp_path, "other")
    cache(tmp_path).install(*bot)
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(tmp_path / "worker"), bot.digest],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        assert process.stdout.readline() == b"held\n"
        cache(tmp_path, 1).install(*other)
        assert installed(tmp_path) == {bot.digest, other.digest}
    finally:
        process.kill()
        process.communicate()

    shutil.rmtree(tmp_path / "worker/none" / other.digest)
    cache(tmp_path, 1).install(*other)
    assert installed(tmp_path) == {other.digest}


ON_A_SMALL_DISK = """
import pickle, sys
from pathlib import Path
from arena.errors import MachineFault
from arena.store.cache import BotCache
folder = Path(sys.argv[1])
first, second, large = pickle.loads((folder / "bots").read_bytes())
worker = BotCache(folder / "worker", "none")
worker.install(*first)
worker.install(*second)
print(worker.missing([first[0], second[0]]) == [first[0]])
with worker.hold([second[0]]):
    try:
        worker.install(*large)
    except MachineFault as error:
        print(error)
print(worker.missing([second[0]]))
"""


@pytest.mark.process
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small file system")
def test_a_full_disk_drops_the_unused_and_then_says_so(tmp_path: Path) -> None:
    """A bot that does not fit beside others does without them; one that never fits is told with the place."""
    sizes = {"first": 700_000, "second": 700_000, "large": 3_000_000}
    bots = [packed(tmp_path, name, content="x" * size) for name, size in sizes.items()]
    (tmp_path / "bots").write_bytes(pickle.dumps([tuple(bot) for bot in bots]))
    (tmp_path / "worker").mkdir()
    script = 'mount -t tmpfs -o size=3m,mode=0700 small "$1/worker" && exec "$2" -c "$3" "$1"'

    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", str(tmp_path), sys.executable, ON_A_SMALL_DISK],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.stderr == ""
    says = f"{tmp_path}/worker/none: no bot can be put there: No space left on device; make room there"
    assert done.stdout.splitlines() == ["True", says, "[]"]
