"""A finished run read back from its folder; the data set itself is not needed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sparserec.data import Split
from sparserec.errors import RunError
from sparserec.graph import Adjacency
from sparserec.recommenders import Recommender, graph_of, make_recommender
from sparserec.runs.folder import RunFolder
from sparserec.runs.record import Record
from sparserec.runs.stored_split import load_split
from sparserec.table import Table
from sparserec.training import RunConfig, load_table


@dataclass(frozen=True)
class Trained:
    """Everything that scoring, exporting or continuing needs."""

    folder: RunFolder
    config: RunConfig
    split: Split
    graph: Adjacency
    recommender: Recommender
    table: Table
    record: Record


def open_final(path: Path) -> Trained | None:
    """The same model trained on everything, where a run has one; it has no figures of its own."""
    final = RunFolder(path).final
    return open_run(final.path) if final.finished else None


def open_run(path: Path) -> Trained:
    """A finished run, its parts checked to belong together; an error says what is missing or damaged."""
    folder = RunFolder(path)
    config, record = folder.read_config(), folder.read_record()
    folder.verify()
    split, table = load_split(folder.data), load_table(folder.model)
    # of what was left open and chosen on validation, older runs have no other trace than the record
    settings = config.settled.get("base_settings", record.base_settings)
    recommender = make_recommender(config.base, settings)
    rows, expected = table.shape.n_rows, split.n_items + (split.n_users if recommender.user_rows else 0)
    if rows != expected or split.hash != record.split.hash:
        raise RunError(
            f"{path}: the table ({rows:,} rows), the data ({expected:,} rows to have) and the record are not of "
            "the same run; the folder is damaged, train again"
        )
    return Trained(folder, config, split, graph_of(recommender, split.train), recommender, table, record)
