"""history: a user is the items they have. Item vectors are the only parameters, and users have no rows.

    u = |H|^-1/2 * sum_{i in H} degree_i^-e z_i,   score of j = degree_j^l u . z_j / temperature,   |z_j| = 1
    loss = mean over users, weighted |H|^w, of the mean over i in H of -log softmax_j(score)_i

over all items j, where the score of an item of H leaves its own share out: an item must be found from the others. The
same formula makes the vector of a user who was not trained. It stands between EASE (Steck, WWW 2019) and ELSA (Vancura
et al., RecSys 2022), which are linear models of the same kind with a squared loss; the softmax over all items and the
exponent of the weights are what made it better here (docs/log.md).
"""

from __future__ import annotations

from functools import partial
from typing import Self

from sparserec.data import Interactions, Split
from sparserec.graph import Adjacency
from sparserec.recommenders.base import Decide, MoreSteps, Recommender, Steps, StepSizes, Tried
from sparserec.recommenders.history.more_steps import MoreHistorySteps
from sparserec.recommenders.history.settings import HistorySettings
from sparserec.recommenders.history.step import HistoryStepper, step_bytes
from sparserec.recommenders.history.temperature import choose_length, choose_temperature
from sparserec.recommenders.item_base import ItemBase
from sparserec.table import CHUNKS, Ledger, Table


class History(ItemBase):
    name = "history"
    settings_kind = HistorySettings
    idea = "a user is the items they have, softmax over all items"
    paper = "after RecSys 2022 (ELSA)"
    learns_codes = True

    def __init__(self, settings: HistorySettings) -> None:
        self.settings: HistorySettings = settings
        self.item_exponent = settings.item_exponent
        self.length_exponent = settings.length_exponent or 0.0

    def changed(self, **settings: float) -> Self:
        """The same with other settings."""
        return type(self)(self.settings.model_copy(update=settings))

    def users_per_batch(self, n_users: int) -> int:
        return self.settings.batch_of(n_users)

    def stepper(self, graph: Adjacency, table: Table, seed: int, weight_decay: float = 0.0) -> Steps:
        return HistoryStepper(self.settings, graph, table, seed, weight_decay)

    def choose(self, split: Split, seed: int, decide: Decide, quiet: bool) -> tuple[Recommender, Tried]:
        """Temperature and lengths by short trainings, where there is a validation part and no temperature is given."""
        tried: Tried = {}
        if self.settings.temperature or not len(split.valid):
            return self, tried
        made = self
        for setting, choose in (("temperature", choose_temperature), ("length_exponent", choose_length)):
            if getattr(made.settings, setting) is None:
                scores = tried[setting] = decide(partial(choose, made, split, seed, quiet))
                made = made.changed(**{setting: float(max(scores, key=lambda name: scores[name]))})
        return made, tried

    def more_steps(self, graph: Adjacency, train: Interactions, steps: int) -> MoreSteps:
        return MoreHistorySteps(self.settings, graph, train, steps)

    def step_bytes(self, sizes: StepSizes) -> Ledger:
        users = min(self.users_per_batch(sizes.users), sizes.active_users)
        rows = sizes.items if sizes.entries is not None else -(-sizes.items // sizes.processes)
        return step_bytes(users, rows, sizes.dim, sizes.entries, -(-CHUNKS // sizes.processes))
