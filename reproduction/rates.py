"""First learning rates: written down, borrowed, or chosen by a search; and the searches that are still to be made.

A variant is searched once on every base: Gowalla, density .125, 10 epochs, by halving (`sparserec.experiments.Search`).
Only the winner of a search has its test set opened, and is recorded, under the name of the search and its rate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from reproduction.grid import read_grid, settings_of, stored_rate, variant_of
from reproduction.recorded import WINNER, Found, identity
from sparserec.errors import SettingError
from sparserec.experiments import QueuedRun, QueueFile, Search, unfold, validation_scores
from sparserec.training import RunConfig, build_config, merge

RATES = (0.03, 0.06, 0.12, 0.24)
"""Where a search begins; it goes on while the smallest or largest is best."""
SHORT_EPOCHS, FINISH = 3, 2
"""Two are trained in full: in three epochs larger rates look better than they are in ten (docs/log.md)."""
DATA, DENSITY, SEED = "gowalla", 0.125, 0


@dataclass(frozen=True)
class Chosen:
    """A first learning rate, None before its search, and where it comes from."""

    rate: float | None
    source: str
    search: tuple[str, str]
    """Base and variant of the search that decides it."""


class Rates:
    """The rates known by what is written down and recorded."""

    def __init__(self, recorded: Iterable[Found]) -> None:
        self.known: dict[tuple[str, str], Chosen] = {}
        self.searched: dict[str, Found] = {}
        for found in recorded:
            key = _without_rate(found.config)
            if not WINNER.match(found.name):  # trained at a rate that nobody compared with others
                continue
            if key not in self.searched or found.validation > self.searched[key].validation:
                self.searched[key] = found

    def of(self, base: str, variant: str) -> Chosen:
        """The rate of a variant on a base."""
        if (base, variant) not in self.known:
            self.known[base, variant] = self._look_up(base, variant)
        return self.known[base, variant]

    def _look_up(self, base: str, variant: str) -> Chosen:
        stored = stored_rate(base, variant)
        if stored is not None and stored.like is not None:
            like = self.of(base, stored.like)
            return Chosen(like.rate, f"that of {stored.like}, not searched", like.search)
        if stored is not None:
            return Chosen(stored.rate, f"searched: {stored.searched}", (base, variant))
        config = search_config(base, variant)
        found = None if config is None else self.searched.get(_without_rate(config))
        if found is None:
            return Chosen(None, "not searched yet", (base, variant))
        return Chosen(found.config.recipe.learning_rate, f"recorded: {found.name}", (base, variant))


def _without_rate(config: RunConfig) -> str:
    """Identity of a training whatever its first learning rate."""
    recipe = config.recipe.model_copy(update={"learning_rate": 1.0})
    return identity(config.model_copy(update={"recipe": recipe}))


def search_config(base: str, variant: str) -> RunConfig | None:
    """The training that is searched; None where base or method are not in this version."""
    values = settings_of(read_grid("table1"), variant_of(variant), (DATA, base, DENSITY, SEED))
    try:
        return build_config(values)
    except SettingError:
        return None


def search_name(base: str, variant: str, config: RunConfig) -> str:
    """Name of a search; it ends in the beginning of its identity, as settings may change."""
    return f"search-{base}-{variant}-{_without_rate(config)[:6]}"


def search_runs(
    file: QueueFile, searches: dict[tuple[str, str], int], failed: Collection[str]
) -> list[QueuedRun]:
    """Runs of searches, by base and variant with their priority, as far as they are known now."""
    scores = validation_scores(file.results) | dict.fromkeys(failed)
    runs = []
    for (base, variant), priority in searches.items():
        config = search_config(base, variant)
        if config is None:
            continue
        search = Search(search_name(base, variant, config), RATES, SHORT_EPOCHS, FINISH)
        settings = config.model_dump(mode="json")
        for step in unfold(search, scores):
            entry = merge(settings, {"name": step.name, "priority": priority, **step.changes})
            runs.append(file.run(entry, step.opens))
    return runs
