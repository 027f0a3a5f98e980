"""The audit: a clean store passes, and every kind of tampering is found."""

import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from support.golden import Golden
from support.report_made import Kept
from support.store_made import writing
from support.tampering import delete_match, edit_matches

from arena.errors import DamagedStore
from arena.games.nim import Nim
from arena.league.state import state_of
from arena.match.record import encode_record, unpack
from arena.match.results import MatchResult
from arena.operations.events import Event
from arena.operations.verify_leagues import Found, VerifyLeagues, verify_leagues
from arena.store import database
from arena.store.matches import MatchStore
from arena.verify.audit import audit


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """The league that each test gets a copy of."""
    return Kept(tmp_path_factory.mktemp("audit"))


@pytest.fixture
def kept(template: Kept, tmp_path: Path) -> Kept:
    return template.copied(tmp_path)


def findings(kept: Kept) -> list[tuple[bool, str]]:
    with kept.reading() as store:
        return list(audit(store, kept.bots, ("test",)))


def problems(kept: Kept) -> list[str]:
    return [text for is_problem, text in findings(kept) if is_problem]


def test_a_clean_store_passes(kept: Kept) -> None:
    """No problem, and a sentence about each thing that was looked at."""
    found = findings(kept)
    with kept.reading() as store:
        head = store.head()

    assert not [text for is_problem, text in found if is_problem]
    assert [text for _, text in found] == [
        "database: SQLite finds it sound",
        f"history: 12 matches in the order of their commits, {head}",
        "test: 3 bots have their hashes",
        "test: 12 of 12 matches replayed",
        "test: the luck of 12 matches compared with the secret or the public seed",
        "test: ratings agree with the factor graph of the trueskill package",
        "test: luck audit: not tested: no match has its luck measured",
        "test: the published standings are those of the matches",
    ]


def first(kept: Kept) -> Any:
    """The record of a normal match, as JSON values."""
    return msgspec.json.decode(encode_record(unpack(kept.normal.record)))


def put(kept: Kept, record: Any) -> None:
    """Store it in place of the first, with a digest that fits."""
    text = msgspec.json.encode(record)
    kept.tamper(
        "UPDATE record SET body = ?, digest = ? WHERE body = ?",
        zlib.compress(text),
        sha256(text).hexdigest(),
        kept.body,
    )


def flip_body(kept: Kept) -> None:
    body = bytearray(kept.body)
    body[len(body) // 2] ^= 1
    kept.tamper("UPDATE record SET body = ? WHERE body = ?", bytes(body), kept.body)


def change_match(kept: Kept, change: Callable[[MatchResult], MatchResult | None]) -> None:
    """Put another result in the place of the first normal match; None deletes it."""
    edit_matches(kept.results, lambda match: change(match) if match.key == kept.normal.key else match)


def change_record(kept: Kept, change: Callable[[Any], None]) -> None:
    record = first(kept)
    change(record)
    put(kept, record)


def action_of(record: Any) -> Any:
    return next(step for step in record["steps"] if step["step"] == "action")


TAMPERING: dict[str, Callable[[Kept], None]] = {
    "a byte of a record": flip_body,
    "a digest": lambda kept: kept.tamper("UPDATE record SET digest = replace(digest, 'a', 'b')"),
    "a codec": lambda kept: kept.tamper("UPDATE record SET codec = 'plain'"),
    "a score": lambda kept: change_match(kept, lambda match: replace(match, scores=(Fraction(7),) * 2)),
    "ranks": lambda kept: change_match(kept, lambda match: replace(match, ranks=(0, 0))),
    "a time": lambda kept: change_match(kept, lambda match: replace(match, time_us=(10**9,) * 2)),
    "moves": lambda kept: change_match(kept, lambda match: replace(match, moves=(99, 99))),
    "an isolation": lambda kept: change_match(kept, lambda match: replace(match, isolation="sandbox")),
    "luck of no version": lambda kept: change_match(kept, lambda match: replace(match, luck=(5, -5), luck_version="x")),
    "a row nobody wrote": lambda kept: kept.tamper("UPDATE block SET ranks = '0x01' WHERE number = 1"),
    "a deleted record": lambda kept: kept.tamper("DELETE FROM record WHERE rotation = 1 AND block = 0"),
    "a deleted match": lambda kept: change_match(kept, lambda _: None),
    "a match deleted with its record": lambda kept: delete_match(
        kept.results, lambda match: match.key == kept.normal.key
    ),
    "a block deleted with its records": lambda kept: delete_match(kept.results, lambda match: match.key.block == 1),
    "standings": lambda kept: kept.tamper(
        "UPDATE league SET standings = replace(CAST(standings AS TEXT), '\"rank\":1', '\"rank\":2')"
    ),
    "standings nobody can read": lambda kept: kept.tamper("UPDATE league SET standings = 'x'"),
    "another tournament seed": lambda kept: kept.tamper(
        'UPDATE league SET tournament = CAST(replace(CAST(tournament AS TEXT), \'"seed":"1"\', \'"seed":"2"\') AS BLOB)'
    ),
    "a record of another match": lambda kept: put(
        kept, msgspec.json.decode(encode_record(unpack(kept.blocks[-1].results[1].record)))
    ),
    "the seed in a record": lambda kept: change_record(kept, lambda record: record.update(seed="other")),
    "the options in a record": lambda kept: change_record(kept, lambda record: record.update(options={"misere": True})),
    "the game in a record": lambda kept: change_record(kept, lambda record: record.update(game="chess")),
    "the rules in a record": lambda kept: change_record(kept, lambda record: record.update(rules="0")),
    "the players in a record": lambda kept: change_record(kept, lambda record: record["seats"].reverse()),
    "the clock in a record": lambda kept: change_record(kept, lambda record: record["clock"].update(move_ms=1e6)),
    "an action": lambda kept: change_record(
        kept, lambda record: action_of(record).update(action={"heap": 9, "count": 1})
    ),
    "a missing step": lambda kept: change_record(kept, lambda record: record["steps"].pop()),
    "a step too many": lambda kept: change_record(kept, lambda record: record["steps"].append(record["steps"][0])),
    "a record that is none": lambda kept: put(kept, {"match": 5}),
    "who won": lambda kept: change_record(kept, lambda record: record.update(ranks=[1, 0], scores=[0, 1])),
    "an edited bot": lambda kept: _edit(kept, "source"),
    "an edited running bot": lambda kept: _edit(kept, "run"),
}


def _edit(kept: Kept, part: str) -> None:
    (kept.results / "bots" / kept.league.players[0].bot.digest / part / "ann.py").write_text("print('better')")


@pytest.mark.parametrize("kind", TAMPERING)
def test_finds_tampering(kept: Kept, kind: str) -> None:
    """Whatever was changed, there is a problem to read about, and no traceback."""
    TAMPERING[kind](kept)

    assert problems(kept)


def test_an_edited_tournament_is_named(kept: Kept) -> None:
    """Even where no match depends on what was edited."""
    kept.tamper(
        "UPDATE league SET tournament = CAST(replace(CAST(tournament AS TEXT), '\"chunk_blocks\":1', "
        "'\"chunk_blocks\":3') AS BLOB)"
    )

    (problem,) = problems(kept)
    assert problem.startswith(
        f"test: {kept.results / 'arena.db'}: league test: the stored tournament is not what was saved"
    )


def change_league(kept: Kept, **changed: Any) -> None:
    connection = database.open_for_writing(kept.results)
    MatchStore(connection, kept.results).save_league(msgspec.structs.replace(kept.league, **changed))
    connection.close()


@pytest.mark.parametrize(("changed", "orphans"), [({"seed": "2"}, "12 matches"), ({"cycles": 1}, "6 matches")])
def test_matches_of_no_league_are_replayed(kept: Kept, changed: dict[str, Any], orphans: str) -> None:
    """A changed tournament leaves matches behind: they are counted, and checked against their own records."""
    change_league(kept, **changed)

    found = findings(kept)

    assert not [text for is_problem, text in found if is_problem]
    assert (False, f"no league: {orphans} of no current league replayed") in found


def test_matches_by_other_rules_are_not_comparable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Healthy data that this arena cannot replay is no damage: a sentence tells how many there are, and why."""
    with monkeypatch.context() as before:
        before.setattr(Nim, "rules_version", "0")
        kept = Kept(tmp_path)
    change_league(kept, seed="2")

    found = findings(kept)

    why = "played by rules 0 of nim; this arena plays rules 1 and cannot replay it"
    assert not [text for is_problem, text in found if is_problem]
    assert (False, "no league: 0 matches of no current league replayed") in found
    assert (False, f"no league: not comparable: 12 matches {why}") in found


def test_matches_of_a_game_that_is_gone_are_not_comparable(kept: Kept) -> None:
    """Matches of a game that this arena no longer has are not comparable, as with other rules."""
    change_record(kept, lambda record: record.update(game="chess"))
    change_league(kept, seed="2")

    found = findings(kept)

    why = "played by rules 1 of chess, a game that this arena does not have"
    (problem,) = [text for is_problem, text in found if is_problem]
    assert problem.startswith("history: ")  # it knows that this record was another one
    assert (False, f"no league: not comparable: 1 match {why}") in found


def test_a_league_of_a_game_that_is_gone_is_not_played_again(kept: Kept) -> None:
    """It is a remark, and the audit goes on."""
    change_league(kept, game="gone", rules="1")

    found: list[Event] = []
    verify_leagues(VerifyLeagues(results=kept.results, replays=1, isolation="none"), found.append)

    said = [event.sentence for event in found if isinstance(event, Found) and not event.is_problem]
    assert [text for text in said if text.startswith('test: no process life can be played again: unknown game "gone"')]
    assert said[-1].startswith("no league: ")


def test_damage_in_a_run_hides_no_block_from_the_rest(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store shows what came after that run again."""
    with writing(kept.results) as store:
        store.add_snapshot(kept.league, b'{"matches": 4, "scheduled": 12, "rows": []}', "2026-01-01T00:00:00")
        blocks = state_of(kept.league, store.ranks).blocks
    read = MatchStore.sums

    def sums(store: MatchStore, blocks: dict[str, int]) -> object:
        if len([*store.results(blocks)]) == 4:
            raise DamagedStore("damaged")
        return read(store, blocks)

    monkeypatch.setattr(MatchStore, "sums", sums)
    with kept.reading() as store:
        assert (True, "test: damaged") in audit(store, kept.bots, ("test",))
        assert len([*store.results(blocks)]) == 12


@pytest.mark.parametrize("rules", ["0", Nim.rules_version])
@pytest.mark.parametrize("kind", ["a byte of a record", "a digest", "a score", "a deleted record"])
def test_tampering_with_a_match_of_no_league_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, rules: str
) -> None:
    """Tampering with a match of no league is found by digests and results, which need no rules."""
    with monkeypatch.context() as before:
        before.setattr(Nim, "rules_version", rules)
        kept = Kept(tmp_path)
    change_league(kept, seed="2")

    TAMPERING[kind](kept)

    assert problems(kept)


def test_one_is_not_many(kept: Kept, golden: Golden) -> None:
    """A block that lacks a match."""
    delete_match(kept.results, lambda match: match.key == (kept.key, 0, 1))

    golden(problems(kept))


def test_reports_every_problem(kept: Kept) -> None:
    """The audit reports every problem and does not stop at the first."""
    kept.tamper("UPDATE record SET digest = 'x'")

    assert len([text for text in problems(kept) if "the stored bytes do not have the stored digest" in text]) == 12


def test_added_matches_are_no_problem(kept: Kept) -> None:
    """A league that was interrupted after its last table: matches are ahead of the published standings."""
    kept.tamper("UPDATE league SET standings = replace(CAST(standings AS TEXT), '\"matches\":12', '\"matches\":8')")

    found = findings(kept)

    assert (False, "test: matches were added since the standings were published; run the league again") in found


@pytest.mark.parametrize(("factor", "is_problem"), [(1 + 1e-9, False), (1 + 1e-5, True)])
def test_late_digits_are_no_problem(kept: Kept, factor: float, *, is_problem: bool) -> None:
    """Standings that another version of numpy computed; each number of points is changed by that factor."""
    with kept.reading() as store:
        published = store.published_standings("test") or b""
    changed = re.sub(rb'("mu":)([0-9.]+)', lambda found: found[1] + b"%.17g" % (float(found[2]) * factor), published)
    kept.tamper("UPDATE league SET standings = ?", changed)

    (found,) = (finding for finding in findings(kept) if "published standings" in finding[1])

    assert changed != published
    assert found[0] is is_problem
    assert is_problem or "but for late digits" in found[1]


def test_a_column_more_is_no_problem(kept: Kept) -> None:
    """Standings that a version without one of the columns published."""
    with kept.reading() as store:
        published = store.published_standings("test") or b""
    changed = re.sub(rb'"mu":[0-9.]+,', b"", published)
    kept.tamper("UPDATE league SET standings = ?", changed)

    assert changed != published
    assert [finding for finding in findings(kept) if finding[0]] == []


@pytest.mark.parametrize("seed", [*range(10), *(pytest.param(each, marks=pytest.mark.slow) for each in range(10, 30))])
def test_any_flipped_byte_of_the_file_is_reported_or_harmless(kept: Kept, seed: int) -> None:
    """Bytes changed at random: problems, or none if they fell on free space; never a traceback."""
    kept.tamper("UPDATE league SET name = name")
    path = kept.results / "arena.db"
    content, rng = bytearray(path.read_bytes()), Random(seed)
    for _ in range(20):
        content[rng.randrange(len(content))] ^= rng.randrange(1, 256)
    path.write_bytes(content)

    with suppress(DamagedStore):
        findings(kept)
