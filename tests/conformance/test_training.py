"""What a game gives to programs that learn: its views as numbers."""

import pytest

from arena.conformance.training import shape_of


@pytest.mark.parametrize("value", [["1.5"], [True], [[1, 2], [3]], [float("inf")], [], 3, "2", None])
def test_only_lists_of_finite_numbers_have_a_shape(value: object) -> None:
    """Texts of digits and truth values are no numbers."""
    assert shape_of(value) == ()
    assert shape_of([[1.0, 2], [3, 4]]) == (2, 2)
