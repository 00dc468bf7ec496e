"""Where a training begins: from nothing, unless a finished run gives it a beginning (runs/start_from.py)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sparserec.data import Interactions, Source, Split, split_interactions
from sparserec.methods import Method, PhaseResult
from sparserec.training.config import RunConfig

Order = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class FirstTraining:
    """What a finished run left of the training that a method would begin with."""

    result: PhaseResult
    model: Path
    """File of its table, read when it is needed."""
    seconds: float
    steps: int
    peak: int  # bytes
    digest: str  # of its configuration


class Start:
    """From nothing. A beginning that a finished run gives changes some of this."""

    factorises: bool = True
    """Whether a factorisation is made for a method that wants one."""
    first_training: FirstTraining | None = None
    """Takes the place of a first training that would be the same."""

    def configure(self, config: RunConfig) -> RunConfig:
        """The configuration to train; one that cannot begin here is refused, before any data is read."""
        return config

    def split(self, source: Source, config: RunConfig) -> tuple[Source, Split]:
        """The split of the data, and the data with a note of what is different about it."""
        split = split_interactions(source, config.protocol, config.split_seed, config.held_out_users)
        return source, split

    def order(self, train: Interactions) -> Order | None:
        """Users and items in the order to number them; None: as is best for this data."""
        return None

    def applied_to(self, method: Method) -> Method:
        """The method, beginning here."""
        return method

    def for_final(self) -> Start:
        """The beginning of the training on everything that follows the measured one."""
        return self


@dataclass(frozen=True)
class Everything(Start):
    """Another beginning, with nothing held out: all that the source holds is trained on."""

    inner: Start

    @property
    def factorises(self) -> bool:  # type: ignore[override]
        return self.inner.factorises

    def split(self, source: Source, config: RunConfig) -> tuple[Source, Split]:
        """Everything is the train part; the other parts are empty, so that nothing can be measured on it."""
        whole = source.merged()
        nothing = whole.select(np.zeros(len(whole), bool))
        return source, Split.of(whole, nothing, nothing, "everything", config.split_seed)

    def order(self, train: Interactions) -> Order | None:
        return self.inner.order(train)

    def applied_to(self, method: Method) -> Method:
        return self.inner.applied_to(method)
