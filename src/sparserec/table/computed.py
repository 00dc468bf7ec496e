"""Rows that a network computes from hashes of their number (DHE): no row has a parameter of its own.

A row's number goes through many hash functions; their values, scaled to -1..1, are the input of a network with layers
of equal width, each a matrix, batch normalisation and Mish, and a linear output. A graph recommender asks for all rows
in every step, so the normalisation is over all rows, in training and after, and there are no running averages. Hidden
layers are computed once per step; column blocks are made from the output weights, their gradients gathered, and sent
back through the network when the step ends. The first layer's input is made again whenever it is needed, in chunks.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch
from numba import prange

from sparserec.compiled import compiled
from sparserec.device import EncodedTable, fake_quantise, quantised_bytes
from sparserec.errors import SettingError
from sparserec.graph import Buffers
from sparserec.table.adam import BETA_1, BETA_2, EPSILON
from sparserec.table.base import EntryDropout, Held, Ledger, Shape, State, Table, Update
from sparserec.table.dense import drop_block
from sparserec.table.normalised import Normalised

ROWS_AT_ONCE = 4096
LARGEST_FACTOR = 10**9
PRIMES_FROM, PRIMES_TO = 10**6, 1_100_000
KEPT_PER_LAYER = 2
"""Arrays of a hidden layer that a step keeps: what its matrix gave, and after normalisation and Mish."""
STRETCH = 64
"""Rows whose hashes go on from each other."""


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

    def encode(self, first: int, last: int, out: torch.Tensor | None = None) -> torch.Tensor:
        """Inputs of rows `first` to `last`, (rows, hashes), each between -1 and 1; in `out` if there is one."""
        out = torch.empty((last - first, len(self.factors))) if out is None else out
        _encode(first, self.factors, self.shifts, self.primes, self.buckets, out.numpy())
        return out


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
        self._kept = (
            Buffers()
        )  # arrays of tens of megabytes: fresh ones would cost more than what is computed
        self._layers: list[tuple[Normalised, torch.Tensor]] = []  # of a step: each before and after Mish
        self._hidden: torch.Tensor | None = None
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

    def _room(self, name: str, columns: int, rows: int | None = None) -> torch.Tensor:
        """An array kept between steps, not filled."""
        rows = self.shape.n_rows if rows is None else rows
        return torch.from_numpy(self._kept.array(name, (rows, columns), np.dtype(np.float32)))

    def _inputs(self, first: int, last: int) -> torch.Tensor:
        room = self._room("encoded", len(self.hashes.factors), last - first)
        return self.hashes.encode(first, last, room)

    def _matrix(self, layer: int, signal: torch.Tensor | None) -> torch.Tensor:
        """What a layer's matrix gives."""
        weight = self.weights[f"layer.{layer}"]
        out = self._room(f"before {layer}", len(weight))
        if signal is not None:
            return torch.mm(signal, weight.T, out=out)
        for first, last in self._chunks():
            torch.mm(self._inputs(first, last), weight.T, out=out[first:last])
        return out

    def _forward(self) -> list[tuple[Normalised, torch.Tensor]]:
        """Every hidden layer of all rows."""
        made: list[tuple[Normalised, torch.Tensor]] = []
        for layer in range(self.layers):
            before = self._matrix(layer, made[-1][1] if made else None)
            scale, shift = (self.weights[f"{name}.{layer}"].numpy() for name in ("scale", "shift"))
            after = self._room(f"after {layer}", before.shape[1])
            made.append((normal := Normalised(before.numpy(), scale, shift), after))
            normal.forward(after.numpy())
        return made

    def begin_step(self, rows: np.ndarray, counts: np.ndarray) -> float:
        self._forget()  # before the next ones are made
        self._layers = self._forward()
        self._hidden = self._layers[-1][1]
        self._slope = self._room("slope", self._hidden.shape[1]).zero_()
        return 0.0

    def _forget(self) -> None:
        """Give up what belongs to weights that have changed, or are about to."""
        self._layers, self._hidden, self._slope = [], None, None

    def _last_hidden(self) -> torch.Tensor:
        """Computed anew where no step has done so, and kept until the weights change."""
        if self._hidden is None:
            self._hidden = self._forward()[-1][1]
        return self._hidden

    def _rows(self, block: int, hidden: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        start, width = self.shape.blocks[block]
        part = slice(start, start + width)
        return torch.addmm(self.weights["bias"][part], hidden, self.weights["output"][part].T, out=out)

    def fill(self, block: int, out: torch.Tensor, dropout: EntryDropout) -> None:
        self._rows(block, self._last_hidden(), out)
        if dropout.rate > 0.0:
            drop_block(out.numpy(), dropout.block(self.shape.blocks[block][0]))

    def receive(self, block: int, gradient: torch.Tensor, update: Update) -> None:
        """Gradient of the block's output weights, and what it says to the last hidden layer."""
        assert self._slope is not None, "a step begins with begin_step"
        start, width = self.shape.blocks[block]
        part, hidden = slice(start, start + width), self._last_hidden()
        slope = self._room("slope of a block", width).copy_(gradient)
        if update.dropout.rate > 0.0:
            drop_block(slope.numpy(), update.dropout.block(start))
        rows = self._rows(block, hidden, self._room("rows of a block", width))
        slope.addcmul_(torch.from_numpy(update.row_decay)[:, None], rows)
        self._slope.addmm_(slope, self.weights["output"][part])
        self._adam("output", slope.T @ hidden, update, part)
        self._adam("bias", slope.sum(0), update, part)

    def finish_step(self, update: Update) -> None:
        """Back through the network; its weights change here, those of the output have changed block by block."""
        assert self._slope is not None, "a step begins with begin_step"
        slope, layers = self._slope, self._layers
        self._forget()
        for layer in reversed(range(self.layers)):
            normal, _ = layers.pop()
            of_scale, of_shift = normal.backward(slope.numpy())
            matrix = self.weights[f"layer.{layer}"]
            if layer > 0:
                room = self._room("slope" if layer % 2 == self.layers % 2 else "lower slope", matrix.shape[1])
                gradient, lower = slope.T @ layers[-1][1], torch.mm(slope, matrix, out=room)
            else:
                gradient, lower = torch.zeros_like(matrix), slope
                for first, last in self._chunks():
                    gradient.addmm_(slope[first:last].T, self._inputs(first, last))
            for name, change in (("layer", gradient), ("scale", of_scale), ("shift", of_shift)):
                self._adam(f"{name}.{layer}", torch.as_tensor(change), update)
            slope = lower

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
        squares = sum(
            self._rows(block, hidden, torch.empty((len(used), width))).square().sum(1)
            for block, (_, width) in enumerate(self.shape.blocks)
        )
        return 0.5 * float(decay @ squares)

    # -- what it is --------------------------------------------------------------------------------------------

    def parameters(self) -> int:
        return sum(weight.numel() for weight in self.weights.values())

    def state(self) -> State:
        hashes = self.hashes
        arrays = {"hashes": np.stack([hashes.factors, hashes.shifts, hashes.primes])}
        for part, tensors in (("weights", self.weights), ("first", self.first), ("second", self.second)):
            arrays |= {f"{part}/{name}": tensor.numpy() for name, tensor in tensors.items()}
        return arrays | {"buckets": np.array([hashes.buckets])}

    def load(self, state: State) -> None:
        self.hashes = _stored_hashes(state)
        for part in ("weights", "first", "second"):
            tensors = getattr(self, part)
            for name, array in state.items():
                if name.startswith(f"{part}/"):
                    tensors[name.removeprefix(f"{part}/")] = torch.from_numpy(array.copy())
        self.layers = sum(name.startswith("layer.") for name in self.weights)
        self._forget()

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
            "activations": 4 * (KEPT_PER_LAYER * layers + 2) * shape.n_rows * width,
            "encoding": 4 * min(ROWS_AT_ONCE, shape.n_rows) * hashes,
            "blocks": 2 * 4 * shape.n_rows * shape.width,
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
        weights = [weight.numpy() for weight in self.weights.values()]
        matrices = sum(quantised_bytes(weight, bits) for weight in weights if weight.ndim == 2)
        return matrices + sum(weight.nbytes for weight in weights if weight.ndim == 1) + 8

    def quantised(self, bits: int) -> ComputedTable:
        twin = copy.copy(self)
        twin.weights = {
            name: torch.from_numpy(fake_quantise(weight.numpy(), bits)) if weight.ndim == 2 else weight
            for name, weight in self.weights.items()
        }
        twin._kept = Buffers()
        twin._forget()
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
    """The next row's a x + b is a more: modulo p that is a sum and a comparison, not a long division."""
    scale, moduli = np.float32(2.0 / (buckets - 1)), primes.astype(np.int32)
    size = np.int32(min(buckets, 2 * PRIMES_TO))  # no prime is larger
    for stretch in prange((out.shape[0] + STRETCH - 1) // STRETCH):
        start = stretch * STRETCH
        values = ((factors * (first_row + start + 1) + shifts) % primes).astype(np.int32)
        more = (factors % primes).astype(np.int32)
        for row in range(start, min(start + STRETCH, out.shape[0])):
            for index in range(out.shape[1]):
                place = values[index] % size
                out[row, index] = scale * np.float32(place) - np.float32(1.0)
                value = values[index] + more[index]
                values[index] = value - moduli[index] if value >= moduli[index] else value
