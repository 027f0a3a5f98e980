"""The script, the hook and the units of docs/hand-ins.md, as the page has them but for the paths."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.docs_pages import BLOCKS

from arena.operations.list_bots import ListBots, list_bots

pytestmark = pytest.mark.process
FILES = {block.file: block.text for block in BLOCKS if block.page == "docs/hand-ins.md" and block.file}


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the course, with an inbox for three authors and the repository of ada."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    for key in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(key, "ada")
    for name, text in FILES.items():
        Path(name).write_text(text.replace("/srv/course", str(tmp_path)))
    for author in ("ada", "ben", "kim"):
        for folder in ("upload", "reports"):
            Path("inbox", author, folder).mkdir(parents=True)
    Path("authors.csv").write_text("author,hand_in,address,active\nada,ada,,yes\nben,ben,,yes\nkim,kim,,yes\n")
    Path("course.yaml").write_text("name: course\ngame: nim\noptions: {heaps: [1, 2]}\nplayers: submitted\n")
    sh("git init -q --bare ada.git && install -m 755 post-receive.sh ada.git/hooks/post-receive")
    sh("git init -q -b main work && git -C work remote add origin ../ada.git")
    return tmp_path


def sh(line: str) -> str:
    done = subprocess.run(["sh", "-ec", line], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout + done.stderr


def bot(folder: str, name: str, action: str = "0") -> None:
    Path(folder).mkdir(exist_ok=True)
    Path(folder, "bot.py").write_text(bot_script(action))
    Path(folder, "bot.yaml").write_text(f"name: {name}\ncommand: [python3, bot.py]\n")


def push(action: str) -> str:
    bot("work", "ada", action)
    return sh("git -C work add . && git -C work commit -qm bot && git -C work push -q origin main")


def now() -> str:
    """A moment after all files so far, and before all others: their times are some milliseconds late."""
    time.sleep(0.05)
    moment = f"@{time.time()}"
    time.sleep(0.05)
    return moment


def take_in(moment: str) -> None:
    """Run the script; files that were changed after that moment, not in the last minute, are not finished."""
    sh(f"sed 's/1 minute ago/{moment}/' take-in.sh | sh")


def test_hand_ins_by_git_and_into_a_folder(course: Path) -> None:
    """Finished ones are taken, an upload that goes on stays; a refused version leaves the former one."""
    assert "handed in" in push("0")
    bot("inbox/ben/upload/week 1", "ben")
    moment = now()
    bot("inbox/kim/upload", "kim")
    take_in(moment)

    verdicts = {path.stem: path.read_text().split(":")[0] for path in course.glob("inbox/*/reports/*.txt")}
    assert verdicts == {"ada": "accepted", "ben": "accepted"}
    assert [path.parts[-3] for path in course.glob("inbox/*/upload/*.py")] == ["kim"]
    assert not [*course.glob("inbox/[ab]*/upload/*")]
    push("99")
    Path("inbox/ben/upload/link").symlink_to("/etc/passwd")
    take_in(now())
    take_in(now())

    report = Path("inbox/ada/reports/ada.txt").read_text()
    assert report.startswith("refused: ")
    assert "ada 1 (" in report.splitlines()[0]
    assert "refused" in Path("inbox/ben/reports/ben.txt").read_text()
    assert "accepted" in Path("inbox/kim/reports/kim.txt").read_text()
    assert sorted(row.bot for row in list_bots(ListBots()) if row.place.startswith("submitted")) == [
        "ada",
        "ben",
        "kim",
    ]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd")
def test_systemd_understands_the_units(course: Path) -> None:
    """`systemd-analyze verify` has nothing to say."""
    sh("chmod 755 take-in.sh && sed -i '/^User=/d' arena-submit.service")
    assert sh(f"SYSTEMD_UNIT_PATH={course}: systemd-analyze verify ./arena-submit.timer ./arena-submit.service") == ""
