"""Parts of sentences for a person."""

from hypothesis import given
from hypothesis import strategies as st

from arena.text import distinguish_names


@given(
    names=st.lists(st.sampled_from(["a", "b", "a-x", "a-1", "a-2", "b-x"]), min_size=2, max_size=6),
    marks=st.permutations(["x", "y", "1", "2", "z", "w"]),
)
def test_equal_names_differ_afterwards_whatever_the_others_are(names: list[str], marks: list[str]) -> None:
    """Names that occur once stay as they are."""
    told = distinguish_names(names, marks[: len(names)])

    assert len(set(told)) == len(names)
    assert [new for name, new in zip(names, told, strict=True) if names.count(name) == 1] == [
        name for name in names if names.count(name) == 1
    ]
