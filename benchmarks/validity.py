"""Ours against the textbook implementation on the same batches and the same initial table: losses, then Recall@20.

python benchmarks/validity.py gowalla --data-dir DATA [--steps 50] [--epochs 3]
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field

import numpy as np
import torch

from sparserec.data import Sampler, Split, split_interactions
from sparserec.data.named import resolve
from sparserec.evaluation import evaluate
from sparserec.graph import automatic_width, build_adjacency
from sparserec.recommenders import make_recommender
from sparserec.recommenders.step import Stepper
from sparserec.table import DenseTable, Shape
from textbook import Textbook

RATE, DECAY, LAYERS = 0.01, 1e-4, 3


@dataclass
class Twins:
    """Both implementations, started from one table."""

    split: Split
    dim: int
    batch: int = 8000
    stepper: Stepper = field(init=False)
    textbook: Textbook = field(init=False)
    sampler: Sampler = field(init=False)
    steps: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        train = self.split.train
        recommender = make_recommender("lightgcn", {"layers": LAYERS, "decay": DECAY})
        graph = build_adjacency(train)
        shape = Shape(train.n_users, train.n_items, self.dim, automatic_width(graph.n_nodes, self.dim))
        table = DenseTable.create(shape, recommender.initial(0, train.n_users, train.n_items, self.dim))
        self.stepper = Stepper(recommender, graph, table, 0)
        self.sampler = Sampler(train, self.batch, 0)
        self.textbook = Textbook(
            train.n_users, train.n_items, train.users.astype(np.int64), train.items.astype(np.int64), self.dim, LAYERS,
            lr=RATE, decay=DECAY, init=torch.from_numpy(table.matrix()),
        )  # fmt: skip

    def step(self) -> tuple[float, float]:
        """One update of each; returns both losses."""
        epoch, index = divmod(self.steps, self.sampler.steps_per_epoch)
        batch = self.sampler.batch(epoch, index)
        self.steps += 1
        triple = [
            torch.from_numpy(part.astype(np.int64))
            for part in (batch.users, batch.positives, batch.negatives[:, 0])
        ]
        return self.stepper.run(batch, self.steps, RATE), self.textbook.step(*triple)

    def recalls(self) -> tuple[float, float]:
        """Recall@20 on the test part of both."""
        ours = torch.from_numpy(self.stepper.recommender.outputs(self.stepper.graph, self.stepper.table))
        users, items = self.textbook.vectors()
        theirs = torch.cat([users, items]).detach()
        return self._recall(ours), self._recall(theirs)

    def _recall(self, vectors: torch.Tensor) -> float:
        n_users = self.split.n_users
        found = evaluate(
            lambda ids: vectors[:n_users][torch.from_numpy(ids).long()], vectors[n_users:].contiguous(),
            self.split.train, self.split.test, (self.split.valid,),
        )  # fmt: skip
        return found.metrics["recall@20"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--data-dir")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    twins = Twins(
        split_interactions(resolve(options.data, data_dir=options.data_dir), "resplit", 0), options.dim
    )
    gaps = [abs(a - b) for a, b in (twins.step() for _ in range(options.steps))]
    print(json.dumps({"steps": options.steps, "largest_loss_gap": max(gaps)}), flush=True)
    while twins.steps < options.epochs * twins.sampler.steps_per_epoch:
        twins.step()
    if options.epochs:
        ours, theirs = twins.recalls()
        print(
            json.dumps(
                {"epochs": options.epochs, "ours": ours, "textbook": theirs, "gap": abs(ours - theirs)}
            )
        )


if __name__ == "__main__":
    main()
