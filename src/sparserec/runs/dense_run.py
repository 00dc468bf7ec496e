"""A finished run of method `dense` in the place of a method's own first training.

magnitude and lottery begin with the training that `dense` is, at any density: one run of it serves all of them. What
it cost (seconds, steps, memory) is counted as if it had been trained again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sparserec.errors import RunError, SettingError
from sparserec.methods import PhaseResult, make_method
from sparserec.runs.folder import reopen
from sparserec.training.config import RunConfig
from sparserec.training.configure import differences
from sparserec.training.loop import FirstTraining

MAY_DIFFER = {"method", "method_settings", "density", "open_test", "test_epochs", "checkpoint_every"}
"""Settings that do not change what a dense training gives."""


@dataclass(frozen=True)
class DenseRun:
    """What a method takes over from a finished dense run."""

    config: RunConfig
    training: FirstTraining
    peak: int  # bytes
    split: str  # hash

    def check_config(self, config: RunConfig) -> None:
        """Refuse a run that is not what the method would have trained itself."""
        if not make_method(config.method, config.method_settings).begins_dense:
            raise SettingError(
                f"--dense-run: {config.method} does not begin with a dense training; leave the option out"
            )
        same = config.model_copy(update={name: getattr(self.config, name) for name in MAY_DIFFER})
        if same.digest() != self.config.digest():
            raise SettingError(f"--dense-run: that run has other settings ({differences(self.config, same)})")

    def check_split(self, split: str) -> None:
        """Refuse a run on other data under the same name."""
        if split != self.split:
            raise SettingError("--dense-run: that run was trained on other data, or on another split of it")


def open_dense_run(folder: Path) -> DenseRun:
    """A finished run of method `dense`."""
    folder = Path(folder)
    try:
        run = reopen(folder)
    except RunError as error:
        raise RunError(f"--dense-run {error}; give a finished run, `sparserec runs` lists them") from None
    if run.config.method != "dense":
        raise SettingError(f"--dense-run {folder}: holds method {run.config.method}, not dense")
    record = run.record
    training = FirstTraining(
        PhaseResult(**record["epochs"][0]),
        folder / "model.safetensors",
        record["seconds"]["train"],
        record["steps"],
        run.config.digest(),
    )
    return DenseRun(run.config, training, record["memory"]["peak"]["train"], record["split"]["hash"])
