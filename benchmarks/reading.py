"""Seconds to read 1M generated interactions from CSV and Parquet."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from measure import benchmark_lock
from sparserec.data import read_source


def main() -> None:
    rng = np.random.default_rng(0)
    table = pa.table({
        "user_id": rng.integers(0, 50_000, 1_000_000),
        "item_id": (rng.random(1_000_000) ** 3 * 30_000).astype(np.int64),
    })  # fmt: skip
    with tempfile.TemporaryDirectory() as name, benchmark_lock():
        folder = Path(name)
        pa.csv.write_csv(table, folder / "log.csv")
        pa.parquet.write_table(table, folder / "log.parquet")
        read_source(folder / "log.parquet")  # libraries load on first use
        seconds = {}
        for file in ("log.csv", "log.parquet"):
            start = time.perf_counter()
            read_source(folder / file)
            seconds[file.split(".")[1]] = time.perf_counter() - start
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
