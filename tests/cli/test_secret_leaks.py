"""The secret of luck is nowhere but in its file: in no log, page or batch, and out of reach for bots and others."""

import base64
import os
import pickle
import re
import subprocess
import sys
import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.bot_source import bot_script
from support.cli_arena import Said, Terminal
from support.cli_secret import TELLTALE, begun, kept, league, records
from support.golden import Golden
from support.tampering import opened
from support.threads import play_in_threads

pytestmark = pytest.mark.process


@pytest.fixture
def terminal(terminal: Terminal) -> Terminal:
    Path("bot.py").write_text(TELLTALE)
    return terminal


READER = bot_script(
    note="found",
    start="""
def found_at(path):
    try:
        return pathlib.Path(path).read_text()[:64]
    except OSError as error:
        return type(error).__name__
found = found_at(sys.argv[1])
""",
)


@pytest.mark.parametrize("isolation", ["sandbox", "none"])
def test_no_bot_in_the_sandbox_reads_the_secret(terminal: Terminal, isolation: str) -> None:
    """A bot that knows the secret's path cannot read it in the sandbox; without one it can, as the table says."""
    begun(terminal)
    (file,) = kept()
    Path("bot.py").write_text(READER)
    players = [{"bot": "./bot.py", "name": name, "arguments": [str(file.resolve())]} for name in ("ann", "bob")]

    said = league(terminal, "--isolation", isolation, "--update", "--yes", players=players)

    notes = {step.get("note") for record in records(notes=True).values() for step in record["steps"]} - {None, "n"}
    assert said.code == 0
    assert (file.read_text().strip() in notes) == (isolation == "none")
    assert ("UNSANDBOXED: bots could read the secret of the luck" in said.out) == (isolation == "none")
    assert isolation == "none" or notes <= {"FileNotFoundError", "PermissionError"}
    assert notes


ANOTHER_USER = """
import os, sys
from pathlib import Path
from arena.store.secrets import SecretFiles
os.setgroups([])
os.setuid(65534)
print(SecretFiles(Path(sys.argv[1])).find(sys.argv[2]))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_cannot_read_the_secret(terminal: Terminal) -> None:
    """For them it is not here, which `verify` says, and no error."""
    begun(terminal)
    (file,) = kept()

    command = [sys.executable, "-c", ANOTHER_USER, str(terminal.results), file.name]
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert (said.returncode, said.stdout) == (0, "None\n"), said.stderr


class Spy(ThreadPoolExecutor):
    """Plays in threads; keeps what a worker of its own process would have got, and looks whether secrets are there."""

    sent: list[bytes] = []  # noqa: RUF012 - one list for all
    synced: list[bool] = []  # noqa: RUF012

    def submit(self, call: Any, /, *arguments: Any, **named: Any) -> "Future[Any]":
        self.sent.append(pickle.dumps((arguments, named)))
        self.synced.append(any(Path("results/secrets").iterdir()))
        return super().submit(call, *arguments, **named)


def everywhere(terminal: Terminal, *said: Said) -> list[bytes]:
    """Every byte that a league left behind or said, but for the secret's own file."""
    files = [path for path in terminal.folder.rglob("*") if path.is_file() and path.parent.name != "secrets"]
    found = [path.read_bytes() for path in files] + [text.encode() for one in said for text in (one.out, one.err)]
    with opened(Path("results")) as connection:
        bodies = [body for (body,) in connection.execute("SELECT body FROM record")]
    return [*found, *map(zlib.decompress, bodies), *Spy.sent]


def test_the_secret_is_nowhere_but_in_its_file(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The secret is in no database, log, table, page, line to a bot, batch of a worker or error, in no usual form."""
    Spy.sent.clear()
    play_in_threads(monkeypatch, Spy(1))
    ran = league(terminal, cycles=3)
    (file,) = kept()
    secret = bytes.fromhex(file.read_text())
    match = terminal.first_match()
    boards = [f"leaderboard --format {form}" for form in ("table", "json", "csv")]
    lines = [*boards, "league status", "verify", "matrix"]
    said = [ran, *map(terminal.arena, [*lines, f"show {match} --to page.html", "stats ann", "league matches"])]
    monkeypatch.setattr("arena.operations.run_league.play_jobs", _fails)
    said.append(league(terminal, cycles=4))

    forms = {secret, secret.hex().encode(), secret.hex().upper().encode(), repr(secret).encode()[2:-1]}
    forms |= {base64.b64encode(secret), base64.urlsafe_b64encode(secret), str(int.from_bytes(secret)).encode()}
    texts = [*everywhere(terminal, *said), caplog.text.encode()]
    assert ran.code == 0
    assert len(Spy.sent) == 1
    assert b"bot_seed" in b"".join(texts)
    assert said[-1].code == 4
    assert "Traceback" in said[-1].err
    assert not [text[:200] for text in texts for form in forms if form in text]


def _fails(*_: Any, **__: Any) -> None:
    raise RuntimeError("a mistake of ours, with all frames on its way")


def test_the_secret_is_on_the_disk_before_the_first_bot_starts(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file, its folder and the folder above were synced when the first batch went out."""
    Spy.sent.clear()
    Spy.synced.clear()
    synced: list[str] = []
    fsync = os.fsync

    def watched(number: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{number}").readlink()))
        fsync(number)

    monkeypatch.setattr("os.fsync", watched)
    play_in_threads(monkeypatch, Spy(1))

    league(terminal)

    first = next(place for place, path in enumerate(synced) if re.search(r"results/secrets/new-\w+$", path))
    assert [Path(path).name for path in synced[first + 1 : first + 3]] == ["secrets", "results"]
    assert Spy.synced == [True]


def test_a_secret_that_cannot_be_kept_stops_the_league(terminal: Terminal, golden: Golden) -> None:
    """A league whose secret cannot be kept does not play."""
    Path("results").mkdir()
    Path("results/secrets").write_text("")

    said = league(terminal)

    assert said.code == 1
    golden(said.err)
    assert "Traceback" not in said.err
