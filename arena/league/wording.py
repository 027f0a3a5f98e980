"""Numbers in sentences. Rule: whoever counts something for a person writes it with `counted`."""


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 match`, `2 matches`; `plural` where it is not the noun with an s."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"
