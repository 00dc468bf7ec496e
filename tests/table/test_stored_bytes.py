"""The size a table says it has is the size it has in a file, and what plans foresee."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sparserec.device import ModelParts, gap_bytes, int_bytes, write_model
from sparserec.device.encode import encode_rows
from sparserec.table import DenseTable, InitialValues, PrefixTable, Shape, SparseTable, Table

SHAPE = Shape(300, 200, 64, 16)
INITIAL = InitialValues(3, "normal", 0.1, 0.2)


def table_of(density: float) -> SparseTable:
    rng = np.random.default_rng(0)
    support = [
        np.flatnonzero(rng.random(SHAPE.n_rows * width) < density).astype(np.int32)
        for _, width in SHAPE.blocks
    ]
    return SparseTable.create(SHAPE, support, INITIAL)


def bytes_in_a_file(table: Table, bits: int, path: Path) -> int:
    layer0 = table.encoded(np.arange(SHAPE.n_rows), bits)
    parts = ModelParts(
        "full", "lightgcn", np.full(4, 0.25), layer0=layer0, users=SHAPE.n_users,
        edges=(np.arange(SHAPE.n_users), np.arange(SHAPE.n_users) % SHAPE.n_items), item_norm=np.ones(SHAPE.n_items),
    )  # fmt: skip
    return int(write_model(path, parts).card()["sections"]["layer-0 table"])


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("density", [0.03, 0.125, 0.25, 0.5, 0.65, 0.8, 0.95])
def test_a_sparse_table_has_the_size_it_says(density: float, bits: int, tmp_path: Path) -> None:
    table = table_of(density)
    assert table.stored_bytes(bits) == bytes_in_a_file(table, bits, tmp_path / "a.srec")
    used = np.count_nonzero(table.quantised(bits).values)
    assert int_bytes(used, SHAPE.n_rows, SHAPE.dim, bits) == pytest.approx(table.stored_bytes(bits), rel=0.01)


def test_rows_too_small_for_a_short_scale_take_a_longer_one(tmp_path: Path) -> None:
    table = table_of(0.25)
    before = table.stored_bytes(8)
    table.values *= 1e-5
    assert (
        table.stored_bytes(8) == bytes_in_a_file(table, 8, tmp_path / "a.srec") == before + 2 * SHAPE.n_rows
    )


@pytest.mark.parametrize("bits", [4, 8])
def test_other_tables_have_the_size_they_say(bits: int, tmp_path: Path) -> None:
    sizes = np.arange(SHAPE.n_rows) % SHAPE.dim + 1
    for table in (DenseTable.create(SHAPE, INITIAL), PrefixTable.of_sizes(SHAPE, sizes, INITIAL)):
        assert table.stored_bytes(bits) == bytes_in_a_file(table, bits, tmp_path / "a.srec")


@pytest.mark.parametrize(("entries", "bits"), [(4, 3), (16, 4), (48, 6), (120, 4)])
def test_gaps_are_foreseen(entries: int, bits: int) -> None:
    rng = np.random.default_rng(0)
    rows = np.zeros((20_000, 128), np.float32)
    columns = rng.random(rows.shape).argsort(axis=1)[:, :entries]
    np.put_along_axis(
        rows, columns, rng.uniform(0.5, 1.0, columns.shape) * rng.choice([-1, 1], columns.shape), 1
    )
    assert gap_bytes(entries, 20_000, 128, bits) == pytest.approx(encode_rows(rows, bits).nbytes, rel=0.02)
