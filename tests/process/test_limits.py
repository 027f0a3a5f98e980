"""What a bot may use: its wishes against what is allowed."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.golden import Golden

from arena.errors import SpecError
from arena.process.limits import LimitRequest, Limits, negotiate

STARTUP_MS = 10_000.0
ALLOWED = Limits(memory_mib=512, tasks=64, processes=True, scratch_mib=64, line_bytes=1 << 16, stderr_bytes=16 << 10)
NUMBERS = {"memory_mib": 16, "tasks": 1, "scratch_mib": 0, "line_bytes": 1 << 10, "stderr_bytes": 0}
"""The limits that are numbers, and the least that each may be."""


def agreed(wishes: LimitRequest, allowed: Limits = ALLOWED, *, processes: bool = False) -> Limits:
    return negotiate(wishes, allowed, processes=processes, startup_ms=STARTUP_MS)


@st.composite
def wishes_within(draw: st.DrawFn) -> LimitRequest:
    """Generate requests that are allowed, with some fields left out."""
    values: dict[str, Any] = {
        name: draw(st.integers(least, getattr(ALLOWED, name))) for name, least in NUMBERS.items() if draw(st.booleans())
    }
    if draw(st.booleans()):
        values["startup_ms"] = draw(st.floats(1, STARTUP_MS))
    return LimitRequest(**values)


@given(wishes=wishes_within(), processes=st.booleans())
def test_what_is_within_the_allowed_is_granted_exactly(wishes: LimitRequest, processes: bool) -> None:
    """A field that is not requested gets the most that is allowed."""
    found = agreed(wishes, processes=processes)

    for name in NUMBERS:
        wish = getattr(wishes, name)
        assert getattr(found, name) == (getattr(ALLOWED, name) if wish is None else wish)
    assert found.processes == processes


@given(wishes=wishes_within(), name=st.sampled_from(sorted(NUMBERS)), more=st.integers(1, 1000))
def test_one_wish_beyond_the_allowed_is_refused_by_name(wishes: LimitRequest, name: str, more: int) -> None:
    """The sentence contains the field and both numbers, whatever else is requested."""
    most = getattr(ALLOWED, name)

    with pytest.raises(SpecError) as caught:
        agreed(msgspec.structs.replace(wishes, **{name: most + more}))

    assert f"limits: {name}: {most + more:g}, this tournament allows {most:g}" in str(caught.value)


def test_processes_have_to_be_allowed(golden: Golden) -> None:
    """The sentence names the line of the manifest."""
    strict = msgspec.structs.replace(ALLOWED, processes=False)

    with golden.raises(SpecError):
        agreed(LimitRequest(), strict, processes=True)

    assert not agreed(LimitRequest(), strict).processes


def test_a_longer_start_than_allowed_is_refused(golden: Golden) -> None:
    """The tournament's clock sets the most."""
    with golden.raises(SpecError):
        agreed(LimitRequest(startup_ms=STARTUP_MS + 1))
