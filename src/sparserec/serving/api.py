"""The two ways to a model: sparserec.fit trains one, sparserec.load opens a run folder or an exported file."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparserec.errors import RunError

if TYPE_CHECKING:
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
    folder: Path | str | None = None,
    metadata: Path | str | None = None,
    data_dir: Path | str | None = None,
    quiet: bool = False,
    **settings: Any,
) -> Model:
    """Train a recommender and return it, measured on a test set that training never saw.

    With `final` it is then trained once more on everything, for as long as validation chose, and that is what answers
    and is shipped; the figures of its record are those of the measured one.

    `data` is a path, the name of a data set, a data frame, an Arrow table, a scipy matrix or pairs of ids. `metadata`
    is a file with ids, titles and tags of the items. The run goes to `folder`; without one it lives as long as the
    model (`save` keeps it). `dim` is 128 and `density` .125 unless given or chosen for a `budget`: the bytes of the
    file to ship, such as "1MB", of mode "items" or "full". A run that cannot fit into memory is refused unless `force`
    is true, and a long factorisation is shortened, as `sparserec train` does. `settings` are those of RunConfig, for
    example `protocol="temporal"`, `recipe="paper"` or `recipe={"batch_size": 2000}`, `read={"min_rating": 4}` or
    `base="lightgcn", base_settings={"layers": 2}`. Without a `base` it is "history", and "lightgcn" where a preset, a
    recipe of graph recommenders or mode "full" needs one with rows for users.
    """
    from sparserec.planning import PlanOptions
    from sparserec.runs import Input, train_run
    from sparserec.serving.model import Model
    from sparserec.training import build_config

    recipe = settings.pop("recipe", {})
    recipe = {"preset": recipe} if isinstance(recipe, str) else dict(recipe)
    chosen = {"dim": dim, "density": density}
    values = {
        "data": str(data) if isinstance(data, str | PathLike) else type(data).__name__,
        **({} if base is None else {"base": base}),
        "method": method,
        "seed": seed,
        "final": final,
        "recipe": recipe if epochs is None else {**recipe, "epochs": epochs},
        **{name: value for name, value in chosen.items() if value is not None},
        **settings,
    }
    config = build_config(values, "sparserec.fit", user_rows=mode == "full")
    options = PlanOptions.of(budget, mode, None, force)
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="sparserec-") if folder is None else None
        target = Path(stack.enter_context(temporary)) / "run" if temporary is not None else Path(folder or "")
        train_run(config, target, Input(data, data_dir, metadata), options, quiet=quiet)
        stack.pop_all()  # from here on the folder lives as long as the model
    return Model(target, temporary)


def load(path: Path | str) -> Model | FileModel:
    """Open a trained run (a folder) or an exported model (a .srec file); both answer the same questions."""
    path = Path(path)
    if not path.exists():
        raise RunError(f"{path}: no such run folder or model file; `sparserec runs` lists runs")
    if path.is_dir():
        from sparserec.serving.model import Model

        return Model(path)
    from sparserec.serving.file_model import FileModel  # which needs no torch

    return FileModel(path)
