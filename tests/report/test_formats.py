"""Pieces of text that all pages share."""

from hypothesis import given
from hypothesis import strategies as st
from support.golden import Golden

from arena.report.formats import list_some, wrap_sentence


@given(st.text(st.sampled_from("ab -"), max_size=60), st.integers(1, 30))
def test_wrapped_sentences_keep_their_words(text: str, width: int) -> None:
    """Lines are within the width unless a word is longer."""
    lines = wrap_sentence(text, width).splitlines()

    assert " ".join(lines).split() == text.split()
    assert all(len(line) <= width or len(line.split()) <= 1 for line in lines)


def test_without_a_width_nothing_is_wrapped() -> None:
    """However long."""
    assert wrap_sentence("  a b " * 100, None).count("\n") == 0


def test_of_many_names_a_few_are_told(golden: Golden) -> None:
    """The number of the others follows, unless all names are listed."""
    assert list_some(["a"]) == "a"
    golden(list_some(list("abcde")))
    golden(list_some(list("abcdefg")))
    golden(list_some(list("abc"), 1))
