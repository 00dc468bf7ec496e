"""sparserec.fit: from interactions in any form to a model, in one call."""

from __future__ import annotations

import tempfile
from os import PathLike
from pathlib import Path
from typing import Any

from sparserec.data import read_item_info, read_source, resolve
from sparserec.data.source import Source
from sparserec.memory import peak_of, resident_bytes
from sparserec.serving.model import Model
from sparserec.training.configure import build_config
from sparserec.training.run import train_run


def fit(
    data: Any,
    *,
    base: str = "lightgcn",
    method: str = "sparserec",
    density: float = 0.125,
    dim: int = 128,
    epochs: int | None = None,
    seed: int = 0,
    folder: Path | str | None = None,
    metadata: Path | str | None = None,
    data_dir: Path | str | None = None,
    quiet: bool = False,
    **settings: Any,
) -> Model:
    """Train a recommender and return it, measured on a test set that training never saw.

    `data` is a path, the name of a data set, a data frame, an Arrow table, a scipy matrix or pairs of ids. `metadata` is a
    file with ids, titles and tags of the items. The run goes to `folder`; without one it lives as long as the model
    (`save` keeps it). `settings` are those of RunConfig, for example `protocol="temporal"`,
    `recipe="paper"` or `recipe={"batch_size": 2000}`, `read={"min_rating": 4}` or `base_settings={"layers": 2}`.
    """
    named = isinstance(data, str | PathLike)
    recipe = settings.pop("recipe", {})
    recipe = {"preset": recipe} if isinstance(recipe, str) else dict(recipe)
    values = {
        "data": str(data) if named else type(data).__name__, "base": base, "method": method, "density": density,
        "dim": dim, "seed": seed, "recipe": recipe if epochs is None else {**recipe, "epochs": epochs}, **settings,
    }  # fmt: skip
    config = build_config(values, "sparserec.fit")
    peaks: dict[str, int] = {}
    baseline = resident_bytes()
    with peak_of(peaks, "read", baseline):
        source: Source = resolve(data, data_dir, **config.read) if named else read_source(data, **config.read)
        if metadata is not None:
            source = source.with_item_info(read_item_info(metadata, source.train.item_ids))
    keep = tempfile.TemporaryDirectory(prefix="sparserec-") if folder is None else None
    target = Path(folder) if folder is not None else Path(keep.name) / "run"  # type: ignore[union-attr]
    train_run(config, target, source=source, quiet=quiet, peaks=peaks, baseline=baseline)
    return Model(target, keep)
