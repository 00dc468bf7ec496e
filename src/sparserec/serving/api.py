"""The two ways to a model: sparserec.fit trains one, sparserec.load opens a run folder or an exported file."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparserec.errors import RunError, SettingError
from sparserec.extras import extras_named
from sparserec.process import wait_passively

if TYPE_CHECKING:
    from sparserec.runs import Observer
    from sparserec.serving.file_model import FileModel
    from sparserec.serving.model import Model


def fit(
    data: Any,
    *,
    base: str | None = None,
    method: str = "sparserec",
    density: float | None = None,
    dim: int | None = None,
    epochs: int | None = None,
    seed: int = 0,
    budget: str | int | None = None,
    mode: str = "items",
    final: bool = False,
    force: bool = False,
    file: bool = True,
    thorough: bool = False,
    folder: Path | str | None = None,
    metadata: Any = None,
    data_dir: Path | str | None = None,
    threads: int | None = None,
    observers: Sequence[Observer] = (),
    quiet: bool = False,
    **settings: Any,
) -> Model:
    """Train a recommender and return it, measured on a test set that training never saw.

    With `final` it is then trained once more on everything, for as long as validation chose, and that is what answers
    and is shipped; the figures of its record are those of the measured one.

    It ends in `model.srec` in the run's folder: the file that is best on validation for the `budget`, or for 1 MB, out
    of the trained rows, co-occurrence lists and weights of EASE; the record's `shipped` says what was tried and why.
    Without a budget trying takes at most about as long as the training; `file=False` leaves it out, `thorough=True`
    also trains XSimGCL and takes its vectors where they are better.

    `data` is a path, the name of a data set, a data frame, an Arrow table, a scipy matrix or pairs of ids; `user_col`,
    `item_col` and the other settings of the reader (`time_col`, `min_rating` ..) say what is what in it where names do
    not. `metadata` is a file or a data frame with ids, titles and tags of the items. The run goes to `folder`; without
    one it lives as long as the model (`save` keeps it). `dim` is 128 and `density` .125 unless given or chosen for a
    `budget`: the bytes of the file to ship, such as "1MB", of mode "items" or "full". A run that cannot fit into memory
    is refused unless `force` is true, and a long factorisation is shortened, as `sparserec train` does. `threads` are
    all cores, or one for a small log, unless given. `observers` hear every event of the training: a
    `sparserec.tracking.MLflow()` or `TensorBoard()`, or your own `sparserec.Observer`. `settings` are those of
    RunConfig, for example
    `protocol="temporal"`, `recipe="paper"` or `recipe={"batch_size": 2000}`, or `base="lightgcn",
    base_settings={"layers": 2}`. Without a `base` it is "history", and "lightgcn" where a preset, a recipe of graph
    recommenders or mode "full" needs one with rows for users.

    >>> short = {"dim": 8, "epochs": 2, "ks": (5,), "quiet": True}
    >>> model = sparserec.fit(frame, user_col="who", item_col="place", **short)
    >>> model
    Model(sparserec on history, 48 users, 32 items, 32 parameters, ...)
    >>> "recall@5" in model.evaluate()["float"]
    True
    """
    wait_passively()
    with extras_named("sparserec.fit"):
        from sparserec.export import ship_file
        from sparserec.planning import PlanOptions
        from sparserec.progress import say
        from sparserec.runs import Input, train_run, watching
        from sparserec.serving.model import Model
        from sparserec.training import build_config

    named = {"base": base, "method": method, "seed": seed, "final": final, "dim": dim, "density": density}
    values = config_values("sparserec.fit", data, named, epochs, settings)
    config = build_config(values, "sparserec.fit", user_rows=mode == "full")
    options = PlanOptions.of(budget, mode, None, force, threads)
    with ExitStack() as stack:
        target, temporary = target_folder(folder, "run", stack)
        source = Input(data, data_dir, metadata)
        with watching(observers) as watched:
            train_run(config, target, source, options, quiet=quiet, watched=watched)
            if file and mode == "items":
                say(ship_file(target, options.budget, quiet, source if thorough else None) or "", quiet)
        stack.pop_all()  # from here on the folder lives as long as the model
    return Model(target, temporary)


def target_folder(folder: Path | str | None, name: str, stack: ExitStack) -> tuple[Path, object]:
    """Where a training goes, and a temporary folder that holds it where none is given."""
    if folder is not None:
        return Path(folder), None
    temporary = tempfile.TemporaryDirectory(prefix="sparserec-")
    return Path(stack.enter_context(temporary)) / name, temporary


def config_values(
    where: str, data: Any, named: dict[str, Any], epochs: int | None, settings: dict[str, Any]
) -> dict[str, Any]:
    """What was asked for, as values of RunConfig; what was left open is left out."""
    reading = _reading(where, settings)
    recipe = settings.pop("recipe", {})
    recipe = {"preset": recipe} if isinstance(recipe, str) else recipe
    if epochs is not None and isinstance(recipe, dict):  # anything else is refused later
        recipe = {**recipe, "epochs": epochs}
    return {
        "data": str(data) if isinstance(data, str | PathLike) else type(data).__name__,
        **{name: value for name, value in named.items() if value is not None},
        "recipe": recipe,
        **({"read": reading} if reading else {}),
        **settings,
    }


def _reading(where: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Takes what is for the reader out of the settings: a group `read`, or its settings by their own names.

    Settings of a recipe are told apart from those here, where they would be unknown.
    """
    from sparserec.data import ReadOptions
    from sparserec.training import RunConfig

    for name in settings:
        if (group := RunConfig.group_of(name)) is not None:
            raise SettingError(
                f"{where}: {name} is a setting of the {group}; write {group}={{{name!r}: {settings[name]!r}}}"
            )
    named = [name for name in ReadOptions.model_fields if name in settings]
    return {**settings.pop("read", {}), **{name: settings.pop(name) for name in named}}


def load(path: Path | str) -> Model | FileModel:
    """Open a trained run (a folder) or an exported model (a .srec file); both answer the same questions.

    >>> sparserec.load(model.save(folder / "kept")).n_items
    32
    """
    path = Path(path)
    if not path.exists():
        raise RunError(f"{path}: no such run folder or model file; `sparserec runs` lists runs")
    if path.is_dir():
        wait_passively()
        with extras_named(f"{path}: a run folder"):
            from sparserec.serving.model import Model

            return Model(path)
    from sparserec.serving.file_model import FileModel  # which needs no torch

    return FileModel(path)
