"""The resolved configuration of one run: what to train on what, and for how long."""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt

from sparserec.errors import SettingError
from sparserec.settings import Settings, Times


class Recipe(Settings):
    epochs: int = Field(30, ge=1)
    """Length of a full training; schedules end here."""
    least_steps: int = Field(0, ge=0)
    """Updates that a training has at least: on a small log batches of edges are smaller, then epochs are more."""
    batch_size: int = Field(8000, ge=1)
    """Train edges per step."""
    batches: Literal["edges", "users"] = "edges"
    """Every train edge once per epoch, or users drawn uniformly."""
    learning_rate: Annotated[float, Times(0.125, 8)] = Field(0.08, gt=0)
    """Learning rate of the first epoch. A search over trainings of tens of epochs chose it (docs/log.md)."""
    final_learning_rate: Annotated[float | None, Times(0.1, 10)] = Field(8e-4, gt=0)
    """Reached in the last epoch; None: use rate_falls_by or rate_decay instead."""
    rate_falls_by: Annotated[float | None, Times(0.25, 8)] = Field(None, ge=1)
    """The last learning rate is the first divided by this, whatever that is; None: use rate_decay instead."""
    rate_fall: Literal["geometric", "linear", "cosine"] = "geometric"
    """Form of the way from the first learning rate to the last."""
    rate_falls: Literal["epochs", "steps"] = "epochs"
    """Whether the learning rate changes between epochs only, or with every step: trainings of few epochs want that."""
    rate_decay: float = Field(1.0, gt=0, le=1)
    """Factor per epoch when final_learning_rate and rate_falls_by are None."""
    rate_floor: float = Field(0.0, ge=0)
    """rate_decay never goes below this."""
    validate_every: int = Field(5, ge=1)
    """Epochs between validations."""
    patience: int = Field(5, ge=1)
    """Validations without a new best that end training."""
    patience_from: float = Field(0.6, ge=0, le=1)
    """Share of the epochs after which patience begins to count."""

    explorations: int = Field(20, ge=1)
    """How often methods that explore do so in one training, spread evenly over its steps whatever its length."""
    explore_every: int | None = Field(None, ge=1)
    """Epochs between explorations, as papers count them, instead of a number of explorations."""
    weight_decay: float = Field(0.0, ge=0)
    """Adam's own (coupled) weight decay on every table entry, the paper's words taken literally; bases decay the rows
    of the batch instead, which base_settings.decay=0 turns off. At the paper's 1e-4 nothing is learnt
    (docs/log.md)."""

    def length(self, steps_per_epoch: int) -> int:
        """Epochs of a full training on data of which an epoch has so many steps."""
        return max(self.epochs, -(-self.least_steps // steps_per_epoch))

    def rate_at(self, step: int, steps_per_epoch: int, epochs: int, first: float | None = None) -> float:
        """Learning rate of an update (0 is the first) in a training of `epochs` that starts at `first`."""
        if self.rate_falls == "epochs":
            return self.rate(step // steps_per_epoch + 1, epochs, first)
        return self.rate(step + 1, epochs * steps_per_epoch, first)

    def rate(self, epoch: int, epochs: int, first: float | None = None) -> float:
        """Learning rate of an epoch (1 is the first) in a training of `epochs` that starts at `first`."""
        first = self.learning_rate if first is None else first
        last = self.final_learning_rate
        if last is None and self.rate_falls_by is not None:
            last = first / self.rate_falls_by
        if last is None:
            return max(first * self.rate_decay ** (epoch - 1), min(first, self.rate_floor))
        last, share = min(first, last), (epoch - 1) / max(epochs - 1, 1)
        if self.rate_fall == "linear":
            return first + (last - first) * share
        if self.rate_fall == "cosine":
            return last + (first - last) * (1 + math.cos(math.pi * share)) / 2
        return float(first * (last / first) ** share)


_PAPER = {
    "epochs": 500, "batch_size": 8000, "learning_rate": 0.01, "final_learning_rate": None, "rate_decay": 0.995,
    "rate_floor": 5e-4, "explore_every": 5,
}  # fmt: skip
_GRAPH = {
    "epochs": 30, "least_steps": 300, "batch_size": 32000, "learning_rate": 0.12, "final_learning_rate": None,
    "rate_falls_by": 4,
}  # fmt: skip
_HISTORY = {
    "epochs": 8, "least_steps": 800, "learning_rate": 0.02, "final_learning_rate": 2e-4, "rate_falls": "steps",
    "validate_every": 1,
}  # fmt: skip
RECIPES: dict[str, dict[str, Any]] = {
    "default": _GRAPH,
    "fall-100": {"least_steps": 300},
    "plain": {"final_learning_rate": None},
    "history": _HISTORY,
    "paper-rate": {"learning_rate": 0.01},
    "paper": _PAPER,
    "paper-yelp-lightgcn": {**_PAPER, "rate_decay": 0.99},
}
"""`default`: large batches, whose steps cost little more than small ones, and a rate that never gets too small to
move anything (docs/log.md). `fall-100`: the default before, batches of 8,000 and a rate that falls by 100; stored
results name it. `plain`: one rate for all epochs, nothing else set; what `config show` prints begins with it.
`paper`: 500 epochs with the stated decays (.99 for LightGCN on Yelp2018), early stopping from epoch 300.
`paper-rate`: its first learning rate in a training of any length. `history`: a softmax over all items learns from an
epoch what takes a pairwise loss tens of them."""
RATE_OF_BASE: dict[str, float] = {"mgdcf": 0.24}
"""First learning rate of the recipe `default` where it is not its own."""
RECIPE_OF_BASE: dict[str, str] = {"history": "history"}
"""The recipe of a base where none is named; of all others it is `default`."""


def default_rate(base: str) -> float:
    """First learning rate of the recipe `default` on a base."""
    return RATE_OF_BASE.get(base, float(RECIPES["default"]["learning_rate"]))


@dataclass
class EarlyStop:
    """Counts validations without a new best once patience has begun."""

    best_score: float | None = None
    best_epoch: int = 0
    waited: int = 0
    parameters: int = 0  # of the best table

    def see(self, epoch: int, score: float, counts: bool, parameters: int = 0) -> bool:
        """Take a validation score; True when it is a new best.

        A best found while the table was still on its way to its budget, from below or above, counts no more once its
        size has changed.
        """
        if self.best_score is None or score > self.best_score or parameters != self.parameters:
            self.best_score, self.best_epoch, self.waited, self.parameters = score, epoch, 0, parameters
            return True
        if counts:
            self.waited += 1
        return False


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


# From words to a RunConfig: a TOML file, then options, then assignments key=value, later ones winning.

GRAPH_BASE = "lightgcn"
LIKE: dict[str, dict[str, Any]] = {"paper": {"base": "lightgcn", "method": "sparserec", "density": 0.125}}


def read_toml(path: Path) -> dict[str, Any]:
    """Values of a TOML file; a mistake names the file and the place."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingError(f"{path}: no such configuration file") from None
    except OSError as error:
        raise SettingError(f"{path}: cannot be read as a configuration file ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{path}: not valid TOML: {error}") from None


def parse_assignment(text: str) -> tuple[list[str], Any]:
    """`recipe.epochs=50` as (["recipe", "epochs"], 50); values are JSON where they parse as such, else text."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise SettingError(f"setting {text!r}: write it as key=value, for example recipe.epochs=50")
    try:
        return key.split("."), json.loads(value)
    except json.JSONDecodeError:
        return key.split("."), value


def assign(values: dict[str, Any], path: list[str], value: Any) -> None:
    """Set a nested value, making tables on the way."""
    for name in path[:-1]:
        below = values.setdefault(name, {})
        if not isinstance(below, dict):
            raise SettingError(f"{'.'.join(path)}: {name!r} is a value, not a group of settings")
        values = below
    values[path[-1]] = value


def expand_base(values: dict[str, Any], user_rows: bool = False) -> dict[str, Any]:
    """Without a base it is `history`; LightGCN where something is named that graph recommenders alone have.

    That is a preset, one of their recipes, or `user_rows`: a file that is to hold rows of users.
    """
    if values.get("base") is not None:
        return values
    recipe = values.get("recipe", {})
    named = recipe if isinstance(recipe, str) else recipe.get("preset")
    graph = user_rows or "preset" in values or named not in {None, *RECIPE_OF_BASE.values()}
    return {**values, "base": GRAPH_BASE if graph else RunConfig.model_fields["base"].default}


def expand_recipe(values: dict[str, Any]) -> dict[str, Any]:
    """`recipe = "paper"` and `recipe.preset` name a stored recipe; other recipe settings change it.

    Who says how many epochs, or how large batches of edges, gets that: a recipe's least number of steps is for those
    who do not.
    """
    recipe = values.get("recipe", {})
    recipe = {"preset": recipe} if isinstance(recipe, str) else dict(recipe)
    preset = recipe.pop("preset", RECIPE_OF_BASE.get(values["base"], "default"))
    if preset not in RECIPES:
        raise SettingError(f"unknown recipe {preset!r}; known: {', '.join(RECIPES)}")
    shortened = "epochs" in recipe or ("batch_size" in recipe and preset not in RECIPE_OF_BASE.values())
    stored = {**RECIPES[preset], **({"least_steps": 0} if shortened else {})}
    if preset == "default":
        stored["learning_rate"] = default_rate(values["base"])
    return {**values, "recipe": {**stored, **recipe}}


def expand_like(values: dict[str, Any]) -> dict[str, Any]:
    """`like = "paper"` is the whole configuration of SparseRec's authors in one word; what is given beside it wins.

    Settings that they chose for a data set are taken on that set, those for Gowalla on all others. A base that is not
    theirs keeps its own settings and recipe: method and density are all that can be like theirs.
    """
    values = dict(values)
    name = values.pop("like")
    if name not in LIKE:
        raise SettingError(f"like {name!r}: unknown; known: {', '.join(LIKE)}")
    from sparserec.recommenders import PRESETS

    merged = merge(LIKE[name], values)
    own, theirs = f"{name}-{merged.get('data')}", PRESETS.get(merged["base"], {})
    preset = own if own in theirs else f"{name}-gowalla"
    return {"preset": preset, **merged} if preset in theirs else merged


def expand_preset(values: dict[str, Any]) -> dict[str, Any]:
    """`preset` names published settings of the base recommender; what is given beside it wins."""
    values = dict(values)
    name, base = values.pop("preset"), values["base"]
    from sparserec.recommenders import PRESETS

    known = PRESETS.get(base, {})
    if name not in known:
        raise SettingError(f"unknown preset {name!r} of {base}; known: {', '.join(known) or 'none'}")
    return merge(known[name], values)


def merge(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Settings with others on top; groups of settings are merged, not replaced, a recipe named by a text included."""
    merged = dict(under)
    if isinstance(merged.get("recipe"), str) and isinstance(over.get("recipe"), dict):
        merged["recipe"] = {"preset": merged["recipe"]}
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if both else value
    return merged


def build_config(values: dict[str, Any], where: str = "settings", user_rows: bool = False) -> RunConfig:
    """Check everything that can be checked before data is read; `user_rows`: a file with rows of users is wanted."""
    from sparserec.methods import make_method  # torch: a finished run is listed without it
    from sparserec.recommenders import make_recommender

    recipe = values.get("recipe", {})
    if not isinstance(recipe, str | dict):
        raise SettingError(
            f"{where}: recipe is {recipe!r}; name one ({', '.join(RECIPES)}) or set its parts (recipe.epochs=50)"
        )
    names = {name: values.get(name) for name in ("like", "preset", "base", "method")}
    if isinstance(recipe, dict):
        names["recipe.preset"] = recipe.get("preset")
    for name, value in names.items():  # they must be texts before they can be looked up
        if value is not None and not isinstance(value, str):
            raise SettingError(f"{where}: {name} is {value!r}, which is no name")
    left_out = {"settled", *(name for name in ("like", "preset") if values.get(name) is None)}
    values = {name: value for name, value in values.items() if name not in left_out}  # settled: a run's own
    values = expand_base(expand_like(values) if "like" in values else values, user_rows)
    values = expand_preset(values) if "preset" in values else values
    config = RunConfig.parse(expand_recipe(values), where)
    make_recommender(config.base, config.base_settings)
    if make_method(config.method, config.method_settings).needs_validation and config.final:
        raise SettingError(
            f"{where}: `final` trains on everything, and {config.method} chooses its table by validation scores, of "
            "which there are none then; leave `final` out"
        )
    return config


def resolve_config(
    file: Path | None,
    options: dict[str, Any],
    assignments: list[str],
    inherited: dict[str, Any] | None = None,
    user_rows: bool = False,
) -> RunConfig:
    """The resolved configuration of a command; `inherited` are settings of a run it goes on from.

    `user_rows`: a file that holds rows of users is wanted.
    """
    values = said_values(file, options, assignments, inherited)
    return build_config(values, str(file) if file else "command line", user_rows)


def said_values(
    file: Path | None, options: dict[str, Any], assignments: list[str], under: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What a command was given of the settings, and nothing else."""
    values = (under or {}) | (read_toml(file) if file else {})
    for name, value in options.items():
        if value is not None:
            assign(values, name.split("."), value)
    for text in assignments:
        assign(values, *parse_assignment(text))
    return values
