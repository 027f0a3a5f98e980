"""Sentences on the origin of luck: a secret, shown by its commitment, or a public seed.

Rule: every table, page and export tells of a public seed in the same words, as it does of a missing sandbox.
"""

from typing import Final

from arena.match.secret_luck import LuckOrigin, Secret

PUBLIC: Final = "public seed: bots can foretell the luck"


def origin_told(origin: LuckOrigin, isolation: str = "") -> str:
    """The sentence below a table; empty if nothing is known of its luck."""
    if origin.public_seed is not None:
        return f"luck from a {PUBLIC} (seed: {origin.public_seed})"
    if not origin.commitments:
        return ""
    words = "commitment" if len(origin.commitments) == 1 else "commitments"
    warning = ". UNSANDBOXED: bots could read the secret of the luck" if "none" in isolation else ""
    return f"luck drawn in secret, {words} {', '.join(origin.commitments)}{warning}"


def secret_told(secret: Secret) -> str:
    """The sentence below matches whose secret is drawn for them and kept nowhere: it is given out with the result."""
    return (
        f"luck: secret {secret.reveal()}, commitment {secret.commitment}; --secret-file FILE, with this secret in"
        " the file, repeats the luck"
    )


def luck_told(secret: Secret) -> str:
    """The sentence for luck that a person chose: the secret is theirs to keep."""
    return origin_told(LuckOrigin((secret.commitment,), secret.seed))
