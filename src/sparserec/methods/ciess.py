"""ciess: two agents choose a size for every user and every item, and learn from short trainings (SIGIR 2023).

A step of an episode gives all rows new sizes (prefixes of columns), trains a fresh recommender for a while and looks at
every user's validation scores. The agent of the users and the agent of the items (TD3: an actor that proposes a size
from a row's frequency, size and quality, and twin critics that value it) learn from what came of it. The best steps are
trained in full.

As in the released code: networks, learning rates, targets, noise, the walk over neighbouring sizes that the critic
chooses from, qualities and rewards, episodes that begin again at full size. Ours differs: sizes are fitted to the
budget before they are tried (`fit`), so that probes are comparable and the result holds it exactly (the code trains
whatever the agents say and keeps what happens to lie below a level); the search is far shorter and makes up for it with
more updates after each probe (preset `published`: 330 probes, one update each); the best of the retrained is chosen by
validation, nothing is trained on it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from sparserec import streams
from sparserec.methods.agents import Agent, Transitions
from sparserec.methods.base import Context, Phase
from sparserec.methods.row_sizes import SizeSearch, by_frequency, fitted, judged, size_budget
from sparserec.settings import Settings
from sparserec.table import Held, PrefixTable, SparseTable, Table


class CIESSSettings(Settings):
    episodes: int = Field(4, ge=1)
    """Times the search begins again at full size."""
    episode_steps: int = Field(10, ge=1)
    """Probes of an episode."""
    probe_share: float = Field(0.05, gt=0, le=1)
    """Length of a probe as a share of the recipe."""
    updates: int = Field(10, ge=1)
    """Updates of both agents after a probe."""
    size_price: float = Field(0.01, ge=0)
    """What the reward loses at full size: quality - price * ((size - 1) / dim)^2."""
    noise: float = Field(6.0, ge=0)
    """Standard deviation of what is added to all sizes of a step."""
    fit: bool = True
    """Fit sizes to the budget before they are tried; else only before they are retrained, as published."""
    learns: Literal["fitted", "proposed"] = "fitted"
    """What the agents take for their action where sizes are fitted: the sizes that were tried, which all lie near the
    budget, or those that they proposed, fitting being a part of what they act on."""
    retrained: int = Field(3, ge=1)
    """Probes whose sizes are trained in full, the best within the budget first."""


class CIESS(SizeSearch):
    name = "ciess"
    settings_kind = CIESSSettings
    idea = "a size for every row, chosen by two agents that learn from probes"
    paper = "SIGIR 2023"
    trainings = 6

    def __init__(self, settings: CIESSSettings) -> None:
        super().__init__(settings)
        self.sizes: list[np.ndarray] = []  # of all rows, per probe
        self.actions: list[np.ndarray] = []  # the same as the agents learn from it
        self.quality: list[np.ndarray] = []  # of all rows after it
        self.scores: list[float] = []  # mean quality of the users after it
        self.peak = np.empty(0, np.float32)  # quality of all rows under the dense table
        self._proposed = np.empty(0, np.int64)  # for the probe that is trained now
        self._agents: dict[str, Agent] = {}
        self._stored: dict[str, np.ndarray] = {}

    @property
    def probes(self) -> int:
        return self.settings.episodes * self.settings.episode_steps

    def holds(self, context: Context) -> Held:
        shape = context.shape()
        return context.sparse() if self.settings.fit else SparseTable.held(shape, shape.n_rows * shape.dim)

    def best(self, context: Context) -> list[int]:
        """Within the budget by mean quality, then the smallest, then any that were never tried."""
        budget = context.budget

        def rank(number: int) -> tuple[int, float]:
            if number >= len(self.sizes):
                return 2, number
            total = int(self.sizes[number].sum())
            return (0, -self.scores[number]) if total <= budget else (1, total)

        return sorted(range(self.probes), key=rank)[: self.settings.retrained]

    def sized(self, context: Context, phase: Phase, number: int, dense: Table) -> Table:
        budget, shape = size_budget(context, self.name), context.shape()
        initial = context.initial(context.dim)
        order = by_frequency(shape, context.frequencies())
        if phase.kind == "retrain":
            known = number < len(self.sizes)
            sizes = self.sizes[number] if known else np.full(shape.n_rows, budget // shape.n_rows)
            return PrefixTable.of_sizes(shape, fitted(sizes, budget, shape.dim, order), initial)
        if len(self.peak) == 0:
            self.peak = row_quality(context, judged(context, dense))
        sizes = self._proposed = self.act(context, number)
        sizes = fitted(sizes, budget, shape.dim, order) if self.settings.fit else sizes
        return PrefixTable.of_sizes(shape, sizes, initial)

    # -- agents ------------------------------------------------------------------------------------------------

    def agents(self, context: Context) -> dict[str, Agent]:
        """One for the users, where they have rows, and one for the items."""
        if not self._agents:
            for index, (name, counts) in enumerate(zip(("users", "items"), context.frequencies())):
                if len(counts):
                    self._agents[name] = Agent(context.dim, 2 * context.seed + index)
            for name, agent in self._agents.items():
                if self._stored:
                    agent.load(name, self._stored)
        return self._agents

    def groups(self, context: Context) -> dict[str, slice]:
        """Rows of each agent."""
        shape = context.shape()
        return {"users": slice(0, shape.n_users), "items": slice(shape.n_users, shape.n_rows)}

    def transitions(self, context: Context, rows: slice, last: int) -> Transitions:
        """What the agent of these rows has seen up to probe `last`, from sizes and qualities alone."""
        counts = np.concatenate(context.frequencies()).astype(np.float32)[rows]
        full = np.full(rows.stop - rows.start, context.dim, np.float32)
        sizes = [full, *(one[rows].astype(np.float32) for one in self.actions[:last])]
        quality = [np.zeros_like(full), *(one[rows] for one in self.quality[:last])]
        episode, price = self.settings.episode_steps, self.settings.size_price
        return Transitions(counts, sizes, quality, self.peak[rows], context.dim, episode, price)

    def act(self, context: Context, number: int) -> np.ndarray:
        """Sizes of all rows in probe `number`; one number of noise for both agents."""
        sizes = np.empty(context.shape().n_rows, np.int64)
        rng = np.random.default_rng([context.seed, streams.CIESS_NOISE, number])
        noise = rng.normal(0.0, self.settings.noise)
        for index, (name, agent) in enumerate(self.agents(context).items()):
            rows = self.groups(context)[name]
            seen = self.transitions(context, rows, number).observed(number)
            rng = np.random.default_rng([context.seed, streams.CIESS_ACTING, number, index])
            sizes[rows] = np.clip(np.rint(agent.act(seen, rng) + noise), 1, context.dim)
        return sizes

    def after_phase(self, context: Context, phase: Phase, table: Table) -> None:
        """What a probe showed, and what both agents learn from all of them."""
        if phase.kind != "probe":
            return
        sizes, users = table.row_sizes(), judged(context, table)
        assert sizes is not None
        self.sizes.append(sizes.astype(np.uint16))
        action = self._proposed if self.settings.learns == "proposed" else sizes
        self.actions.append(action.astype(np.uint16))
        self.quality.append(row_quality(context, users))
        self.scores.append(float(users.mean()))
        number = len(self.sizes)
        for index, (name, agent) in enumerate(self.agents(context).items()):
            seen = self.transitions(context, self.groups(context)[name], number)
            for update in range(self.settings.updates):
                key = [context.seed, streams.CIESS_LEARNING, number, index, update]
                agent.learn(seen, np.random.default_rng(key))
        density = float(sizes.mean()) / context.dim
        context.record("probe", number=number - 1, density=density, quality=self.scores[-1])

    def state(self) -> dict[str, np.ndarray]:
        kept = dict(self._stored)
        for name, agent in self._agents.items():
            kept |= agent.state(name)
        return kept | {
            "sizes": np.array(self.sizes, np.uint16),
            "actions": np.array(self.actions, np.uint16),
            "quality": np.array(self.quality, np.float32),
            "scores": np.array(self.scores),
            "peak": self.peak,
        }

    def load(self, state: dict[str, np.ndarray]) -> None:
        self.sizes, self.quality = list(state["sizes"]), list(state["quality"])
        self.actions = list(state.get("actions", state["sizes"]))
        self.scores, self.peak = state["scores"].tolist(), state["peak"].copy()
        self._agents = {}
        self._stored = {name: array for name, array in state.items() if name.startswith("agent.")}


def row_quality(context: Context, users: np.ndarray) -> np.ndarray:
    """Quality of every row: of users their own, of items the mean of the users linked to them."""
    train = context.train
    sums = np.bincount(train.items, users[train.users], minlength=train.n_items)
    items = sums / np.maximum(train.item_counts(), 1)
    return np.concatenate([users, items])[-context.shape().n_rows :].astype(np.float32)
