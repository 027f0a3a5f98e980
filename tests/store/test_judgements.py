"""Judgements beside the results: found again for the same record and judge, and never needed."""

import os
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from support.golden import Golden
from support.store_made import fill, reading, tournament

from arena.errors import DamagedStore
from arena.match.judgement import JudgedDecision, Judgement, Ledger
from arena.match.results import MatchResult
from arena.store.judgements import JudgementCache

JUDGE, OTHER = "0123456789abcdef", "fedcba9876543210"


def judgement(by: str) -> Judgement:
    decision = JudgedDecision(3, 0, "takes 1", best="takes 2", chosen_value=0.1, best_value=1 / 3, changes=(-0.2, 0.2))
    return Judgement(by, "nim", "", (decision,), (Ledger(0.5, 0.0, 0.1, 0.2, -0.1, 0.3),) * 2)


@pytest.fixture
def cache(tmp_path: Path) -> JudgementCache:
    return JudgementCache(tmp_path)


@pytest.fixture
def matches(tmp_path: Path) -> list[MatchResult]:
    """Two stored matches with their records."""
    league = tournament("ann", "bob", cycles=1)
    ids = [str(result.key) for block in fill(tmp_path, league) for result in block.results]
    with reading(tmp_path) as store:
        return [store.match(match) for match in ids]


def test_a_judgement_is_found_for_its_match_and_judge_only(cache: JudgementCache, matches: list[MatchResult]) -> None:
    cache.keep(matches[0], JUDGE, judgement("el-dado"))

    assert cache.read(matches[0], JUDGE) == judgement("el-dado")
    assert cache.read(matches[0], OTHER) is None
    assert cache.read(matches[1], JUDGE) is None
    assert cache.read(replace(matches[0], record=matches[1].record), JUDGE) is None


def test_the_latest_judge_comes_first(tmp_path: Path, cache: JudgementCache, matches: list[MatchResult]) -> None:
    for age_s, judge in ((100, JUDGE), (50, OTHER)):
        cache.keep(matches[0], judge, judgement(judge))
        os.utime(tmp_path / "coach" / judge, (1e9 - age_s, 1e9 - age_s))

    assert [known.by for known in cache.read_all(matches[0])] == [OTHER, JUDGE]
    assert cache.read_all(matches[1]) == []


def test_a_damaged_file_counts_as_missing(tmp_path: Path, cache: JudgementCache, matches: list[MatchResult]) -> None:
    """Each changed byte, and each end cut off; then it is written anew."""
    cache.keep(matches[0], JUDGE, judgement("el-dado"))
    (file,) = (path for path in (tmp_path / "coach").rglob("*") if path.is_file())
    whole = file.read_bytes()
    damaged = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))]
    for content in (*damaged, whole[:-1], whole + b" ", b"", b"\xff\n\xff"):
        file.write_bytes(content)
        assert cache.read(matches[0], JUDGE) is None
    cache.keep(matches[0], JUDGE, judgement("el-dado"))
    assert file.read_bytes() == whole


def test_links_are_refused(tmp_path: Path, cache: JudgementCache, matches: list[MatchResult], golden: Golden) -> None:
    """No judgement is read or written outside the results folder."""
    cache.keep(matches[0], JUDGE, judgement("el-dado"))
    outside = tmp_path / "outside"
    shutil.move(tmp_path / "coach", outside)
    (tmp_path / "coach").symlink_to(outside)

    assert cache.read(matches[0], JUDGE) is None
    with golden.raises(DamagedStore):
        cache.keep(matches[0], OTHER, judgement("el-dado"))
    assert cache.read_all(matches[0]) == []
    assert [path.name for path in outside.iterdir()] == [JUDGE]
