"""MGDCF and XSimGCL as they are usually written in PyTorch: what our steps are measured against.

COO adjacency, one `torch.sparse.mm` per layer over all columns, autograd, dense Adam, published settings. Nothing is
slow on purpose and nothing is tuned; only MGDCF's 300 negatives per edge are gathered some edges at a time, because all
at once would take gigabytes.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from measure import Batch, Pairs, arguments, run
from textbook import normalised_adjacency

EDGES_AT_ONCE = 500


class PlainMGDCF(nn.Module):
    """Diffusion with entry and output dropout, 300 fresh negatives per edge, L2 on all outputs; Gowalla's settings."""

    def __init__(
        self,
        pairs: Pairs,
        dim: int,
        layers: int = 4,
        restart: float = 0.1,
        hop: float = 0.9,
        entry_dropout: float = 0.45,
        output_dropout: float = 0.3,
        negatives: int = 300,
        decay: float = 1e-4,
        lr: float = 1e-2,
    ) -> None:
        super().__init__()
        self.pairs, self.layers, self.restart, self.hop = pairs, layers, restart, hop
        self.entry_dropout, self.output_dropout = entry_dropout, output_dropout
        self.negatives, self.decay = negatives, decay
        self.adjacency = normalised_adjacency(pairs.users, pairs.items, pairs.n_users, pairs.n_items)
        self.table = nn.Parameter(torch.randn(pairs.n_users + pairs.n_items, dim) / dim**0.5)
        self.optimiser = torch.optim.Adam([self.table], lr=lr)

    def forward(self) -> torch.Tensor:
        """Output vectors of all nodes, dropout included."""
        start = functional.dropout(self.table, self.entry_dropout)
        state = start
        for _ in range(self.layers):
            state = self.hop * torch.sparse.mm(self.adjacency, state) + self.restart * start
        weight = self.hop**self.layers + self.restart * sum(self.hop**k for k in range(self.layers))
        return functional.dropout(state / weight, self.output_dropout)

    def step(self, users: torch.Tensor, positives: torch.Tensor) -> float:
        """One Adam step on a batch of edges; returns the mean loss."""
        outputs = self()
        leaf = outputs.detach().requires_grad_()
        total = 0.0
        for some_users, some_items in zip(users.split(EDGES_AT_ONCE), positives.split(EDGES_AT_ONCE)):
            drawn = torch.randint(self.pairs.n_items, (len(some_users), self.negatives))
            items = self.pairs.n_users + torch.cat([some_items[:, None], drawn], dim=1)
            scores = torch.einsum("ed,end->en", leaf[some_users], leaf[items])
            loss = functional.cross_entropy(
                scores, torch.zeros(len(items), dtype=torch.long), reduction="sum"
            )
            loss.backward()
            total += loss.item()
        decay = self.decay / 2 * leaf.square().sum()
        decay.backward()
        self.optimiser.zero_grad()
        outputs.backward(leaf.grad)
        self.optimiser.step()
        return (total + decay.item()) / len(users)


class PlainXSimGCL(nn.Module):
    """Noise in every layer, BPR, and InfoNCE between the output and the first layer; Yelp2018's settings."""

    def __init__(
        self,
        pairs: Pairs,
        dim: int,
        layers: int = 3,
        noise: float = 0.2,
        temperature: float = 0.15,
        contrast: float = 0.2,
        decay: float = 1e-4,
        lr: float = 1e-3,
    ) -> None:
        super().__init__()
        self.pairs, self.layers, self.noise = pairs, layers, noise
        self.temperature, self.contrast, self.decay = temperature, contrast, decay
        self.adjacency = normalised_adjacency(pairs.users, pairs.items, pairs.n_users, pairs.n_items)
        tables = [
            nn.init.xavier_uniform_(torch.empty(count, dim)) for count in (pairs.n_users, pairs.n_items)
        ]
        self.table = nn.Parameter(torch.cat(tables))
        self.optimiser = torch.optim.Adam([self.table], lr=lr)

    def forward(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Output of all nodes, and their first layer."""
        state, every = self.table, []
        for _ in range(self.layers):
            state = torch.sparse.mm(self.adjacency, state)
            state = (
                state + torch.sign(state) * functional.normalize(torch.rand_like(state), dim=-1) * self.noise
            )
            every.append(state)
        return torch.stack(every, dim=1).mean(dim=1), every[0]

    def _info_nce(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        scores = functional.normalize(left, dim=1) @ functional.normalize(right, dim=1).T / self.temperature
        return -functional.log_softmax(scores, dim=1).diagonal().mean()

    def step(self, users: torch.Tensor, positives: torch.Tensor, negatives: torch.Tensor) -> float:
        """One Adam step on a batch of triples; returns the loss."""
        outputs, first_layer = self()
        positives, negatives = positives + self.pairs.n_users, negatives + self.pairs.n_users
        user, liked, other = outputs[users], outputs[positives], outputs[negatives]
        loss = -torch.log(1e-5 + torch.sigmoid((user * liked).sum(1) - (user * other).sum(1))).mean()
        loss = loss + self.decay * (user.norm() + liked.norm()) / len(users)
        for nodes in (users.unique(), positives.unique()):
            loss = loss + self.contrast * self._info_nce(outputs[nodes], first_layer[nodes])
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        return loss.item()


def main() -> None:
    """Time steps and print one line of JSON."""
    options = arguments("Time MGDCF or XSimGCL in plain PyTorch.", bases=("mgdcf", "xsimgcl"))

    def build(pairs: Pairs):  # type: ignore[no-untyped-def]
        torch.manual_seed(0)
        if options.base == "mgdcf":
            mgdcf = PlainMGDCF(pairs, options.dim, options.layers)
            return lambda batch: mgdcf.step(batch[0], batch[1])
        xsimgcl = PlainXSimGCL(pairs, options.dim, options.layers)

        def step(batch: Batch) -> float:
            return xsimgcl.step(*batch)

        return step

    run(f"plain-{options.base}", build, options)


if __name__ == "__main__":
    main()
