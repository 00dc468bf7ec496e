"""The resolved configuration of one run: what to train on what, and for how long."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from pydantic import Field, PositiveInt

from sparserec.settings import Settings
from sparserec.training.recipe import Recipe


class RunConfig(Settings):
    """Everything that decides the result of a run. Paths, threads and progress are environment, not configuration."""

    data: str = "world"
    """A named data set or a path."""
    read: dict[str, Any] = Field(default_factory=dict)
    """Options of the reader, such as user_col, item_col, min_rating, core."""
    protocol: Literal["resplit", "public", "public-full", "temporal", "files", "new-users"] = "resplit"
    """How interactions become train, validation and test."""
    split_seed: int = Field(0, ge=0)
    """Seed of the split; the same for runs that are compared."""
    held_out_users: int | None = Field(None, ge=1)
    """Users of whom anything is held out for validation and test, drawn at random; of all others everything is trained
    on. None: all users. Ranking all items for a million users takes longer than an epoch."""
    seed: int = Field(0, ge=0)
    """Seed of initial values, batches and exploration."""
    base: str = "history"
    """Base recommender."""
    base_settings: dict[str, Any] = Field(default_factory=dict)
    method: str = "sparserec"
    """How the parameter budget is spent."""
    method_settings: dict[str, Any] = Field(default_factory=dict)
    dim: int = Field(128, ge=1, le=4096)
    """Columns of the full table."""
    density: float = Field(0.125, gt=0, le=1)
    """Share of the full table that may be kept: the budget."""
    recipe: Recipe = Recipe()
    ks: tuple[PositiveInt, ...] = Field((20,), min_length=1)
    """List lengths of the metrics."""
    open_test: bool = True
    """Measure the finished model on the test set; false for searches, which only validation may decide."""
    test_epochs: tuple[int, ...] = ()
    """Epochs after which the test set is measured too, listed beforehand; marks the run as `test_curve`."""
    checkpoint_every: int = Field(5, ge=1)
    """Epochs between checkpoints."""
    final: bool = False
    """After the measured training, train once more on everything, for as long as validation chose, and ship that."""
    start_from: str | None = None
    """Hash of the model file of the run that this one goes on from; set by a warm start."""
    settled: dict[str, Any] = Field(default_factory=dict, exclude=True)
    """What a run made of all this, written by itself into its `config.json`: every setting of base and method, with
    defaults and what validation chose, and its epochs. It plays no part in what is asked for. Older runs have none."""

    @property
    def score_name(self) -> str:
        """The metric that trainings are compared by."""
        return "ndcg@20" if 20 in self.ks else f"ndcg@{max(self.ks)}"

    def digest(self) -> str:
        """Hash of all settings, to tell whether a checkpoint belongs to them."""
        unused = {
            name for name in ("start_from", "final", "held_out_users") if not getattr(self, name)
        }  # older runs had none of them
        text = json.dumps(self.model_dump(mode="json", exclude=unused), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def differences(old: RunConfig, new: RunConfig, most: int = 4) -> str:
    """What two configurations do not agree on, as `dim 64, now 32`; the first few."""
    before, now = flat_settings(old.model_dump(mode="json")), flat_settings(new.model_dump(mode="json"))
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    shown = [f"{name} {before.get(name)}, now {now.get(name)}" for name in names[:most]]
    return "; ".join(shown) + (f"; and {len(names) - most} more" if len(names) > most else "")


def flat_settings(values: dict[str, Any], above: str = "") -> dict[str, Any]:
    """Settings of groups beside all others, as `recipe.epochs`."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= flat_settings(value, f"{above}{name}.") if isinstance(value, dict) else {above + name: value}
    return found
