"""What the tables of the newer methods look like on a device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from method_toy import train_toy

from sparserec import device
from sparserec.device import read_back
from sparserec.errors import SettingError
from sparserec.export import ExportOptions, export_run
from sparserec.runs.trained import open_run
from sparserec.table import ComposedTable, ComputedTable, DenseTable, InitialValues, PrefixTable, Shape
from sparserec.table.composed import code_shape
from sparserec.table.computed import Hashes

SHAPE = Shape(5, 3, 6, 4)


def test_prefixes_are_shipped_as_prefixes() -> None:
    sizes = np.array([6, 1, 3, 2, 1, 4, 5, 2])
    table = PrefixTable.of_sizes(SHAPE, sizes, InitialValues(1, "normal", 0.1, 0.1))
    order = np.array([3, 0, 7, 1, 2, 4, 6, 5])
    encoded = table.encoded(order, 8)
    assert encoded.encoding == "prefix" and "index" not in encoded.tensors and "mask" not in encoded.tensors
    matrix = np.zeros((8, 6), np.float32)
    rows, columns, values = table.entries()
    matrix[rows, columns] = values
    read = read_back(encoded)
    np.testing.assert_allclose(read, matrix[order], atol=np.abs(matrix).max() / 100)
    assert ((read != 0).sum(axis=1) <= sizes[order]).all()


def test_rows_that_are_made_are_not_shipped_as_rows() -> None:
    codes = DenseTable(code_shape(SHAPE, 2), [np.ones((4, 4), np.float32), np.ones((4, 2), np.float32)])
    rng = np.random.default_rng(0)
    computed = ComputedTable.create(SHAPE, Hashes.draw(4, 100, rng), 3, 1, 0.1, rng)
    for table in (ComposedTable(SHAPE, codes), computed):
        with pytest.raises(SettingError, match="export mode items instead"):
            table.encoded(np.arange(8), 8)
        assert table.row_sizes() is None


@pytest.mark.parametrize("method", ["cerp", "bet"])
def test_a_run_of_a_newer_method_becomes_a_file(method: str, tmp_path: Path) -> None:
    train_toy(tmp_path / "run", method, ks=(5,))
    run = open_run(tmp_path / "run")
    export_run(run, tmp_path / "items.srec", ExportOptions(mode="items"))
    items = [item.id for item in device.load(tmp_path / "items.srec").recommend(history=[0, 1, 2], k=3)]
    assert len(items) == 3 and all(int(item) < 12 for item in items), "items of the same block"
    whole = ExportOptions(mode="full", include_everyones_history=True)
    if method == "cerp":
        with pytest.raises(SettingError, match="sums of two codes"):
            export_run(run, tmp_path / "full.srec", whole)
    else:
        export_run(run, tmp_path / "full.srec", whole)
        assert device.load(tmp_path / "full.srec").scorer.layer0.encoding == "prefix"  # type: ignore[union-attr]
