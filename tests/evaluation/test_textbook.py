"""The rival we are checked against must itself be right: one step against dense matrices and Adam by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def dense_loss(
    table: torch.Tensor, users: np.ndarray, items: np.ndarray, batch: list[torch.Tensor]
) -> torch.Tensor:
    """Three users, four items, two layers, everything dense and in float64."""
    links = torch.zeros(7, 7, dtype=torch.float64)
    links[users, items + 3] = links[items + 3, users] = 1
    degree = links.sum(0)
    scale = torch.where(degree > 0, degree, torch.ones(())).rsqrt()
    spread = scale[:, None] * links * scale
    mean = (table + spread @ table + spread @ spread @ table) / 3
    total = torch.zeros((), dtype=torch.float64)
    for user, liked, other in zip(*batch):
        margin = mean[user] @ mean[3 + liked] - mean[user] @ mean[3 + other]
        squares = (
            table[user] @ table[user]
            + table[3 + liked] @ table[3 + liked]
            + table[3 + other] @ table[3 + other]
        )
        total = total - torch.log(torch.sigmoid(margin)) + 0.1 * squares / 2
    return total / len(batch[0])


def test_two_steps_equal_dense_algebra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from textbook import Textbook

    users, items = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2])  # item 3 has nobody
    init = torch.randn(7, 5, generator=torch.Generator().manual_seed(3))
    batch = [torch.tensor(part) for part in ([0, 1, 0], [0, 1, 1], [3, 2, 2])]
    model = Textbook(3, 4, users, items, dim=5, layers=2, lr=0.01, decay=0.1, init=init)
    table = init.double().requires_grad_()
    adam = torch.optim.Adam([table], lr=0.01)
    for _ in range(2):
        loss = dense_loss(table, users, items, batch)
        adam.zero_grad()
        loss.backward()
        adam.step()
        assert model.step(*batch) == pytest.approx(loss.item(), abs=1e-6)
    rows = torch.cat([model.user_embedding.weight, model.item_embedding.weight])
    torch.testing.assert_close(rows.double(), table.detach(), atol=1e-5, rtol=0)
    user_vectors, item_vectors = model.vectors()
    assert user_vectors.shape == (3, 5) and item_vectors.shape == (4, 5) and not user_vectors.requires_grad


def test_the_benchmark_prints_one_line(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("0 0 1\n1 1\n2 2\n")
    (tmp_path / "test.txt").write_text("0 3\n1\n")
    command = [sys.executable, str(BENCHMARKS / "textbook.py"), "--data", str(tmp_path)]
    output = subprocess.run(
        [*command, "--dim", "4", "--batch", "2", "--steps", "2"],
        capture_output=True,
        text=True,
        check=True,
        env={"TMPDIR": str(tmp_path)},
    )
    line = json.loads(output.stdout)
    assert line["name"] == "textbook" and line["triples_per_second"] > 0 and len(line["losses"]) == 3
    assert set(line["peak_mb"]) == {"read", "build", "train"}
    assert output.stderr == ""
