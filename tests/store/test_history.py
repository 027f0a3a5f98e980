"""The history of stored matches: the tree of RFC 6962, grown entry by entry, that nothing else changes."""

import random
import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest
from support.golden import Golden
from support.store_made import blocks_of, counted, fill, tournament, writing

from arena.errors import DamagedStore, SpecError
from arena.match.record import split_packed
from arena.store.history import Head, Tree, read_head


def reference(leaves: list[bytes]) -> bytes:
    """The Merkle tree hash as RFC 6962 (section 2.1) defines it, by recursion."""
    if len(leaves) < 2:
        return sha256(b"\0" + leaves[0]).digest() if leaves else sha256(b"").digest()
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return sha256(b"\1" + reference(leaves[:split]) + reference(leaves[split:])).digest()


def test_is_the_tree_of_the_rfc() -> None:
    """At every size; and the node beside an entry is the largest complete subtree that ends with it."""
    leaves = [f"match-{number} {'ab' * number}".encode() for number in range(70)]
    tree = Tree()

    for size in range(len(leaves)):
        assert tree.head() == Head(size, reference(leaves[:size]))
        node = tree.add(*leaves[size].decode().split(" "))
        largest = (size + 1) & -(size + 1)
        assert node == reference(leaves[size + 1 - largest : size + 1])


def test_grows_in_the_order_of_commits(tmp_path: Path) -> None:
    """However the blocks come in, and in however many transactions; what was there already is not added again."""
    blocks = blocks_of(tournament())
    random.Random(4).shuffle(blocks)
    leaves: list[bytes] = []
    with writing(tmp_path) as store:
        assert str(store.head()) == f"0:{sha256(b'').hexdigest()}"
        for size in (1, 2, 4, 3):
            batch, blocks = blocks[:size], blocks[size:]
            store.save(batch)
            for block in batch:
                ids = [str(match.key) for match in block.results]
                digests = [split_packed(match.record)[1] for match in block.results]
                leaves += [f"{one} {digest}".encode() for one, digest in zip(ids, digests, strict=True)]
            store.save(batch)

            assert store.head() == Head(len(leaves), reference(leaves))
        assert [f"{one.match} {one.digest}".encode() for one in store.entries()] == leaves
        assert all(one.stored == one.digest for one in store.entries())


@pytest.mark.parametrize("statement", ["DELETE FROM history", "UPDATE history SET digest = 'x' WHERE number = 0"])
def test_only_grows(tmp_path: Path, statement: str, golden: Golden) -> None:
    """Triggers stop a statement that changes or removes an entry by mistake."""
    fill(tmp_path, tournament("ann", "bob", cycles=1))
    with writing(tmp_path) as store, golden.raises(sqlite3.IntegrityError):
        store._connection.execute(statement)


def test_a_missing_node_is_damage(tmp_path: Path, golden: Golden) -> None:
    """The next entries cannot be computed: nothing is stored, and `verify` is named."""
    league = tournament("ann", "bob", cycles=3)
    fill(tmp_path, tournament("ann", "bob", cycles=2))
    with writing(tmp_path) as store:
        store._connection.execute("DROP TRIGGER history_update")
        store._connection.execute("UPDATE history SET node = x'00' WHERE number = 3")

        with golden.raises(DamagedStore):
            store.save(blocks_of(league))
        assert len(list(store.results(counted(league)))) == 4


def test_a_head_is_read_as_it_is_written(golden: Golden) -> None:
    """The text that people keep, and nothing that only looks like it."""
    head = Head(12, bytes(range(32)))

    assert read_head(f" {head}\n") == head
    for wrong in ("", "12", f"12:{'0' * 63}", f"-1:{'0' * 64}", f"012:{'0' * 64}", f"1:{'G' * 64}", f"1:{'0' * 65}"):
        with golden.raises(SpecError):
            read_head(wrong)
