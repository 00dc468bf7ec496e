"""What a search tries: the ranges beside the settings of recipe, base and method, but for what somebody has said."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, get_args

from sparserec.methods import make_method
from sparserec.recommenders import make_recommender
from sparserec.settings import Settings
from sparserec.training import RunConfig, assign


@dataclass(frozen=True)
class Searched:
    """One setting of a search."""

    path: str
    """As `--set` has it, such as recipe.learning_rate."""
    low: float
    high: float
    log: bool
    whole: bool
    """Whether it is a whole number."""
    default: float | None
    """What it is without a search; None where the training itself finds a value."""

    @property
    def starts_at_default(self) -> bool:
        """Whether the first trial has a value for it: else that leaves the setting alone."""
        return self.default is not None and self.low <= self.default <= self.high


def search_space(config: RunConfig, given: Collection[str] = ()) -> tuple[Searched, ...]:
    """The settings that a search of this configuration changes; `given` names those that stand."""
    method = make_method(config.method, config.method_settings).settings
    groups: dict[str, Settings] = {
        "recipe": config.recipe,
        "base_settings": make_recommender(config.base, config.base_settings).settings,
        "method_settings": method,
    }
    unused = {f"recipe.{name}" for name in type(method).model_fields}  # a method's own rate is the one it has
    if config.recipe.final_learning_rate is not None:
        unused.add("recipe.rate_falls_by")
    return tuple(
        one
        for group, settings in groups.items()
        for one in _of_group(group, settings)
        if one.path not in unused and one.path not in given
    )


def with_values(config: RunConfig, values: dict[str, Any]) -> RunConfig:
    """The configuration of a trial: the test set stays closed."""
    settings = config.model_dump(mode="json") | {"open_test": False}
    for path, value in values.items():
        assign(settings, path.split("."), value)
    return RunConfig.parse(settings, "trial")


def _of_group(group: str, settings: Settings) -> list[Searched]:
    found = []
    for name, between in settings.search_ranges().items():
        value = getattr(settings, name)
        if (here := between.around(value)) is not None:
            kind = type(settings).model_fields[name].annotation
            whole = int in (kind, *get_args(kind))
            found.append(Searched(f"{group}.{name}", here.low, here.high, here.log, whole, value))
    return found
