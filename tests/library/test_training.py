"""`arena.env` without its extra, and with a game that it must refuse first: no test here needs PettingZoo."""

import sys

import numpy as np
import pytest
from support.golden import Golden

import arena
from arena.errors import SpecError
from arena.games.api import Seat
from arena.library.learning_table import LearningTable


def test_without_the_extra_a_sentence_names_it(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """Once the game is known to be one that can be learned."""
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    monkeypatch.delitem(sys.modules, "arena.library.environments", raising=False)

    with golden.raises(SpecError, without=r"\(.*\)"):
        arena.env("nim")
    with golden.raises(SpecError):
        arena.env("riffraff")


def test_the_mask_is_of_the_legal_actions() -> None:
    """The mask has 1 for the numbers of legal actions, and only 0 for a seat that does not decide."""
    table = LearningTable("kuhn_poker", {}, None)
    table.begin(1)

    first, other = table.observation(Seat(0)), table.observation(Seat(1))

    assert [str(each) for each in table.actions] == ["checks", "bets", "folds", "calls"]
    assert first["action_mask"].tolist() == [1, 1, 0, 0]
    assert other["action_mask"].tolist() == [0, 0, 0, 0]
    assert (first["observation"].dtype, first["observation"].shape) == (np.float32, (18,))
    assert first["observation"].tolist() != other["observation"].tolist()
