"""Read, plan, train: the one way from data to a run, for `sparserec train` and `sparserec.fit` alike."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from sparserec.data import Source, read_item_info, read_source, resolve
from sparserec.memory import peak_of, resident_bytes, return_large_blocks
from sparserec.planning.plan import Wishes, plan_run
from sparserec.training.config import RunConfig
from sparserec.training.dense_run import DenseRun
from sparserec.training.records import say
from sparserec.training.run import Finished, train_run
from sparserec.training.warm_start import WarmStart


@dataclass(frozen=True, eq=False)
class Input:
    """Where interactions come from."""

    data: Any
    """A path, the name of a data set, or interactions in memory."""
    data_dir: Path | str | None = None
    metadata: Path | str | None = None
    """A file with ids, titles and tags of the items."""

    def read(self, options: dict[str, Any]) -> Source:
        """The interactions, with names for the items where there are any."""
        named = isinstance(self.data, str | PathLike)
        source = resolve(self.data, self.data_dir, **options) if named else read_source(self.data, **options)
        if self.metadata is None:
            return source
        return source.with_item_info(read_item_info(self.metadata, source.train.item_ids))


def plan_and_train(
    config: RunConfig,
    given: Input,
    wishes: Wishes,
    folder: Path | None = None,
    resume: bool = False,
    quiet: bool = False,
    warm: WarmStart | None = None,
    dense_run: DenseRun | None = None,
) -> Finished:
    """Read the data, settle what depends on its size, train into `folder` or one named after the configuration."""
    return_large_blocks()  # before reading, so that what was read can be given back to the system
    peaks: dict[str, int] = {}
    baseline = resident_bytes()
    with peak_of(peaks, "read", baseline):
        source = given.read(config.read)
    plan = plan_run(config, source, wishes, factorises=warm is None)
    say("\n".join(plan.said), quiet or not plan.said)
    config = plan.config if warm is None else warm.configure(plan.config)
    handed_over = [source]
    del source  # training gives the source back once it is split, which a name here would prevent
    return train_run(
        config, folder or _folder(config), handed_over.pop(), resume=resume, quiet=quiet, warm=warm, peaks=peaks,
        baseline=baseline, dense_run=dense_run,
    )  # fmt: skip


def _folder(config: RunConfig) -> Path:
    return Path("runs") / f"{Path(config.data).stem}-{config.method}-{config.digest()[:8]}"
