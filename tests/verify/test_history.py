"""Authorship: an old `COUNT:ROOT` shows every later change of what was stored by then, however well it is made."""

import sqlite3
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


class Forger:
    """Somebody who can write the database, knows all of arena, and makes everything fit again after each change."""

    def __init__(self, kept: Kept) -> None:
        self.kept = kept

    def replace_an_action(self) -> None:
        """Other legal actions in a match, as if the bots had chosen them, with all that follows from it."""
        pairs = {pair.key: pair for pair in pairings(self.kept.league)}
        block = next(each for each in self.kept.blocks if each.results[0].at_fault is None)
        match, league, pair = block.results[0], self.kept.league, pairs[block.pairing]
        planned = fixture(Secret.public(league.seed or ""), pair, block.block)
        seats = [seated_bot(each.name, each.bot.digest, league, first_action) for each in pair.players]
        setting = MatchSettings(league.game, league.options, league.clock, league.limits)
        spec = spec_of(setting, planned.match_id(0), planned.draw, 0, "none")
        forged = play_match(spec, seats)
        _, digest, body = split_packed(pack(forged))
        assert forged.steps != unpack(match.record).steps
        place = "WHERE (SELECT key FROM pairing WHERE id = pairing) = ? AND block = ? AND rotation = 0"
        where = (planned.pairing, planned.block)
        self._do(f"UPDATE record SET body = ?, digest = ? {place}", body, digest, *where)
        found = result_of(forged)
        edit_matches(self.kept.results, lambda match: found if match.key == found.key else match)

    def delete_a_match(self) -> None:
        """A whole block, so that nothing is odd; the league would play it again."""
        self._do("DELETE FROM record WHERE pairing = 1 AND block = 1")
        self._do("DELETE FROM block WHERE pairing = 1 AND number = 1")

    def insert_a_block(self) -> None:
        """The blocks of another time, in front of all others; made of the second ones here."""
        self._in_order(lambda entries: entries[6:8] + entries[:6] + entries[8:])

    def move_a_match(self) -> None:
        """Store the same matches in another order."""
        self._in_order(lambda entries: [entries[1], entries[0], *entries[2:]])

    def make_it_fit(self) -> None:
        """Published standings, and the history with all its nodes."""
        self._in_order(lambda entries: entries)
        with writing(self.kept.results) as store:
            table, _ = league_table(store, state_of(self.kept.league, store.ranks))
            store.save_standings("test", standings_json(table))

    def _in_order(self, change: Callable[[list[Any]], list[Any]]) -> None:
        """Write the history anew, of the records that are there."""
        connection = sqlite3.connect(database.path_in(self.kept.results))
        query = (
            "SELECT h.pairing, key, h.block, h.rotation, r.digest FROM history h JOIN pairing p ON p.id = h.pairing"
            " JOIN record r ON (r.pairing, r.block, r.rotation) = (h.pairing, h.block, h.rotation) ORDER BY number"
        )
        entries = change(connection.execute(query).fetchall())
        connection.execute("DROP TRIGGER history_delete")
        connection.execute("DELETE FROM history")
        connection.execute(history.TRIGGERS[1])
        history.append(connection, ((pairing, MatchKey(*key), digest) for pairing, *key, digest in entries))
        connection.commit()
        connection.close()

    def _do(self, statement: str, *parameters: Any) -> None:
        self.kept.tamper(statement, *parameters)


def first_action(message: Message, _number: int) -> list[Reply]:
    """The bots of the league never take it."""
    return [answer(message)]


FORGERIES: dict[str, Callable[[Forger], None]] = {
    "an action replaced": Forger.replace_an_action,
    "a block deleted": Forger.delete_a_match,
    "a block moved to the front": Forger.insert_a_block,
    "two matches swapped": Forger.move_a_match,
}


@pytest.mark.parametrize("kind", FORGERIES)
def test_an_earlier_root_shows_every_forgery(tmp_path: Path, kind: str) -> None:
    """Made so that without a root nobody sees it, or only that a match is not played yet."""
    kept = Kept(tmp_path)
    root = head_of(kept)
    forger = Forger(kept)

    FORGERIES[kind](forger)
    forger.make_it_fit()

    assert problems(kept) == []
    (problem,) = problems(kept, root)
    assert problem.startswith("history: ")
    assert ("matches were removed since" if "deleted" in kind else "and not the one that was given") in problem


def test_a_match_added_within_is_shown(tmp_path: Path) -> None:
    """An entry more among the first ones, by whoever also knows how the tree is made."""
    kept = Kept(tmp_path)
    root = head_of(kept)
    forger = Forger(kept)

    forger._in_order(lambda entries: [entries[0], *entries])

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
