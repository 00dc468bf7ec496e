"""What searches of rates tried, from the names and scores of their rows."""

from __future__ import annotations

from reproduction.sections import rates_section


def row(name: str, score: float | None) -> dict:
    return {"name": name, "epochs": [{"best_score": 0.5}, {"best_score": score}]}


def test_tries_hand_worked() -> None:
    rows = [
        row("search-lightgcn-small_dense_bytes-0a1b2c@0.24-short", 0.08),
        row("search-lightgcn-small_dense_bytes-0a1b2c@0.06-short", 0.07),
        row("search-lightgcn-small_dense_bytes-0a1b2c@0.24", 0.0912),
        row("search-lightgcn-small_dense_bytes-0a1b2c=0.24", 0.0912),  # the winner opened, no try of its own
        row("search-mgdcf-pep-000000@1e-05-short", 0.01),
        row("search-mgdcf-pep-000000@0.03-short", None),  # failed
        row("lightgcn-sparserec-seed-0", 0.1),
    ]
    table = rates_section(rows).tables[0]
    assert table.lines == [
        ["lightgcn", "small_dense_bytes", "2", "0.06: 0.0700, 0.24: 0.0800", "0.24: 0.0912"],
        ["mgdcf", "pep", "1", "1e-05: 0.0100", ""],
    ]
    assert rates_section([row("other", 0.1)]).empty
