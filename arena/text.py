"""Numbers in sentences. Rule: whoever counts something for a person writes it with `counted`."""

from collections.abc import Sequence


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 match`, `2 matches`; `plural` where it is not the noun with an s."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def spanned(numbers: Sequence[int]) -> str:
    """`2`, `2 to 4`, and with gaps `2 or 4`; `numbers` in ascending order."""
    first, last = numbers[0], numbers[-1]
    if len(numbers) > 1 and last - first == len(numbers) - 1:
        return f"{first} to {last}"
    return " or ".join(map(str, numbers))
