"""sparserec.tune: the same question as sparserec.fit, answered by the best of several trainings."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparserec.extras import extras_named
from sparserec.process import wait_passively
from sparserec.serving.api import config_values, target_folder
from sparserec.serving.frames import Columns, frame_of, html_table

if TYPE_CHECKING:
    from sparserec.serving.model import Model
    from sparserec.tuning import Outcome


@dataclass(frozen=True)
class Tuned:
    """The best model of a search, and all that was tried."""

    model: Model
    """The winner, its test set opened once."""
    outcome: Outcome

    @property
    def settings(self) -> dict[str, Any]:
        """What the winner has that the defaults have not, as `recipe.learning_rate`."""
        return dict(self.outcome.best.settings)

    @property
    def folder(self) -> Path:
        """Where the search lies; the same question with this folder goes on with it."""
        return self.outcome.folder

    def to_frame(self, library: str | None = None) -> Any:
        """A row for every trial, best first: pandas, or the `library` named."""
        return frame_of(self._columns(), library)

    def _columns(self) -> Columns:
        rows = self.outcome.rows()
        return {name: [row[name] for row in rows] for name in rows[0]}

    def _repr_html_(self) -> str:
        return html_table(self._columns(), self.outcome.lines()[0])

    def __repr__(self) -> str:
        best, metric = self.outcome.best, self.outcome.score_name
        return f"Tuned({len(self.outcome.trials)} trials, best {best.number}: {metric} {best.score:.4f})"


def tune(
    data: Any,
    *,
    trials: int | None = None,
    minutes: float | None = None,
    base: str | None = None,
    method: str = "sparserec",
    density: float | None = None,
    dim: int | None = None,
    epochs: int | None = None,
    seed: int = 0,
    budget: str | int | None = None,
    file: bool = True,
    folder: Path | str | None = None,
    metadata: Any = None,
    data_dir: Path | str | None = None,
    threads: int | None = None,
    quiet: bool = False,
    **settings: Any,
) -> Tuned:
    """Search the settings of recipe, base and method, and return the model that is best on validation.

    The first trial has the defaults; ranges stand beside the settings, and what is given here is not searched. All
    trials have the same data, split, dim and density, and the test set stays closed until the winner is known: its own
    is then opened, once. Trials that fall behind the median of the others are pruned. The search ends after `trials`
    (20 unless `minutes` says when no more begin). In a `folder` it can be stopped and goes on when asked the same
    again, in as many processes as ask; without one it lives as long as the model. All else is as in `sparserec.fit`.

    >>> short = {"dim": 8, "epochs": 2, "ks": (5,), "file": False, "quiet": True}
    >>> tuned = sparserec.tune(frame, trials=2, user_col="who", item_col="place", **short)
    >>> tuned
    Tuned(2 trials, best ...: ndcg@5 ...)
    >>> tuned.to_frame()["state"].tolist()
    ['finished', 'finished']
    >>> tuned.model.n_items
    32
    """
    wait_passively()
    with extras_named("sparserec.tune"):
        import optuna  # noqa: F401  (said before any data is read)

        from sparserec.planning import PlanOptions
        from sparserec.runs import Input
        from sparserec.serving.model import Model
        from sparserec.training import build_config, flat_settings
        from sparserec.tuning import Effort, search_settings

    effort = Effort.of(trials, minutes)
    named = {"base": base, "method": method, "seed": seed, "dim": dim, "density": density}
    values = config_values("sparserec.tune", data, named, epochs, settings)
    config = build_config(values, "sparserec.tune")
    options = PlanOptions.of(budget, "items", None, False, threads)
    source = Input(data, data_dir, metadata).read(config.read)
    with ExitStack() as stack:
        target, temporary = target_folder(folder, "search", stack)
        given = set(flat_settings(values))
        outcome = search_settings(config, given, source, target, effort, options, file, quiet)
        stack.pop_all()  # from here on the folder lives as long as the model
    return Tuned(Model(outcome.best_folder, temporary), outcome)
