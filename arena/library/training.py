"""`arena.env(GAME)`: a game as an environment in which programs learn, by the interface of PettingZoo.

env = arena.env("connect_four")
env.reset(seed=1)
for agent in env.agent_iter():
    seen, reward, is_over, _, _ = env.last()
    env.step(None if is_over else env.action_space(agent).sample(seen["action_mask"]))
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from arena.errors import SpecError
from arena.games.api import Json
from arena.library.learning_table import LearningTable
from arena.plugins import install_command

if TYPE_CHECKING:
    from arena.library.environments import ArenaEnv, ArenaParallelEnv


def env(game: str, options: Mapping[str, Json] | None = None, *, seats: int | None = None) -> "ArenaEnv":
    """Wrap a game as an environment of PettingZoo (AEC): the agents `seat_0`, `seat_1` ... act one after the other.

    An observation has `observation`, the encoded view of the seat (float32), and `action_mask`, 1 for each action that
    is legal (int8); an action is its number. After the end each seat gets a reward: its mean over the others of 1 for a
    better rank, 0 for an equal and -1 for a worse one. `reset(seed=...)` sets the luck: the same seed and the same
    actions give the same games. Without `seats` it is the smallest number.

    SpecError for a game that cannot be learned, with what it lacks, and without the extra `pettingzoo`.
    """
    table = LearningTable(game, options or {}, seats)
    environment: ArenaEnv = _import_environments().ArenaEnv(table)
    return environment


def parallel_env(
    game: str, options: Mapping[str, Json] | None = None, *, seats: int | None = None
) -> "ArenaParallelEnv":
    """Wrap a game in which seats act at once as a parallel environment of PettingZoo; otherwise like `env`.

    A seat that has nothing to decide in a step has a mask of zeros, and its action is not looked at.
    SpecError for a game in which one seat acts at a time.
    """
    table = LearningTable(game, options or {}, seats)
    if not table.is_simultaneous:
        raise SpecError(f"{game}: one seat acts at a time; arena.env makes its environment")
    environment: ArenaParallelEnv = _import_environments().ArenaParallelEnv(table)
    return environment


def _import_environments() -> Any:
    """Import the environments; SpecError without the packages that they need."""
    try:
        from arena.library import environments  # noqa: PLC0415 - it needs the extra
    except ImportError as error:
        raise SpecError(f"environments need packages: {install_command('pettingzoo')} ({error})") from None
    return environments
