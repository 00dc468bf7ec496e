"""An agent that proposes sizes of rows and learns what they are worth (TD3, arXiv 1802.09477, as CIESS has it)."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from sparserec.methods.networks import adam, layers, restore, stored

HIDDEN = 256
DISCOUNT, TARGET_SHARE, CLIP = 0.99, 0.005, 0.01
ACTOR_RATE, CRITIC_RATE, ACTOR_EVERY = 1e-3, 3e-3, 2
BATCH = 4096
"""Transitions of an update, or as many as there are."""
MOST_PROBES = 100
"""Probes whose transitions are remembered."""
HOPS, REACH = 5, 5
"""Steps of the walk over sizes, and how far one may lead."""
TARGET_NOISE, MOST_TARGET_NOISE = 2.0, 5.0


@dataclass(frozen=True)
class Transitions:
    """What rows went through: sizes and qualities after each probe, the first entry being the beginning.

    An episode begins at full size and quality 0 whatever the probe before it left.
    """

    counts: np.ndarray  # (rows,) train interactions
    sizes: list[np.ndarray]  # (rows,) each
    quality: list[np.ndarray]
    peak: np.ndarray  # (rows,) quality under the dense table
    dim: int
    episode: int  # probes of one
    price: float

    def observed(self, probe: int) -> torch.Tensor:
        """What is seen before probe `probe`: frequency, size and quality, each from -1 to 1, (rows, 3)."""
        before = 0 if probe % self.episode == 0 else probe
        return self._state(before)

    def _state(self, place: int) -> torch.Tensor:
        spread = max(float(self.counts.max() - self.counts.min()), 1.0)
        frequency = 2.0 * (self.counts - self.counts.min()) / spread - 1.0
        share = np.clip(self.quality[place] / np.maximum(self.peak, 1e-9), 0.0, 1.0)
        parts = frequency, scaled(self.sizes[place], self.dim), 2.0 * share - 1.0
        return torch.from_numpy(np.stack(parts, axis=1).astype(np.float32))

    def draw(self, rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
        """A batch of (state, action, reward, next state, whether it goes on) from the probes remembered."""
        last = len(self.sizes) - 1
        first, rows = max(0, last - MOST_PROBES), len(self.counts)
        size = min(BATCH, (last - first) * rows)
        probes, chosen_rows = rng.integers(first, last, size), rng.integers(0, rows, size)
        before, after = np.empty((size, 3), np.float32), np.empty((size, 3), np.float32)
        action, reward = np.empty(size, np.float32), np.empty(size, np.float32)
        for probe in np.unique(probes):
            some = probes == probe
            chosen = chosen_rows[some]
            before[some], after[some] = self.observed(probe)[chosen], self._state(probe + 1)[chosen]
            sizes = self.sizes[probe + 1][chosen]
            action[some] = scaled(sizes, self.dim)
            reward[some] = self.quality[probe + 1][chosen] - self.price * ((sizes - 1.0) / self.dim) ** 2
        goes_on = ((probes + 1) % self.episode != 0).astype(np.float32)
        return tuple(torch.from_numpy(part) for part in (before, action[:, None], reward, after, goes_on))


def scaled(sizes: np.ndarray, dim: int) -> np.ndarray:
    """Sizes from -1 (one column) to 1 (all of them)."""
    return 2.0 * (sizes - 1.0) / max(dim - 1, 1) - 1.0


class Agent:
    """An actor, two critics, and slowly following copies of all three."""

    def __init__(self, dim: int, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.dim, self.updates = dim, 0
        self.actor = layers((3, HIDDEN, HIDDEN, 1), nn.ReLU, generator)
        with torch.no_grad():  # proposals begin in the middle
            for weight in self.actor[-1].parameters():
                weight.uniform_(-3e-3, 3e-3, generator=generator)
        self.critics = nn.ModuleList(layers((4, HIDDEN, HIDDEN, 1), nn.ReLU, generator) for _ in range(2))
        self.actor_target, self.critics_target = copy.deepcopy(self.actor), copy.deepcopy(self.critics)
        self.actor_adam = adam(self.actor.parameters(), ACTOR_RATE)
        self.critics_adam = adam(self.critics.parameters(), CRITIC_RATE)

    def value(self, critic: nn.Module, state: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        """What a critic makes of actions (-1 to 1), (rows,)."""
        return critic(torch.cat([state, action], dim=1))[:, 0]

    def act(self, state: torch.Tensor, rng: np.random.Generator) -> np.ndarray:
        """Sizes: the actor's proposal, or what the first critic likes best on a short walk from there."""
        with torch.no_grad():
            proposal = torch.tanh(self.actor(state))[:, 0].numpy()
            place = np.clip(np.rint((proposal + 1.0) / 2.0 * (self.dim - 1)) + 1.0, 1, self.dim)
            visited = walk(place, self.dim, rng)
            values = [
                self.value(self.critics[0], state, torch.from_numpy(scaled(at, self.dim)).float()[:, None])
                for at in visited
            ]
        best = torch.stack(values).argmax(0).numpy()
        return np.stack(visited)[best, np.arange(len(place))]

    def learn(self, seen: Transitions, rng: np.random.Generator) -> None:
        """One update of the critics, and every second time one of the actor and of all targets."""
        state, action, reward, after, goes_on = seen.draw(rng)
        noise = float(np.clip(rng.normal(0.0, TARGET_NOISE), -MOST_TARGET_NOISE, MOST_TARGET_NOISE))
        with torch.no_grad():
            chosen = torch.tanh(self.actor_target(after)) + 2.0 * noise / max(self.dim - 1, 1)
            values = [self.value(critic, after, chosen.clamp(-1, 1)) for critic in self.critics_target]
            goal = reward + DISCOUNT * goes_on * torch.minimum(*values)
        loss = sum(functional.mse_loss(self.value(critic, state, action), goal) for critic in self.critics)
        assert isinstance(loss, torch.Tensor)
        self._step(self.critics_adam, self.critics, loss)
        self.updates += 1
        if self.updates % ACTOR_EVERY == 0:
            self.improve_actor(state)
            for copied, learnt in ((self.actor_target, self.actor), (self.critics_target, self.critics)):
                for old, new in zip(copied.parameters(), learnt.parameters()):
                    old.data.lerp_(new.data, TARGET_SHARE)

    def improve_actor(self, state: torch.Tensor) -> None:
        """One step towards actions that the first critic values more."""
        action = torch.tanh(self.actor(state))
        self._step(self.actor_adam, self.actor, -self.value(self.critics[0], state, action).mean())

    def _step(self, optimiser: torch.optim.Adam, part: nn.Module, loss: torch.Tensor) -> None:
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(part.parameters(), CLIP)
        optimiser.step()

    def _parts(self) -> dict[str, nn.Module | torch.optim.Adam]:
        names = ("actor", "critics", "actor_target", "critics_target", "actor_adam", "critics_adam")
        return {name: getattr(self, name) for name in names}

    def state(self, name: str) -> dict[str, np.ndarray]:
        """Arrays of everything learnt, under `agent.name`."""
        arrays = {f"agent.{name}.updates": np.array([self.updates])}
        for part, held in self._parts().items():
            arrays |= stored(f"agent.{name}.{part}", held)
        return arrays

    def load(self, name: str, state: dict[str, np.ndarray]) -> None:
        """Take back what `state` gave."""
        self.updates = int(state[f"agent.{name}.updates"][0])
        for part, held in self._parts().items():
            restore(f"agent.{name}.{part}", held, state)


def walk(sizes: np.ndarray, dim: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Sizes visited from these in a few steps, theirs first: up to five away, the nearer the likelier."""
    offsets = np.array([step for step in range(-REACH, REACH + 1) if step])
    visited = [sizes]
    for _ in range(HOPS):
        goals = visited[-1][:, None] + offsets
        weights = np.where((goals >= 1) & (goals <= dim), 1.0 / np.abs(offsets), 0.0)
        ends = np.cumsum(weights, axis=1)
        drawn = (rng.random(len(sizes))[:, None] * ends[:, -1:] >= ends).sum(axis=1)
        moved = goals[np.arange(len(sizes)), np.minimum(drawn, len(offsets) - 1)]
        visited.append(moved if dim > 1 else visited[-1])
    return visited
