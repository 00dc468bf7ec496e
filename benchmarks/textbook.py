"""LightGCN as it is usually written in PyTorch: the rival that our step is measured and checked against.

COO adjacency with int64 indices, one `torch.sparse.mm` per layer over all columns, all layers stacked and
averaged, autograd through everything, dense Adam. Nothing here is slow on purpose, and nothing is tuned.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from measure import Batch, Pairs, arguments, run


def normalised_adjacency(users: np.ndarray, items: np.ndarray, n_users: int, n_items: int) -> torch.Tensor:
    """Symmetric (users + items)^2 COO matrix with 1/sqrt(degree * degree) at every train pair, both ways."""
    rows = torch.from_numpy(np.concatenate([users, items + n_users]).astype(np.int64))
    columns = torch.from_numpy(np.concatenate([items + n_users, users]).astype(np.int64))
    n_nodes = n_users + n_items
    degree = torch.bincount(rows, minlength=n_nodes).float()
    scale = torch.where(degree > 0, degree.rsqrt(), torch.zeros(()))
    values = scale[rows] * scale[columns]
    places = torch.stack([rows, columns])
    return torch.sparse_coo_tensor(places, values, (n_nodes, n_nodes), check_invariants=False).coalesce()


class Textbook(nn.Module):
    """The model, its optimiser and one training step; `init` is the first table, users before items."""

    def __init__(
        self,
        n_users: int,
        n_items: int,
        users: np.ndarray,
        items: np.ndarray,
        dim: int,
        layers: int,
        lr: float,
        decay: float,
        init: torch.Tensor | None = None,  # (n_users + n_items, dim)
    ) -> None:
        super().__init__()
        self.n_users, self.n_items, self.layers, self.decay = n_users, n_items, layers, decay
        self.adjacency = normalised_adjacency(users, items, n_users, n_items)
        self.user_embedding = nn.Embedding(n_users, dim)
        self.item_embedding = nn.Embedding(n_items, dim)
        with torch.no_grad():
            if init is None:
                nn.init.normal_(self.user_embedding.weight, std=0.1)
                nn.init.normal_(self.item_embedding.weight, std=0.1)
            else:
                self.user_embedding.weight.copy_(init[:n_users])
                self.item_embedding.weight.copy_(init[n_users:])
        self.optimiser = torch.optim.Adam(self.parameters(), lr=lr)

    def forward(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Propagated vectors of all users and all items."""
        hidden = torch.cat([self.user_embedding.weight, self.item_embedding.weight])
        every_layer = [hidden]
        for _ in range(self.layers):
            hidden = torch.sparse.mm(self.adjacency, hidden)
            every_layer.append(hidden)
        mean = torch.stack(every_layer, dim=1).mean(dim=1)
        user_vectors, item_vectors = torch.split(mean, [self.n_users, self.n_items])
        return user_vectors, item_vectors

    def loss(self, users: torch.Tensor, positives: torch.Tensor, negatives: torch.Tensor) -> torch.Tensor:
        """BPR plus `decay` times half the squared layer-0 rows of the batch, divided by its size."""
        user_vectors, item_vectors = self()
        mine, liked, other = user_vectors[users], item_vectors[positives], item_vectors[negatives]
        bpr = functional.softplus((mine * other).sum(dim=1) - (mine * liked).sum(dim=1)).mean()
        rows = (self.user_embedding(users), self.item_embedding(positives), self.item_embedding(negatives))
        squares = torch.stack([row.pow(2).sum() for row in rows]).sum()
        return bpr + self.decay * squares / 2 / len(users)

    def step(self, users: torch.Tensor, positives: torch.Tensor, negatives: torch.Tensor) -> float:
        """One Adam step on int64 triples; returns the whole loss, decay included, before the update."""
        loss = self.loss(users, positives, negatives)
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        return loss.item()

    @torch.no_grad()
    def vectors(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Propagated (user vectors, item vectors) for scoring."""
        return self()


def main() -> None:
    """Time steps and print one line of JSON."""
    options = arguments("Time the textbook LightGCN.")

    def build(pairs: Pairs):  # type: ignore[no-untyped-def]
        torch.manual_seed(0)
        model = Textbook(
            pairs.n_users,
            pairs.n_items,
            pairs.users,
            pairs.items,
            options.dim,
            options.layers,
            lr=1e-3,
            decay=1e-4,
        )

        def step(batch: Batch) -> float:
            return model.step(*batch)

        return step

    run("textbook", build, options)


if __name__ == "__main__":
    main()
