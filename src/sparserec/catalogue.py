"""Methods and bases, a line each, for people who choose. Plain data: listing it loads nothing else.

Tests hold it to the code: names, memory, trainings of the default settings, and multiplications of a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Memory = Literal["sparse", "dense", "codes", "network"]
"""What a training holds: sparse grows with the budget, dense with the full table, codes with two books, network with
the activations of all rows."""


@dataclass(frozen=True)
class MethodLine:
    """One way to spend a parameter budget."""

    idea: str
    trainings: float
    """Length of all phases in plain trainings, at most, with default settings."""
    memory: Memory
    paper: str


@dataclass(frozen=True)
class BaseLine:
    """One base recommender."""

    idea: str
    multiplications: int
    """By the graph, in one step."""
    rows: Literal["users and items", "items"]
    """Who has parameters."""
    paper: str


METHOD_LINES: dict[str, MethodLine] = {
    "sparserec": MethodLine(
        "first support by a factorisation, drop the smallest, grow by summed gradients of sampled rows",
        1,
        "sparse",
        "arXiv 2411.12205",
    ),
    "dense": MethodLine("every entry is trained; no budget", 1, "dense", "-"),
    "small_dense": MethodLine("a dense table with fewer columns", 1, "dense", "-"),
    "static": MethodLine("a sparse table whose support never changes", 1, "sparse", "-"),
    "taper": MethodLine("sparserec with twice the budget, cut row by row on the way", 1, "sparse", "ours"),
    "dsl": MethodLine("drop the smallest, grow by the last gradient, to the end", 1, "dense", "WSDM 2024"),
    "rigl": MethodLine("the same, less of it, none in the last quarter", 1, "dense", "arXiv 1911.11134"),
    "set": MethodLine("drop the smallest, grow at random", 1, "sparse", "Nature Communications 2018"),
    "gse": MethodLine(
        "drop the smallest, grow by the gradient of a random sample", 1, "sparse", "arXiv 2401.06898"
    ),
    "magnitude": MethodLine("train dense, keep the largest entries", 1, "dense", "arXiv 2406.17335"),
    "lottery": MethodLine(
        "train dense, keep the largest, begin again from their first values", 2, "dense", "IJIS 2022"
    ),
    "pep": MethodLine(
        "learn a threshold for every entry, then retrain the survivors", 2, "dense", "ICLR 2021"
    ),
    "cerp": MethodLine("rows are sums of two codes; prune both books, then retrain", 2, "codes", "ICDM 2023"),
    "dhe": MethodLine("a network computes every row from hashes of its number", 1, "network", "KDD 2021"),
    "bet": MethodLine(
        "a size for every row, searched for with probes and a predictor", 5, "dense", "WSDM 2024"
    ),
    "ciess": MethodLine(
        "a size for every row, chosen by two agents that learn from probes", 6, "dense", "SIGIR 2023"
    ),
}

BASE_LINES: dict[str, BaseLine] = {
    "lightgcn": BaseLine("mean of all layers, BPR", 6, "users and items", "arXiv 2002.02126"),
    "mgdcf": BaseLine(
        "graph diffusion, InfoBPR with many negatives", 8, "users and items", "arXiv 2204.11600"
    ),
    "xsimgcl": BaseLine(
        "noise in every layer, and a contrast between layers", 6, "users and items", "arXiv 2209.02544"
    ),
    "mf": BaseLine("no graph at all, BPR", 0, "users and items", "arXiv 1205.2618"),
    "history": BaseLine(
        "a user is the items they have, softmax over all items", 0, "items", "after RecSys 2022 (ELSA)"
    ),
}
