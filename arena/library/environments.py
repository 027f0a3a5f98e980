"""The environments of PettingZoo, over a `LearningTable`. Only this module imports PettingZoo and Gymnasium."""

from collections.abc import Mapping
from typing import Any, SupportsIndex

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv

from arena.games.api import Seat
from arena.library.learning_table import LearningTable


class _EnvironmentParts:
    """The parts common to both kinds of environment: names, spaces, the table; `seat_0` is the agent of seat 0."""

    def __init__(self, table: LearningTable) -> None:
        """Make the spaces from the table's actions and the shape of its views."""
        self.table = table
        self.metadata = {"name": f"{table.name}_v{table.version}", "render_modes": ["ansi"], "is_parallelizable": False}
        self.render_mode = "ansi"
        self.possible_agents = [f"seat_{seat}" for seat in range(table.seats)]
        self.agents: list[str] = []
        mask = (len(table.actions),)
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(-np.inf, np.inf, table.shape, np.float32),
                    "action_mask": spaces.Box(0, 1, mask, np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(len(table.actions)) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of observations: a dict of `observation` and `action_mask`."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of actions: the numbers of all actions of the variant."""
        return self.action_spaces[agent]

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the encoded view of that seat, and the mask of its legal actions."""
        return self.table.observation(self._seat_of(agent))

    def render(self) -> str:
        """Return the position as text; nothing is hidden."""
        return self.table.describe()

    def close(self) -> None:
        """Do nothing: no resources are open."""

    def _seat_of(self, agent: str) -> Seat:
        return Seat(self.possible_agents.index(agent))

    def _rewards(self) -> dict[str, float]:
        """Return the rewards by agent; zeros before the end."""
        is_over = not self.table.deciding
        return dict(
            zip(self.possible_agents, self.table.rewards() if is_over else (0.0,) * self.table.seats, strict=True)
        )


class ArenaEnv(_EnvironmentParts, AECEnv):  # type: ignore[misc]
    """A PettingZoo environment (AEC): one seat acts at a time; joint decisions are taken in turn, each unseen."""

    agent_selection: str

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:  # noqa: ARG002 - PettingZoo's
        """Begin the next game; `seed` begins a series of games. `options` are ignored: the variant is fixed."""
        self.table.begin(seed)
        self.agents = list(self.possible_agents)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection: str | None = None
        self._select_agent()

    def step(self, action: SupportsIndex | None) -> None:
        """Take the action of the seat `agent_selection`; None after the end. IllegalAction if it is not legal."""
        agent = self.agent_selection
        if action is None or self.terminations[agent]:
            self._was_dead_step(action)
            return
        seat = self._seat_of(agent)
        self._chosen[seat] = self.table.require_legal(seat, action)
        self._cumulative_rewards[agent] = 0.0
        if len(self._chosen) < len(self.table.deciding):
            self._clear_rewards()
            self.agent_selection = self._waiting_agent()
            return
        self.table.play(self._chosen)
        self._select_agent()
        self._accumulate_rewards()

    def _select_agent(self) -> None:
        """Begin a turn: forget the last choices, set rewards and terminations, and select the first seat.

        It is the first seat with a choice, after the end the first of all.
        """
        self._chosen: dict[Seat, int] = {}
        self.rewards = self._rewards()
        self.terminations = dict.fromkeys(self.agents, not self.table.deciding)
        self.agent_selection = self._waiting_agent()

    def _waiting_agent(self) -> str:
        """Return the first agent that has to decide and has not yet; after the end the first of all."""
        waiting = [seat for seat in self.table.deciding if seat not in self._chosen]
        return self.possible_agents[waiting[0] if waiting else 0]


class ArenaParallelEnv(_EnvironmentParts, ParallelEnv):  # type: ignore[misc]
    """A parallel PettingZoo environment: all seats act in each step; actions of seats without a choice are ignored."""

    def reset(
        self,
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,  # noqa: ARG002 - PettingZoo's
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin the next game as `ArenaEnv.reset` does; return its observations and infos."""
        self.table.begin(seed)
        self.agents = list(self.possible_agents)
        return {agent: self.observe(agent) for agent in self.agents}, {agent: {} for agent in self.agents}

    def step(self, actions: Mapping[str, SupportsIndex]) -> tuple[dict[str, Any], ...]:
        """Take the actions by agent; return observations, rewards, terminations, truncations and infos.

        IllegalAction if an action is not legal.
        """
        table = self.table
        table.play({seat: table.require_legal(seat, actions[self.possible_agents[seat]]) for seat in table.deciding})
        agents, is_over = self.agents, not self.table.deciding
        self.agents = [] if is_over else agents
        observations = {agent: self.observe(agent) for agent in agents}
        ended, cut = dict.fromkeys(agents, is_over), dict.fromkeys(agents, False)
        return observations, self._rewards(), ended, cut, {agent: {} for agent in agents}
