"""The secret of a league's luck, published."""

from arena.match.secret_luck import Secret
from arena.operations.leagues import snapshot_at
from arena.operations.request import Request
from arena.store.folder import open_store, open_store_for_writing
from arena.store.matches import LeagueSecret
from arena.store.secrets import SecretKeeper


class RevealSecret(Request, frozen=True, kw_only=True):
    """The secret of `league`, which gives no new block from then on; `NAME@3` is that of its third run."""

    league: str


def reveal_secret(request: RevealSecret) -> tuple[LeagueSecret, Secret]:
    """Mark the secret of a league as revealed, for ever, and return its record and the secret; a second time, again.

    New blocks are drawn under another one. SpecError if there is no such league, or nothing of it is secret.
    """
    league, _, moment = request.league.partition("@")
    with open_store(request.results) as store:
        store.league(league)  # known, before anything is opened for writing
        commitments = snapshot_at(store, league, moment).tournament.commitments if moment else ()
    with open_store_for_writing(request.results) as store:
        return SecretKeeper(store, request.results).reveal(league, commitments)
