"""Ours and the textbook implementation are the same model: equal losses on the same batches, equal rankings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from sparserec.data import make_world, split_interactions
from sparserec.data.named import resolve
from validity import Twins


def test_world_equals_the_textbook() -> None:
    twins = Twins(split_interactions(make_world(), "resplit", 0), dim=20, batch=4000)
    gaps = [abs(ours - theirs) for ours, theirs in (twins.step() for _ in range(30))]
    assert max(gaps) < 1e-4
    ours, theirs = twins.recalls()
    assert ours > 0.1 and abs(ours - theirs) < 0.002


@pytest.mark.real
def test_gowalla_equals_the_textbook_for_50_steps() -> None:
    if "SPARSEREC_DATA" not in os.environ:
        pytest.skip("SPARSEREC_DATA is not set")
    twins = Twins(split_interactions(resolve("gowalla"), "resplit", 0), dim=64)
    assert max(abs(ours - theirs) for ours, theirs in (twins.step() for _ in range(50))) < 1e-4
