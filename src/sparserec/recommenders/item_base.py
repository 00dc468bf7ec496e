"""Bases whose users are the items they have: item rows are the only parameters, and everybody is folded in.

    u = |H|^-1/2 * sum_{i in H} degree_i^-item_exponent z_i,   score of j = degree_j^length_exponent u . z_j,   |z| = 1

for trained and for new users alike. A subclass gives initial values and a stepper, which is handed batches of users.
"""

from __future__ import annotations

import numpy as np

from sparserec.data import Interactions, UserSampler
from sparserec.device import FoldInWeights
from sparserec.graph import Adjacency, Tap, build_histories
from sparserec.recommenders.base import Batches, Drawn, Recommender, StepSizes
from sparserec.recommenders.fold_in import Vectors, scaled_rows, user_history
from sparserec.table import InitialValues, Ledger, Table


class ItemBase(Recommender):
    """What all bases without rows for users have in common."""

    taps: tuple[Tap, ...] = ((1.0,),)
    user_rows = False
    draws_edges = False
    item_exponent = 0.5
    """Weight of an item in a history: its number of users to minus this."""
    length_exponent = 0.0
    """Length of an item's vector: its number of users to this power."""

    @property
    def fold_in_weights(self) -> FoldInWeights:
        """Vectors are as long as they are, so what an item weighs takes that off again."""
        return FoldInWeights(exponent=self.item_exponent + self.length_exponent)

    def initial(self, seed: int, n_users: int, n_items: int, dim: int) -> InitialValues:
        """Rows of length about 1."""
        return InitialValues(seed, "normal", dim**-0.5, dim**-0.5)

    def users_per_batch(self, n_users: int) -> int:
        """Users of a training step where there are so many of them."""
        return min(256, max(32, n_users // 40))

    def graph(self, train: Interactions) -> Adjacency:
        """Users read from the items they have."""
        return build_histories(train, self.item_exponent, self.length_exponent)

    def sampler(self, train: Interactions, batch_size: int, batches: Drawn, seed: int) -> Batches:
        """Batches of users, whatever the recipe says of edges."""
        return UserSampler(train, self.users_per_batch(train.n_users), seed)

    def vectors(self, graph: Adjacency, table: Table) -> Vectors:
        items = scaled_rows(table, graph)
        return Vectors(user_history(graph) @ items, items, (items,), graph)

    def outputs(self, graph: Adjacency, table: Table) -> np.ndarray:
        vectors = self.vectors(graph, table)
        return np.concatenate([vectors.users, vectors.items])

    # -- what it costs -------------------------------------------------------------------------------------------

    def steps_per_epoch(self, sizes: StepSizes) -> int:
        return -(-sizes.active_users // self.users_per_batch(sizes.users))

    def graph_bytes(self, sizes: StepSizes) -> int:
        """int32 offsets and neighbours, float32 weights, in one direction."""
        return 8 * sizes.train + 4 * (sizes.nodes + 1)

    def step_bytes(self, sizes: StepSizes) -> Ledger:
        """Vectors of a batch's users and of all items, with their gradients and one matrix of scores."""
        users, items = min(self.users_per_batch(sizes.users), sizes.active_users), sizes.items
        return {"scratch": 0, "rows": 4 * sizes.dim * (2 * users + 3 * items), "loss": 4 * users * items}
