"""The secret of a league's luck, published."""

from arena.match.secret_luck import Secret
from arena.operations.request import Request
from arena.store.folder import open_store, open_store_for_writing
from arena.store.matches import LeagueSecret
from arena.store.secrets import SecretKeeper


class RevealSecret(Request, frozen=True, kw_only=True):
    """The secret of `league`, which gives no new block from then on."""

    league: str


def reveal_secret(request: RevealSecret) -> tuple[LeagueSecret, Secret]:
    """Reveal the secret of a league. SpecError if there is no such league, or nothing of it is secret."""
    with open_store(request.results) as store:
        store.league(request.league)  # known, before anything is opened for writing
    with open_store_for_writing(request.results) as store:
        return SecretKeeper(store, request.results).reveal(request.league)
