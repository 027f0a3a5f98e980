"""Authorship: an old `COUNT:ROOT` shows every later change of what was stored by then, however well it is made."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.report_made import Kept
from support.scripted_bot import Message, answer
from support.store_made import seated_bot, writing
from support.tampering import edit_matches, execute_sql, opened

from arena.league.schedule import fixture, pairings
from arena.league.state import state_of
from arena.match.record import pack, split_packed, unpack
from arena.match.referee import play_match
from arena.match.results import MatchKey, result_of
from arena.match.secret_luck import Secret
from arena.match.settings import MatchSettings, spec_of
from arena.operations.leagues import league_table
from arena.process.scripted import Reply
from arena.standings.table import standings_json
from arena.store import database, history
from arena.store.history import Head
from arena.verify.audit import AuditOptions, audit


def head_of(kept: Kept) -> Head:
    with kept.reading() as store:
        return store.head()


def problems(kept: Kept, *roots: Head) -> list[str]:
    with kept.reading() as store:
        found = audit(store, kept.bots, ("test",), AuditOptions(roots=roots))
        return [text for is_problem, text in found if is_problem]


def replace_an_action(kept: Kept) -> None:
    """Other legal actions in a match, as if the bots had chosen them, with all that follows from it."""
    block, league = next(each for each in kept.blocks if each.results[0].at_fault is None), kept.league
    pair = next(pair for pair in pairings(league) if pair.key == block.pairing)
    planned = fixture(Secret.public(league.seed or ""), pair, block.block)
    seats = [seated_bot(each.name, each.bot.digest, league, first_action) for each in pair.players]
    setting = MatchSettings(league.game, league.options, league.clock, league.limits)
    forged = play_match(spec_of(setting, planned.match_id(0), planned.draw, 0, "none"), seats)
    _, digest, body, _ = split_packed(pack(forged))
    assert forged.steps != unpack(block.results[0].record).steps
    place = "WHERE (SELECT key FROM pairing WHERE id = pairing) = ? AND block = ? AND rotation = 0"
    kept.tamper(f"UPDATE record SET body = ?, digest = ? {place}", body, digest, planned.pairing, planned.block)
    result = result_of(forged)
    edit_matches(kept.results, lambda match: result if match.key == result.key else match)


def first_action(message: Message, _number: int) -> list[Reply]:
    """The bots of the league never take it."""
    return [answer(message)]


def delete_a_block(kept: Kept) -> None:
    """A whole block, so that nothing is odd; the league would play it again."""
    kept.tamper("DELETE FROM record WHERE pairing = 1 AND block = 1")
    kept.tamper("DELETE FROM block WHERE pairing = 1 AND number = 1")


def rewrite_history(kept: Kept, change: Callable[[list[Any]], list[Any]] = list) -> None:
    """Write the history anew with all its nodes, of the records that are there."""
    query = (
        "SELECT h.pairing, key, h.block, h.rotation, r.digest FROM history h JOIN pairing p ON p.id = h.pairing"
        " JOIN record r ON (r.pairing, r.block, r.rotation) = (h.pairing, h.block, h.rotation) ORDER BY number"
    )
    with opened(kept.results) as connection:
        entries = change(connection.execute(query).fetchall())
        connection.execute("DROP TRIGGER history_delete")
        connection.execute("DELETE FROM history")
        history.append(connection, ((pairing, MatchKey(*key), digest) for pairing, *key, digest in entries))


def make_it_fit(kept: Kept) -> None:
    """Published standings, and the history."""
    rewrite_history(kept)
    with writing(kept.results) as store:
        table, _ = league_table(store, state_of(kept.league, store.ranks))
        store.save_standings("test", standings_json(table))


FORGERIES: dict[str, Callable[[Kept], None]] = {
    "an action replaced": replace_an_action,
    "a block deleted": delete_a_block,
    "a block moved to the front": lambda kept: rewrite_history(kept, lambda old: old[6:8] + old[:6] + old[8:]),
    "two matches swapped": lambda kept: rewrite_history(kept, lambda old: [old[1], old[0], *old[2:]]),
}
"""By somebody who can write the database, knows all of arena, and makes everything fit again."""


@pytest.mark.parametrize("kind", FORGERIES)
def test_an_earlier_root_shows_every_forgery(tmp_path: Path, kind: str) -> None:
    """Made so that without a root nobody sees it, or only that a match is not played yet."""
    kept = Kept(tmp_path)
    root = head_of(kept)

    FORGERIES[kind](kept)
    make_it_fit(kept)

    assert problems(kept) == []
    (problem,) = problems(kept, root)
    assert problem.startswith("history: ")
    assert ("matches were removed since" if "deleted" in kind else "and not the one that was given") in problem


def test_a_match_added_within_is_shown(tmp_path: Path) -> None:
    """An entry more among the first ones, by whoever also knows how the tree is made."""
    kept = Kept(tmp_path)
    root = head_of(kept)

    rewrite_history(kept, lambda old: [old[0], *old])

    assert any("and not the one that was given" in text for text in problems(kept, root))


def test_a_root_holds_while_matches_are_added(tmp_path: Path) -> None:
    """A sentence tells what is proven and what is not; roots of several days may be given at once."""
    kept = Kept(tmp_path)
    last = head_of(kept)
    with opened(kept.results) as connection:
        nodes = [bytes(node) for (node,) in connection.execute("SELECT node FROM history ORDER BY number")]
    early = Head(4, nodes[3])

    with kept.reading() as store:
        found = list(audit(store, kept.bots, ("test",), AuditOptions(roots=(early, last))))

    assert not [text for is_problem, text in found if is_problem]
    told = [text for _, text in found if "have the root that was given" in text]
    assert [text.partition(":")[2].split(" have ")[0] for text in told] == [
        " the first 4 matches",
        " the first 12 matches",
    ]
    assert all("nor of which programs chose the actions" in text for text in told)


def test_what_only_lies_in_the_history_is_found_without_a_root(tmp_path: Path) -> None:
    """Somebody who forgets the history: a record replaced, a match gone, one it does not know, an edited entry."""
    cases: dict[str, tuple[str, ...]] = {
        "its record is not the one that was stored": ("UPDATE record SET digest = 'x' WHERE pairing = 1",),
        "was stored and is gone": ("DELETE FROM record WHERE pairing = 1", "DELETE FROM block WHERE pairing = 1"),
        "is not in it": ("DROP TRIGGER history_delete", "DELETE FROM history WHERE number = 11"),
        "the history itself was changed": (
            "DROP TRIGGER history_update",
            "UPDATE history SET digest = 'x' WHERE number = 2",
        ),
    }
    for number, (sentence, statements) in enumerate(cases.items()):
        place = tmp_path / str(number)
        place.mkdir()
        kept = Kept(place)
        execute_sql(database.path_in(kept.results), *statements)

        assert any(sentence in text for text in problems(kept)), sentence


def test_a_root_looks_at_the_bytes_of_all_matches(tmp_path: Path) -> None:
    """With a root the bytes of all matches are checked, also of leagues that are not audited."""
    kept = Kept(tmp_path)
    root = head_of(kept)
    body = bytearray(kept.body)
    body[9] ^= 4
    kept.tamper("UPDATE record SET body = ? WHERE body = ?", bytes(body), kept.body)

    with kept.reading() as store:
        found = [text for is_problem, text in audit(store, kept.bots, (), AuditOptions(roots=(root,))) if is_problem]

    assert len(found) == 1
    assert found[0].startswith("history: match ")
