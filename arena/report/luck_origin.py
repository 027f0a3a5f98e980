"""Sentences on the origin of luck: a secret, shown by its commitment, or a public seed.

Rule: every table, page and export tells of a public seed in the same words, as it does of a missing sandbox.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from arena.match.record import MatchRecord
from arena.match.secret_luck import LuckOrigin, Secret
from arena.store.matches import LeagueSecret

PUBLIC: Final = "public seed: bots can predict the luck"
_ORIGINS: Final = {"drawn": "drawn here", "file": "given by --secret-file: who has the file can predict the luck"}


def luck_description(origin: LuckOrigin, isolation: str = "") -> str:
    """The sentence below a table; empty if nothing is known of its luck."""
    if origin.public_seed is not None:
        return f"luck from a {PUBLIC} (seed: {origin.public_seed})"
    if not origin.commitments:
        return ""
    words = "commitment" if len(origin.commitments) == 1 else "commitments"
    warning = ". UNSANDBOXED: bots could read the secret of the luck" if "none" in isolation else ""
    return f"luck drawn in secret, {words} {', '.join(origin.commitments)}{warning}"


def secret_description(secret: Secret, *, is_chosen: bool) -> str:
    """The sentence below matches that are kept nowhere.

    A secret that was drawn for them is given out with the result; one that a person chose is theirs to keep.
    """
    if is_chosen:
        return luck_description(LuckOrigin((secret.commitment,), secret.seed))
    return (
        f"luck: secret {secret.reveal()}, commitment {secret.commitment}; --secret-file FILE, with this secret in"
        " the file, repeats the luck"
    )


def secret_descriptions(known: Sequence[LeagueSecret]) -> list[str]:
    """A line for each secret of a league: its commitment, its origin, and whether it was revealed."""
    return [
        f"luck: commitment {each.commitment}, {_ORIGINS.get(each.origin, each.origin)}, "
        + (f"revealed {each.revealed_at}" if each.revealed_at else "not revealed")
        for each in known
    ]


def match_luck_description(record: MatchRecord, known: LeagueSecret | None) -> str:
    """The line of one match: the luck of its block, and its commitment; `known` is what is stored of the secret."""
    block = f"block luck {record.seed}"
    if record.wire_id is not UNSET:
        block = f"bots got it as {record.wire_id}, {block}"
    if record.commitment is UNSET:
        return f"{block}, luck without a commitment"
    if known is not None and known.origin == "public":
        return f"{block}, luck from a {PUBLIC} (commitment {record.commitment})"
    told = f"{block}, luck drawn in secret, commitment {record.commitment}"
    if known is None:
        return told
    given = f" ({_ORIGINS['file']})" if known.origin == "file" else ""
    return f"{told}{given}{f', revealed {known.revealed_at}' if known.revealed_at else ''}"
