"""A second model for the same file: XSimGCL is trained on the same split, and its vectors are cut to the same size.

It is the strongest of the graph recommenders here, and takes several times as long to train as base history; so it is
tried only where somebody asks for it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sparserec.export.file import ExportReport
from sparserec.export.ship import ship_run, shipped_text
from sparserec.files import replacing
from sparserec.runs import RunFolder, open_run, train_run
from sparserec.training import RunConfig, build_config

OTHER_BASE = "xsimgcl"
SAME = ("data", "read", "protocol", "split_seed", "held_out_users", "seed", "dim", "ks", "final")
"""Settings that the second training takes from the first."""


def ship_file(folder: Path, budget: int | None, quiet: bool, source: Any = None) -> str | None:
    """Write the run's file, with a `source` the better of two; returns what to say of it, None where there is none."""
    if source is None:
        ship_run(folder, budget, quiet)
    else:
        ship_thoroughly(folder, source, budget, quiet)
    return shipped_text(folder)


def ship_thoroughly(
    folder: Path, source: Any, budget: int | None = None, quiet: bool = True
) -> ExportReport | None:
    """The better of two files on validation: that of the run and that of XSimGCL, trained into a folder inside it.

    `source` is what the run was trained on. The test part stays closed for the second model.
    """
    mine = ship_run(folder, budget, quiet)
    run = RunFolder(folder)
    if mine is None or run.read_config().base == OTHER_BASE:
        return mine
    inside = RunFolder(folder / OTHER_BASE)
    config = other_config(run.read_config())
    if not inside.done(config):
        train_run(config, inside.path, source, resume=inside.begun, quiet=quiet)
    other = ship_run(inside.path, budget, quiet)
    assert other is not None and open_run(inside.path).split.hash == open_run(folder).split.hash
    record, found = run.read_record(), inside.read_record().shipped
    assert record.shipped is not None and found is not None
    scores = {name: one["valid"]["ndcg@20"] for name, one in (("own", record.shipped), (OTHER_BASE, found))}
    record.shipped["other"] = {"base": OTHER_BASE, **found}
    better = scores[OTHER_BASE] > scores["own"]
    if better:
        with replacing(mine.path) as temporary:
            shutil.copyfile(other.path, temporary)
        record.shipped |= {name: found[name] for name in ("bytes", "encoding", "valid")}
        record.shipped["why"] = f"{OTHER_BASE}, {found['why']}"
    record.shipped["what"] += f"; {OTHER_BASE} {scores[OTHER_BASE]:.4f}"
    run.write_record(record)
    return other if better else mine


def other_config(config: RunConfig) -> RunConfig:
    """XSimGCL with all entries, on the same data."""
    values = config.model_dump(mode="json", include=set(SAME), exclude_none=True)
    return build_config({**values, "base": OTHER_BASE, "method": "dense", "open_test": False}, "--thorough")
