"""Sentences on the origin of luck: a secret, shown by its commitment, or a public seed.

Rule: every table, page and export reports a public seed in the same words, as it does a missing sandbox.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from arena.match.record import MatchRecord
from arena.match.secret_luck import LuckOrigin, Secret
from arena.store.matches import LeagueSecret

PUBLIC: Final = "public seed: bots can predict the luck"
MOST_COMMITMENTS: Final = 3
"""The last secrets of a league that a sentence names; `arena league status` has all."""
_ORIGINS: Final = {"drawn": "drawn here", "file": "given by --secret-file: who has the file can predict the luck"}


def luck_description(origin: LuckOrigin, isolation: str = "") -> str:
    """Describe the origin of luck in the sentence below a table; empty if nothing is known of it."""
    if origin.public_seed is not None:
        return f"luck from a {PUBLIC} (seed: {origin.public_seed})"
    if not origin.commitments:
        return ""
    former = len(origin.commitments) - MOST_COMMITMENTS
    more = f" and {former} before" if former > 0 else ""
    words = "commitment" if len(origin.commitments) == 1 else "commitments"
    warning = ". UNSANDBOXED: bots could read the secret of the luck" if "none" in isolation else ""
    return f"luck drawn in secret, {words} {', '.join(origin.commitments[-MOST_COMMITMENTS:])}{more}{warning}"


def secret_description(secret: Secret, *, is_chosen: bool) -> str:
    """Describe the luck of matches that are not stored, in the sentence below them.

    A secret that was drawn for them is printed with the result; a secret that a person chose is not.
    """
    if is_chosen:
        return luck_description(LuckOrigin((secret.commitment,), secret.seed))
    return (
        f"luck: secret {secret.reveal()}, commitment {secret.commitment}; --secret-file FILE, with this secret in"
        " the file, repeats the luck"
    )


def secret_descriptions(known: Sequence[LeagueSecret]) -> list[str]:
    """Describe each secret of a league in a line: its commitment, its origin, and if it was revealed."""
    return [
        f"luck: commitment {secret.commitment}, {_ORIGINS.get(secret.origin, secret.origin)}, "
        + (f"revealed {secret.revealed_at}" if secret.revealed_at else "not revealed")
        for secret in known
    ]


def match_luck_description(record: MatchRecord, known: LeagueSecret | None) -> str:
    """Describe the luck of a match's block in a line with its commitment; `known` is the stored secret."""
    block = f"block luck {record.seed}"
    if record.wire_id is not UNSET:
        block = f"bots got it as {record.wire_id}, {block}"
    if record.commitment is UNSET:
        return f"{block}, luck without a commitment"
    if known is not None and known.origin == "public":
        return f"{block}, luck from a {PUBLIC} (commitment {record.commitment})"
    luck = f"{block}, luck drawn in secret, commitment {record.commitment}"
    if known is None:
        return luck
    given = f" ({_ORIGINS['file']})" if known.origin == "file" else ""
    return f"{luck}{given}{f', revealed {known.revealed_at}' if known.revealed_at else ''}"
