"""A process of its own for the queue and the demo: one training from a settings file into a run folder, or the
opening of a finished run's test set."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(*words: str) -> int:
    """`settings folder data_dir threads dense_run`, or `--open folder threads`; the status to exit with."""
    from sparserec.errors import SparserecError

    try:
        open_finished(*words[1:]) if words[0] == "--open" else train(*words)
    except SparserecError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def train(settings_path: str, folder: str, data_dir: str, threads: str, dense_run: str = "") -> None:
    """Train or resume; a run that is finished already is left as it is."""
    from sparserec.process import use_threads
    from sparserec.runs.folder import RunFolder
    from sparserec.runs.train import Input, train_run
    from sparserec.runs.warm_start import open_dense_run
    from sparserec.training import build_config

    use_threads(int(threads) or None)
    run = RunFolder(folder)
    config = build_config(json.loads(Path(settings_path).read_text(encoding="utf-8")), settings_path)
    if not run.done(config):
        start = open_dense_run(Path(dense_run)) if dense_run else None
        source = Input(config.data, data_dir or None)
        train_run(config, run.path, source, start=start, resume=run.begun, quiet=False)


def open_finished(folder: str, threads: str) -> None:
    """Open the test set of a finished run."""
    from sparserec.process import use_threads
    from sparserec.runs.trained import open_later

    use_threads(int(threads) or None)
    open_later(Path(folder))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
