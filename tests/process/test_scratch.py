"""Scratch folders go with their makers, and nothing else goes."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.golden import Golden

from arena.process import scratch
from arena.process.scratch import scratch_folder


def test_a_folder_that_somebody_named_stays(tmp_path: Path) -> None:
    """It stays even with the prefix and as many letters after it."""
    mine = [tmp_path / name for name in ("arena-play-2026", "arena-play-20261123", "arena-play-abcdefgh.txt")]
    for each in mine:
        each.mkdir(0o700)

    with scratch_folder("arena-play-", tmp_path):
        pass

    assert sorted(tmp_path.iterdir()) == sorted(mine)


def test_a_leftover_of_this_user_goes_and_that_of_another_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mount may show one owner for all files: the maker has its folder all the same."""
    with scratch_folder("arena-play-", tmp_path) as made:
        leftover = made.rename(made.with_name(f"arena-play-abcdefgh{scratch.ENDING}"))
    leftover.mkdir(exist_ok=True)
    other = os.geteuid() + 1

    with monkeypatch.context() as patch:
        patch.setattr("arena.process.scratch.os.geteuid", lambda: other)
        with scratch_folder("arena-play-", tmp_path) as folder:
            assert leftover.exists()
            assert folder.is_dir()
    with scratch_folder("arena-play-", tmp_path):
        assert not leftover.exists()


def test_a_leftover_that_goes_is_no_news(tmp_path: Path) -> None:
    """A worker killed in its self-test leaves one to the next worker: its log has it, its stderr has not."""
    leftover = tmp_path / f"arena-play-abcdefgh{scratch.ENDING}"
    leftover.mkdir()
    sweeps = "import pathlib, sys; from arena.process.scratch import sweep; sweep(pathlib.Path(sys.argv[1]))"

    done = subprocess.run([sys.executable, "-c", sweeps, str(tmp_path)], capture_output=True, text=True, check=True)

    assert (done.stdout, done.stderr, leftover.exists()) == ("", "", False)


def test_an_error_inside_comes_out_as_it_is(tmp_path: Path, golden: Golden) -> None:
    with golden.raises(BlockingIOError), scratch_folder("arena-play-", tmp_path):
        raise BlockingIOError("no more processes")


def test_a_file_system_without_locks_has_scratch_folders_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError("no locks available")

    monkeypatch.setattr("fcntl.flock", refused)

    with scratch_folder("arena-play-", tmp_path) as folder:
        assert folder.is_dir()
    assert not folder.exists()


def test_two_sweeps_at_once_disturb_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A leftover that another sweep removes between its opening and its lock is nobody's error."""
    leftover = tmp_path / f"arena-play-abcdefgh{scratch.ENDING}"
    leftover.mkdir()
    lock = fcntl.flock

    def remove_first(number: int, how: int) -> None:
        leftover.rmdir()
        lock(number, how)

    monkeypatch.setattr("arena.process.scratch.fcntl.flock", remove_first)

    scratch.sweep(tmp_path)

    assert not leftover.exists()
