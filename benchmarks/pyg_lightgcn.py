"""PyTorch Geometric's own LightGCN, trained as its documentation does it; needs an environment of its own (README).

`--mode csr` passes the adjacency as a torch CSR matrix, `--mode edge_index` as a list of edges. The rival is
used as shipped: it normalises the adjacency in every layer of every step.
"""

from __future__ import annotations

import numpy as np
import torch
from torch_geometric.nn import LightGCN

from measure import Batch, Pairs, arguments, run


def edge_list(pairs: Pairs) -> torch.Tensor:
    """Both directions of every pair, items numbered after users; int64 (2, edges)."""
    sources = np.concatenate([pairs.users, pairs.items + pairs.n_users])
    targets = np.concatenate([pairs.items + pairs.n_users, pairs.users])
    return torch.from_numpy(np.stack([sources, targets]))


def csr(edges: torch.Tensor, n_nodes: int) -> torch.Tensor:
    """The (symmetric) adjacency as a torch CSR matrix, which is what PyG calls `adj_t`."""
    ones = torch.ones(edges.shape[1])
    coo = torch.sparse_coo_tensor(edges, ones, (n_nodes, n_nodes), check_invariants=False)
    return coo.coalesce().to_sparse_csr()


def main() -> None:
    """Time steps and print one line of JSON."""
    options = arguments("Time PyTorch Geometric's LightGCN.", modes=("csr", "edge_index"))

    def build(pairs: Pairs):  # type: ignore[no-untyped-def]
        torch.manual_seed(0)
        n_nodes = pairs.n_users + pairs.n_items
        edges = edge_list(pairs)
        adjacency = csr(edges, n_nodes) if options.mode == "csr" else edges
        model = LightGCN(n_nodes, options.dim, options.layers)
        torch.nn.init.normal_(model.embedding.weight, std=0.1)
        optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)

        def step(batch: Batch) -> float:
            users, positives, negatives = batch
            wanted = torch.stack([users.repeat(2), torch.cat([positives, negatives]) + pairs.n_users])
            optimiser.zero_grad()
            liked, other = model(adjacency, wanted).chunk(2)
            loss = model.recommendation_loss(liked, other, node_id=wanted.unique(), lambda_reg=1e-4)
            loss.backward()
            optimiser.step()
            return loss.item()

        return step

    run(f"pyg-{options.mode}", build, options)


if __name__ == "__main__":
    main()
