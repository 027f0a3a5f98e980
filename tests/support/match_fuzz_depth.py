"""How many examples the fuzz tests try: few and always the same ones, or as many as ARENA_FUZZ asks for.

Rule: without the variable a run is deterministic; with ARENA_FUZZ=N it tries N times as many, drawn anew.
"""

import os
from typing import Final

from hypothesis import HealthCheck, settings

DEPTH: Final = int(os.environ.get("ARENA_FUZZ", "1"))


def fuzzed(examples: int) -> settings:
    """The settings of a fuzz test that tries `examples` in a normal run."""
    return settings(
        max_examples=examples * DEPTH,
        derandomize=DEPTH == 1,
        database=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
