"""The audit of the history: the stored matches against what was stored, in the order of commits, and against old roots.

Rule: the tree is computed again from the entries, and each entry is held against the record that is there now.
"""

from collections.abc import Iterator, Sequence

from arena.league.state import LeagueState, state_of
from arena.match.record import unpack
from arena.store.history import Entry, Head, Tree
from arena.store.matches import MatchStore, Snapshot
from arena.text import counted

AuditLine = tuple[bool, str]
"""A finding: True for a problem, and the sentence."""


def state_of_run(store: MatchStore, snapshot: Snapshot) -> LeagueState:
    """Return the state of a league at the end of a run; all reads of the store are of that time from now on.

    A run that was closed lacks the blocks that were stored later; `store.hide_later({}, 0)` shows them again.
    """
    store.hide_later({}, 0)
    state = state_of(snapshot.tournament, store.ranks)
    if state.stored > snapshot.matches:
        store.hide_later(state.blocks, snapshot.matches)
        state = state_of(snapshot.tournament, store.ranks)
    return state


def audit_history(store: MatchStore, roots: Sequence[Head] = ()) -> Iterator[AuditLine]:
    """Yield findings about the history; `roots`, kept by a person, are compared with recomputed ones."""
    yield from _check_entries(store, roots)
    if strangers := store.orphans_of("record", "history"):
        yield True, f"{counted(strangers, 'stored match is', 'stored matches are')} not in it"


def _check_entries(store: MatchStore, roots: Sequence[Head]) -> Iterator[AuditLine]:
    """Compute the tree anew; yield findings about changed entries and nodes, the number of entries, and `roots`."""
    tree, heads = Tree(), {root.size: Tree().head() for root in roots}
    proven = max((root.size for root in roots), default=0)
    misfits = 0
    for place, entry in enumerate(store.entries()):
        misfits += (entry.number, entry.node) != (place, tree.add(entry.match, entry.digest))
        yield from _audit_entry(store, entry, is_proven=place < proven)
        if place + 1 in heads:
            heads[place + 1] = tree.head()
    head = tree.head()
    if misfits:
        what = counted(misfits, "entry does", "entries do")
        yield True, f"{what} not fit what stands beside: the history itself was changed"
    yield False, f"{counted(head.size, 'match', 'matches')} in the order of their commits, {head}"
    yield from (_compare_root(root, heads[root.size], head.size) for root in roots)


def _audit_entry(store: MatchStore, entry: Entry, *, is_proven: bool) -> Iterator[AuditLine]:
    """Compare an entry with the record stored now; with `is_proven`, also check the record's bytes."""
    if entry.stored is None:
        yield True, f"match {entry.match} was stored and is gone"
    elif entry.stored != entry.digest:
        yield True, f"match {entry.match}: its record is not the one that was stored"
    elif is_proven:
        try:
            unpack(store.match(entry.match).record)
        except ValueError as error:
            yield True, f"match {entry.match}: {error}"


def _compare_root(root: Head, computed: Head, size: int) -> AuditLine:
    """Compare a known root with the one computed from as many entries; `size`: the entries that are there."""
    if root.size > size:
        what = counted(size, "match", "matches")
        return True, (
            f"it has {what}, and the root that was given is of {root.size}: matches were removed since, or it"
            " is of other results"
        )
    first = f"the first {counted(root.size, 'match', 'matches')}"
    if computed != root:
        return True, (
            f"{first} have the root {computed.root.hex()}, and not the one that was given: since that was printed"
            " a match was changed, added, removed or moved, or it is of other results"
        )
    return False, (
        f"{first} have the root that was given: none of them was changed, added, removed or moved since it was"
        " printed. It says nothing of matches that came later, nor of which programs chose the actions before"
    )
