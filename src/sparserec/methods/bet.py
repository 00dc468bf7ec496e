"""bet: a size for every row under a budget for the whole table, searched for with probes and a predictor (WSDM 2024).

An action gives every row a size; rows are prefixes of columns. Actions are drawn for the table as a whole: how much of
the budget users get, and a distribution each for the sizes of users and of items; the more frequent a row, the larger
its size. A pretrained dense table is cut to an action, trained a little and scored; from such probes a network learns
to predict how good an action is, and chooses most of the next ones among many that are drawn. The best are trained
anew.

As in the released code: distributions, network, how actions are chosen, learning rates of probe and network. Ours
differs where the code does not do what the paper says (its probes give sizes to the wrong rows, items are seen by their
number instead of frequency, means are taken twice) and: the budget is allocated to the last number; the length of a
probe is a share of the recipe; of all actions that ever were among the best, the best few are retrained (`retrained`;
preset `published`: all of them); the best of these is chosen by the run's validation metric.
"""

from __future__ import annotations

import numpy as np
import torch
from pydantic import Field
from scipy.special import ndtr, ndtri
from torch import nn

from sparserec import streams
from sparserec.methods.base import Context, Phase
from sparserec.methods.networks import adam, layers, restore, stored
from sparserec.methods.row_sizes import SizeSearch, allocate, judged, size_budget
from sparserec.settings import Settings
from sparserec.table import DenseTable, PrefixTable, Table

TRIES = 20
"""Draws of both distributions before the users' share is drawn anew; as many shares before sizes are simply cut."""
UPDATES = 2
"""Single samples that the predictor learns from after a probe."""


class BETSettings(Settings):
    probes: int = Field(50, ge=1)
    """Actions that are tried."""
    probe_share: float = Field(0.02, gt=0, le=1)
    """Length of a probe as a share of the recipe; the paper's 10 of 500 epochs."""
    probe_rate: float = Field(0.03, gt=0)
    """Learning rate of a probe."""
    actions: int = Field(100, ge=1)
    """Actions drawn to choose one from."""
    population: int = Field(3, ge=1)
    """How many of the best so far count as such."""
    retrained: int | None = Field(3, ge=1)
    """Actions trained from scratch at the end, the best probes first; None: all that ever were in the population."""


class BET(SizeSearch):
    name = "bet"
    settings_kind = BETSettings
    idea = "a size for every row, searched for with probes and a predictor"
    paper = "WSDM 2024"
    trainings = 5

    def __init__(self, settings: BETSettings) -> None:
        super().__init__(settings)
        self.probe_rate = settings.probe_rate
        self.sizes: list[np.ndarray] = []  # of every probe
        self.scores: list[float] = []  # of every probe, in scores of the dense table
        self.dense_score = float("nan")
        self._predictor: Predictor | None = None
        self._stored: dict[str, np.ndarray] = {}

    def best(self, context: Context) -> list[int]:
        """Numbers of the actions to retrain, best first; those that were never tried come last."""
        order = sorted(range(len(self.scores)), key=lambda number: -self.scores[number])
        order += range(len(self.scores), self.settings.probes)
        if self.settings.retrained is not None:
            return order[: self.settings.retrained]
        ever = ever_best(self.scores, self.settings.population)
        return [number for number in order if number in ever] or order[: self.settings.population]

    def sized(self, context: Context, phase: Phase, number: int, dense: Table) -> Table:
        if phase.kind == "retrain":
            sizes = self.sizes[number] if number < len(self.sizes) else self.choose(context, number)
            return PrefixTable.of_sizes(context.shape(), sizes, context.initial(context.dim))
        assert isinstance(dense, DenseTable)
        if np.isnan(self.dense_score):
            self.dense_score = max(float(judged(context, dense).mean()), 1e-9)
        return PrefixTable.cut(dense.shape, self.choose(context, number), dense.values)

    def after_phase(self, context: Context, phase: Phase, table: Table) -> None:
        """What a probe showed: kept, and learnt by the predictor."""
        if phase.kind != "probe":
            return
        assert isinstance(table, PrefixTable)
        self.sizes.append(table.row_sizes().astype(np.uint16))
        self.scores.append(float(judged(context, table).mean()) / self.dense_score)
        predictor, seen = self.predictor(context), torch_frequencies(context)
        rng = np.random.default_rng([context.seed, streams.BET_SAMPLES, len(self.scores)])
        error = 0.0
        for one in rng.integers(0, len(self.scores), UPDATES):
            error = predictor.learn(seen, self.sizes[one], context.dim, self.scores[one])
        context.record("probe", number=len(self.scores) - 1, quality=self.scores[-1], error=error)

    def predictor(self, context: Context) -> Predictor:
        if self._predictor is None:
            self._predictor = Predictor(context.seed)
            if self._stored:
                self._predictor.load(self._stored)
        return self._predictor

    def choose(self, context: Context, number: int) -> np.ndarray:
        """Sizes of probe `number`: three times the best predicted, then the nearest to the best, then a random one."""
        budget, dim, predictor = size_budget(context, self.name), context.dim, self.predictor(context)
        rng = np.random.default_rng([context.seed, streams.BET_ACTIONS, number])
        drawn = (draw_sizes(context.frequencies(), budget, dim, rng) for _ in range(self.settings.actions))
        if number % 5 == 4:
            return next(drawn)
        seen = torch_frequencies(context)
        with torch.no_grad():
            rows = predictor.encode(seen)
            if number % 5 == 3 and self.scores:
                goal = predictor.embed(rows, self.sizes[int(np.argmax(self.scores))], dim)
                return min(drawn, key=lambda sizes: float((predictor.embed(rows, sizes, dim) - goal).norm()))
            return max(drawn, key=lambda sizes: float(predictor.fitness(predictor.embed(rows, sizes, dim))))

    def state(self) -> dict[str, np.ndarray]:
        kept = self._stored if self._predictor is None else self._predictor.state()
        sizes = np.array(self.sizes, np.uint16)  # (probes, rows), empty before the first
        return kept | {"sizes": sizes, "scores": np.array(self.scores), "dense": np.array([self.dense_score])}

    def load(self, state: dict[str, np.ndarray]) -> None:
        self.sizes, self.scores = list(state["sizes"]), state["scores"].tolist()
        self.dense_score, self._predictor = float(state["dense"][0]), None
        self._stored = {name: array for name, array in state.items() if name.startswith("predictor.")}


def ever_best(scores: list[float], population: int) -> set[int]:
    """Numbers that were among the best `population` at some time; of equal ones the earlier is better."""
    ever: set[int] = set()
    for end in range(1, len(scores) + 1):
        ever |= set(sorted(range(end), key=lambda number: (-scores[number], number))[:population])
    return ever


# -- actions -----------------------------------------------------------------------------------------------------


def draw_sizes(
    frequencies: tuple[np.ndarray, np.ndarray], budget: int, dim: int, rng: np.random.Generator
) -> np.ndarray:
    """Sizes of all rows, users first, whose sum is the budget: larger ones for more frequent rows of the same table."""
    counts = [len(side) for side in frequencies]
    for trial in range(TRIES * TRIES):
        if trial % TRIES == 0:
            users = rng.random() if all(counts) else float(counts[0] > 0)
        sides = [raw_sizes(count, part * budget, rng) for count, part in zip(counts, (users, 1.0 - users))]
        if all(side.max(initial=0) <= dim for side in sides):
            break
    placed = []
    for side, frequency in zip(sides, frequencies):
        sizes = np.empty(len(side), np.int64)
        sizes[np.argsort(-frequency, kind="stable")] = np.sort(side)[::-1]
        placed.append(np.minimum(sizes, dim))
    order = np.argsort(-np.concatenate(frequencies), kind="stable")
    return allocate(np.concatenate(placed), budget, dim, order)


def raw_sizes(count: int, budget: float, rng: np.random.Generator) -> np.ndarray:
    """Shares of a budget from one of four distributions, rounded down, none below 1."""
    if count == 0:
        return np.empty(0, np.int64)
    uniform, family = rng.random(count), rng.integers(4)
    if family == 0:  # power law
        values = uniform ** (1.0 / max(rng.uniform(0, 20), 1e-3))
    elif family == 1:  # exponential on [0, b]
        values = -np.log1p(-uniform * -np.expm1(-rng.uniform(0, 5)))
    elif family == 2:  # log-normal
        values = np.exp(rng.uniform(0, 0.5) * ndtri(uniform))
    else:  # half normal on [0, alpha]
        values = ndtri(0.5 + uniform * (ndtr(rng.uniform(0, 20)) - 0.5))
    total = values.sum()
    shares = values / total if total > 0 and np.isfinite(total) else np.full(count, 1.0 / count)
    return np.maximum(np.floor(shares * budget), 1).astype(np.int64)


def torch_frequencies(context: Context) -> tuple[torch.Tensor, torch.Tensor]:
    """How often each user and item is seen, scaled to 0..1 in both tables."""

    def scaled(counts: np.ndarray) -> torch.Tensor:
        low, high = (float(counts.min()), float(counts.max())) if len(counts) else (0.0, 1.0)
        return torch.from_numpy((counts - low) / max(high - low, 1.0)).float()[:, None]

    users, items = context.frequencies()
    return scaled(users), scaled(items)


# -- how good an action is ---------------------------------------------------------------------------------------


class Predictor:
    """A network over sets: rows of one size form a set, the sets of all sizes the action."""

    def __init__(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        shapes = {"user": (1, 16, 16), "item": (1, 16, 16), "sets": (17, 64, 64), "decoder": (64, 64, 1)}
        self.parts = nn.ModuleDict(
            {name: layers(sizes, nn.LeakyReLU, generator) for name, sizes in shapes.items()}
        )
        self.optimiser, self.updates = adam(self.parts.parameters(), 0.01), 0

    def encode(self, seen: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """Every row from its frequency alone, (rows, 16): the same for all actions."""
        return torch.cat([self.parts["user"](seen[0]), self.parts["item"](seen[1])])

    def embed(self, rows: torch.Tensor, sizes: np.ndarray, dim: int) -> torch.Tensor:
        """The action as 64 numbers: mean of each size's rows, encoded with the size, mean over sizes."""
        place = torch.from_numpy(sizes.astype(np.int64) - 1)
        sums = torch.zeros((dim, rows.shape[1])).index_add(0, place, rows)
        counts = torch.bincount(place, minlength=dim).clamp(min=1)[:, None]
        size = torch.arange(1, dim + 1)[:, None] / max(dim - 1, 1)
        return self.parts["sets"](torch.cat([sums / counts, size], dim=1)).mean(0)

    def fitness(self, embedding: torch.Tensor) -> torch.Tensor:
        """Predicted quality, in scores of the dense table."""
        return self.parts["decoder"](embedding)[0]

    def learn(
        self, seen: tuple[torch.Tensor, torch.Tensor], sizes: np.ndarray, dim: int, quality: float
    ) -> float:
        """One step on one action; returns the squared error before it."""
        self.optimiser.param_groups[0]["lr"] = max(0.01 * 0.9**self.updates, 0.002)
        self.updates += 1
        error = (self.fitness(self.embed(self.encode(seen), sizes, dim)) - quality) ** 2
        self.optimiser.zero_grad()
        error.backward()
        self.optimiser.step()
        return float(error.detach())

    def state(self) -> dict[str, np.ndarray]:
        parts = stored("predictor.net", self.parts) | stored("predictor.adam", self.optimiser)
        return parts | {"predictor.updates": np.array([self.updates])}

    def load(self, state: dict[str, np.ndarray]) -> None:
        restore("predictor.net", self.parts, state)
        restore("predictor.adam", self.optimiser, state)
        self.updates = int(state["predictor.updates"][0])
