"""A process of its own for the queue and the demo: one training from a settings file into a run folder, or the
opening of a finished run's test set."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(settings_path: str, folder: str, data_dir: str, threads: str, dense_run: str = "") -> int:
    """Train or resume; a run that is finished already is left as it is."""
    from sparserec.errors import SparserecError
    from sparserec.process import use_threads
    from sparserec.runs.folder import RunFolder
    from sparserec.runs.start_from import open_dense_run
    from sparserec.runs.train import Input, train_run
    from sparserec.training import build_config

    use_threads(int(threads) or None)
    run = RunFolder(folder)
    try:
        config = build_config(json.loads(Path(settings_path).read_text(encoding="utf-8")), settings_path)
        if run.done(config):
            return 0
        start = open_dense_run(Path(dense_run)) if dense_run else None
        source = Input(config.data, data_dir or None)
        train_run(config, run.path, source, start=start, resume=run.begun, quiet=False)
    except SparserecError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def open_finished(folder: str, threads: str) -> int:
    """Open the test set of a finished run."""
    from sparserec.errors import SparserecError
    from sparserec.process import use_threads
    from sparserec.runs.measure import open_later

    use_threads(int(threads) or None)
    try:
        open_later(Path(folder))
    except SparserecError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(open_finished(*sys.argv[2:4]) if sys.argv[1] == "--open" else main(*sys.argv[1:6]))
