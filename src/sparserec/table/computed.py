"""Rows that a network computes from hashes of their number (DHE): no row has a parameter of its own.

A row's number goes through many hash functions; their values, scaled to -1..1, are the input of a network with layers
of equal width, each a matrix, batch normalisation and Mish, and a linear output. A graph recommender asks for all rows
in every step, so the normalisation is over all rows, in training and after, and there are no running averages. The last
hidden layer is computed once per step; column blocks are made from the output weights, their gradients gathered, and
sent back through the network when the step ends. The first layer's input is made again whenever it is needed, in
chunks.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch
from numba import prange
from torch.nn import functional

from sparserec.compiled import compiled
from sparserec.device import EncodedTable, fake_quantise, quantised_bytes
from sparserec.errors import SettingError
from sparserec.table.adam import BETA_1, BETA_2, EPSILON
from sparserec.table.base import EntryDropout, Held, Ledger, Shape, State, Table, Update
from sparserec.table.dense import drop_block

ROWS_AT_ONCE = 4096
LARGEST_FACTOR = 10**9
PRIMES_FROM, PRIMES_TO = 10**6, 1_100_000
SAVED_PER_LAYER = 3
"""Arrays of a hidden layer that its gradient needs: before and after the normalisation, and after Mish."""


@dataclass(frozen=True)
class Hashes:
    """Hash functions ((a x + b) mod p) mod buckets of a row's number x, counted from 1."""

    factors: np.ndarray  # int64 (hashes,)
    shifts: np.ndarray
    primes: np.ndarray
    buckets: int

    @classmethod
    def draw(cls, count: int, buckets: int, rng: np.random.Generator) -> Hashes:
        """Random functions; factors and shifts are not 0, primes lie above a million."""
        signs = rng.choice(np.array([-1, 1]), (2, count))
        factors, shifts = signs * rng.integers(1, LARGEST_FACTOR, (2, count))
        return cls(factors, shifts, rng.choice(_primes(), count), buckets)

    def encode(self, first: int, last: int) -> torch.Tensor:
        """Inputs of rows `first` to `last`, (rows, hashes), each between -1 and 1."""
        out = np.empty((last - first, len(self.factors)), np.float32)
        _encode(first, self.factors, self.shifts, self.primes, self.buckets, out)
        return torch.from_numpy(out)


def network_size(hashes: int, width: int, layers: int, dim: int) -> int:
    """Trained numbers: matrices, a scale and a shift for every hidden unit, and the bias of the output."""
    return hashes * width + (layers - 1) * width * width + 2 * layers * width + (width + 1) * dim


class ComputedTable(Table):
    """Hash functions and a network, with the moments of its weights."""

    kind = "computed"

    def __init__(self, shape: Shape, hashes: Hashes, weights: dict[str, torch.Tensor]) -> None:
        """`weights` has layer.0, scale.0, shift.0, layer.1, ..., output and bias."""
        self.shape, self.hashes, self.weights = shape, hashes, weights
        self.layers = sum(name.startswith("layer.") for name in weights)
        self.first = {name: torch.zeros_like(weight) for name, weight in weights.items()}
        self.second = {name: torch.zeros_like(weight) for name, weight in weights.items()}
        self._hidden: torch.Tensor | None = None
        self._input: torch.Tensor | None = None
        self._slope: torch.Tensor | None = None

    @classmethod
    def create(
        cls, shape: Shape, hashes: Hashes, width: int, layers: int, spread: float, rng: np.random.Generator
    ) -> ComputedTable:
        """Random weights such that rows begin with about this standard deviation."""
        weights: dict[str, torch.Tensor] = {}
        for layer in range(layers):
            inputs = len(hashes.factors) if layer == 0 else width
            drawn = rng.standard_normal((width, inputs), np.float32) / np.float32(np.sqrt(inputs))
            weights[f"layer.{layer}"] = torch.from_numpy(drawn)
            weights[f"scale.{layer}"], weights[f"shift.{layer}"] = torch.ones(width), torch.zeros(width)
        drawn = rng.standard_normal((shape.dim, width), np.float32) * np.float32(spread / np.sqrt(width))
        return cls(
            shape, hashes, weights | {"output": torch.from_numpy(drawn), "bias": torch.zeros(shape.dim)}
        )

    # -- forward and backward ----------------------------------------------------------------------------------

    def _chunks(self) -> list[tuple[int, int]]:
        rows = self.shape.n_rows
        return [(first, min(first + ROWS_AT_ONCE, rows)) for first in range(0, rows, ROWS_AT_ONCE)]

    def _first_layer(self) -> torch.Tensor:
        out = torch.empty((self.shape.n_rows, len(self.weights["layer.0"])))
        for first, last in self._chunks():
            torch.mm(self.hashes.encode(first, last), self.weights["layer.0"].T, out=out[first:last])
        return out

    def _forward(self, learning: bool) -> torch.Tensor:
        """The last hidden layer of all rows; what its gradient needs is kept while learning."""
        self._input = signal = self._first_layer().requires_grad_(learning)
        for name, weight in self.weights.items():
            weight.requires_grad_(learning and name not in ("layer.0", "output", "bias"))
        with torch.set_grad_enabled(learning):
            for layer in range(self.layers):
                if layer > 0:
                    signal = functional.linear(signal, self.weights[f"layer.{layer}"])
                scale, shift = self.weights[f"scale.{layer}"], self.weights[f"shift.{layer}"]
                signal = functional.mish(
                    functional.batch_norm(signal, None, None, scale, shift, training=True)
                )
        return signal

    def begin_step(self, rows: np.ndarray, counts: np.ndarray) -> float:
        self._hidden = None  # before the next one is made
        self._hidden = self._forward(learning=True)
        self._slope = torch.zeros_like(self._hidden)
        return 0.0

    def _last_hidden(self) -> torch.Tensor:
        """Computed anew where no step has done so, and kept until the weights change."""
        if self._hidden is None:
            self._hidden = self._forward(learning=False)
            self._input = None
        return self._hidden.detach()

    def _rows(self, block: int, hidden: torch.Tensor) -> torch.Tensor:
        start, width = self.shape.blocks[block]
        part = slice(start, start + width)
        return torch.addmm(self.weights["bias"][part], hidden, self.weights["output"][part].T)

    def fill(self, block: int, out: torch.Tensor, dropout: EntryDropout) -> None:
        out.copy_(self._rows(block, self._last_hidden()))
        if dropout.rate > 0.0:
            drop_block(out.numpy(), dropout.block(self.shape.blocks[block][0]))

    def receive(self, block: int, gradient: torch.Tensor, update: Update) -> None:
        """Gradient of the block's output weights, and what it says to the last hidden layer."""
        assert self._slope is not None, "a step begins with begin_step"
        start, width = self.shape.blocks[block]
        part, hidden, slope = slice(start, start + width), self._last_hidden(), gradient.clone()
        if update.dropout.rate > 0.0:
            drop_block(slope.numpy(), update.dropout.block(start))
        slope += torch.from_numpy(update.row_decay)[:, None] * self._rows(block, hidden)
        self._slope.addmm_(slope, self.weights["output"][part])
        self._adam("output", slope.T @ hidden, update, part)
        self._adam("bias", slope.sum(0), update, part)

    def finish_step(self, update: Update) -> None:
        """Back through the network; its weights change here, those of the output have changed block by block."""
        assert self._hidden is not None and self._input is not None
        self._hidden.backward(self._slope)
        self._hidden = self._slope = None
        slope, self._input = self._input.grad, None
        assert slope is not None
        gradient = torch.zeros_like(self.weights["layer.0"])
        for first, last in self._chunks():
            gradient.addmm_(slope[first:last].T, self.hashes.encode(first, last))
        self._adam("layer.0", gradient, update)
        for name, weight in self.weights.items():
            if weight.requires_grad:
                assert weight.grad is not None
                gradient, weight.grad = weight.grad, None
                weight.requires_grad_(False)
                self._adam(name, gradient, update)

    def _adam(self, name: str, gradient: torch.Tensor, update: Update, part: slice = slice(None)) -> None:
        first, second = self.first[name][part], self.second[name][part]
        first.mul_(BETA_1).add_(gradient, alpha=1.0 - BETA_1)
        second.mul_(BETA_2).addcmul_(gradient, gradient, value=1.0 - BETA_2)
        root = (second / (1.0 - BETA_2**update.step)).sqrt_().add_(EPSILON)
        size = update.learning_rate / (1.0 - BETA_1**update.step)
        self.weights[name][part].addcdiv_(first, root, value=-size)

    def ego_penalty(self, row_decay: np.ndarray) -> float:
        used = torch.from_numpy(np.flatnonzero(row_decay))
        hidden, decay = self._last_hidden()[used], torch.from_numpy(row_decay)[used]
        squares = sum(self._rows(block, hidden).square().sum(1) for block in range(len(self.shape.blocks)))
        return 0.5 * float(decay @ squares)

    # -- what it is --------------------------------------------------------------------------------------------

    def parameters(self) -> int:
        return sum(weight.numel() for weight in self.weights.values())

    def state(self) -> State:
        hashes = self.hashes
        arrays = {"hashes": np.stack([hashes.factors, hashes.shifts, hashes.primes])}
        for part, tensors in (("weights", self.weights), ("first", self.first), ("second", self.second)):
            arrays |= {f"{part}/{name}": tensor.detach().numpy() for name, tensor in tensors.items()}
        return arrays | {"buckets": np.array([hashes.buckets])}

    def load(self, state: State) -> None:
        self.hashes = _stored_hashes(state)
        for part in ("weights", "first", "second"):
            tensors = getattr(self, part)
            for name, array in state.items():
                if name.startswith(f"{part}/"):
                    tensors[name.removeprefix(f"{part}/")] = torch.from_numpy(array.copy())
        self.layers = sum(name.startswith("layer.") for name in self.weights)
        self._hidden = self._input = self._slope = None

    @classmethod
    def revive(cls, shape: Shape, state: State) -> ComputedTable:
        table = cls(shape, _stored_hashes(state), {})
        table.load(state)
        return table

    @classmethod
    def held(cls, shape: Shape, hashes: int, width: int, layers: int) -> Held:
        """Everything of a step, also between two steps: activations and their gradients are as many every time."""
        numbers = network_size(hashes, width, layers, shape.dim)
        ledger = {
            "weights": 4 * numbers,
            "moments": 8 * numbers,
            "activations": 4 * (SAVED_PER_LAYER * layers + 2) * shape.n_rows * width,
            "encoding": 4 * min(ROWS_AT_ONCE, shape.n_rows) * hashes,
        }
        return Held("computed", shape.dim, ledger)

    def ledger(self) -> Ledger:
        width = len(self.weights["layer.0"])
        return self.held(self.shape, len(self.hashes.factors), width, self.layers).ledger

    def counted_numbers(self) -> int:
        """Weights and their gradients; activations are left out, as they are for tables."""
        return 2 * self.parameters()

    def encoded(self, order: np.ndarray, bits: int) -> EncodedTable:
        raise SettingError(
            "mode full ships the rows of the table, and here a network computes them; export mode items instead"
        )

    def stored_bytes(self, bits: int) -> int:
        """Matrices quantised row by row; scales, shifts and bias as float32, hash functions as the seed they
        come from.
        """
        weights = [weight.detach().numpy() for weight in self.weights.values()]
        matrices = sum(quantised_bytes(weight, bits) for weight in weights if weight.ndim == 2)
        return matrices + sum(weight.nbytes for weight in weights if weight.ndim == 1) + 8

    def quantised(self, bits: int) -> ComputedTable:
        twin = copy.copy(self)
        twin.weights = {
            name: torch.from_numpy(fake_quantise(weight.detach().numpy(), bits))
            if weight.ndim == 2
            else weight
            for name, weight in self.weights.items()
        }
        twin._hidden = twin._input = twin._slope = None
        return twin


def _stored_hashes(state: State) -> Hashes:
    factors, shifts, primes = state["hashes"].copy()
    return Hashes(factors, shifts, primes, int(state["buckets"][0]))


def _primes() -> np.ndarray:
    """Primes a little above a million."""
    prime = np.ones(PRIMES_TO, bool)
    for number in range(2, int(PRIMES_TO**0.5) + 1):
        prime[number * number :: number] = False
    return PRIMES_FROM + np.flatnonzero(prime[PRIMES_FROM:])


@compiled(parallel=True)
def _encode(
    first_row: int, factors: np.ndarray, shifts: np.ndarray, primes: np.ndarray, buckets: int, out: np.ndarray
) -> None:
    scale = np.float32(2.0 / (buckets - 1))
    for row in prange(out.shape[0]):
        number = first_row + row + 1
        for index in range(out.shape[1]):
            place = ((factors[index] * number + shifts[index]) % primes[index]) % buckets
            out[row, index] = scale * np.float32(place) - np.float32(1.0)
