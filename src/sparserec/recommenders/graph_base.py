"""Bases that are a filter over the graph of users and items and a loss on the rows of a batch of edges.

A subclass gives its taps, initial values, what perturbs a step, and the loss.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparserec.data import Interactions, Sampler
from sparserec.graph import Adjacency, automatic_width, build_adjacency
from sparserec.recommenders.base import (
    Batches,
    Drawn,
    Loss,
    Perturbation,
    Recommender,
    Sampling,
    Steps,
    StepSizes,
)
from sparserec.recommenders.fold_in import Vectors, filtered, fold_taps
from sparserec.recommenders.rows import RowBatch
from sparserec.recommenders.step import Stepper
from sparserec.table import Ledger, Table


class GraphBase(Recommender):
    """What all filters over the graph have in common."""

    user_rows = True
    sampling = Sampling()
    whole_rows = False
    """Whether the loss needs all columns of a row at once; else scores, which are sums over columns, are enough."""
    decays_outputs = False
    """Whether outputs of all nodes are decayed, so that every block is propagated once more."""
    draws_edges = True

    def loss(self, outputs: Sequence[np.ndarray], rows: RowBatch, seed: int, step: int) -> Loss:
        """Loss and gradients from the taps' outputs on the batch's rows; the outputs may be overwritten."""
        raise NotImplementedError

    def perturb(self, seed: int, step: int, graph: Adjacency, dim: int) -> Perturbation:
        """Dropout and noise of one training step."""
        return Perturbation()

    def graph(self, train: Interactions) -> Adjacency:
        """Users and items read from each other."""
        return build_adjacency(train, self.self_loops)

    def sampler(self, train: Interactions, batch_size: int, batches: Drawn, seed: int) -> Batches:
        draws = self.sampling
        return Sampler(
            train, batch_size, seed, batches, draws.negatives_per_edge, draws.group_size, draws.reject
        )

    def stepper(self, graph: Adjacency, table: Table, seed: int, weight_decay: float = 0.0) -> Steps:
        return Stepper(self, graph, table, seed, weight_decay=weight_decay)

    def vectors(self, graph: Adjacency, table: Table) -> Vectors:
        """Propagated once for the final vectors and the fold-in tables together."""
        final, *fold = filtered(graph, (self.taps[0], *fold_taps(self.taps[0], self.self_loops)), table)
        n_users = graph.n_users
        return Vectors(final[:n_users], final[n_users:], tuple(out[n_users:] for out in fold), graph)

    def outputs(self, graph: Adjacency, table: Table) -> np.ndarray:
        """Without noise or dropout."""
        return filtered(graph, self.taps[:1], table)[0]

    # -- what it costs -------------------------------------------------------------------------------------------

    def steps_per_epoch(self, sizes: StepSizes) -> int:
        return -(-sizes.train // sizes.batch_size)

    def graph_bytes(self, sizes: StepSizes) -> int:
        """int32 offsets and neighbours, float32 weights, in both directions."""
        return 8 * (2 * sizes.train + self.self_loops * sizes.nodes) + 4 * (sizes.nodes + 1)

    def step_bytes(self, sizes: StepSizes) -> Ledger:
        """The filter's buffers, rows of the batch with their gradients, and the loss."""
        width, rows = automatic_width(sizes.nodes, sizes.dim), self.batch_rows(sizes)
        share = 1 if self.whole_rows else sizes.processes
        # columns of several blocks are gathered in an array of their own
        beside = len(self.taps) if width < sizes.dim else 0
        return {
            "scratch": 4 * width * ((2 + self.decays_outputs) * sizes.nodes + beside * rows),
            "rows": -(-2 * 4 * len(self.taps) * rows * sizes.dim // share),
            "loss": -(-self.loss_bytes(sizes.batch_size, rows, sizes.dim) // share),
        }

    def batch_rows(self, sizes: StepSizes) -> int:
        """Distinct users and items a batch asks for, expected."""
        draws, batch = self.sampling, sizes.batch_size
        negatives = -(-batch // draws.group_size) * draws.negatives_per_edge
        return round(_distinct(sizes.active_users, batch) + _distinct(sizes.items, batch + negatives))

    def loss_bytes(self, batch: int, rows: int, dim: int) -> int:
        """What the loss allocates beside outputs and gradients: gathered pairs."""
        return 3 * 4 * min(batch, rows) * dim


def _distinct(available: int, drawn: int) -> float:
    return available * (1.0 - (1.0 - 1.0 / available) ** drawn)
