"""Budgets: the size foretold against the file that is written."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparserec.data import Source, make_world, split_interactions
from sparserec.device import (
    ModelParts,
    SparseRows,
    encode_rows,
    encode_table,
    int_bytes,
    keep_largest,
    model_bytes,
)
from sparserec.errors import SettingError
from sparserec.planning.budget import Choice, choose
from sparserec.planning.settle import PlanOptions, plan_run
from sparserec.training.config import RunConfig
from sparserec.units import parse_size


@pytest.fixture(scope="module")
def world() -> Source:
    return make_world()


def shipped(choice: Choice, source: Source) -> int:
    """Bytes of a file with random vectors of the chosen kind and everything else of the data."""
    rng = np.random.default_rng(0)
    split = split_interactions(source, "resplit", 0)
    split = split.relabel(rng.permutation(split.n_users), rng.permutation(split.n_items))
    train, info = split.train, split.train.item_info
    assert info is not None
    names = {
        "item_ids": train.item_ids.external().tolist(), "titles": info.titles, "tags": info.tags,
        "card": {"metrics": {"file": {"folded": {"recall@20": 0.1, "ndcg@20": 0.1}}}},
    }  # fmt: skip
    weight = np.full(4, 0.25)
    if choice.target == "items":
        vectors = rng.standard_normal((train.n_items, choice.dim)).astype(np.float32)
        table = encode_rows(keep_largest(vectors, choice.keep), choice.bits)
        return len(
            model_bytes(
                ModelParts("items", "lightgcn", weight, score=table, degree=train.item_counts(), **names)
            )
        )
    rows, known = train.n_users + train.n_items, split.everything()
    flat = np.sort(rng.choice(rows * choice.dim, round(choice.density * rows * choice.dim), replace=False))
    starts = np.concatenate([[0], np.cumsum(np.bincount(flat // choice.dim, minlength=rows))])
    entries = SparseRows(
        rng.standard_normal(len(flat)).astype(np.float32), flat % choice.dim, starts, choice.dim
    )
    return len(
        model_bytes(
            ModelParts(
                "full",
                "lightgcn",
                weight,
                layer0=encode_table(entries, choice.bits),
                edges=(known.users, known.items),
                users=train.n_users,
                item_norm=np.ones(train.n_items),
                user_ids=train.user_ids.external().tolist(),
                **names,
            )
        )
    )


@pytest.mark.parametrize(
    ("target", "budget"),
    [("items", "140kB"), ("items", "200kB"), ("items", "1MB"), ("full", "400kB"), ("full", "1MB")],
)
def test_the_file_fits_and_is_as_large_as_foretold(world: Source, target: str, budget: str) -> None:
    choice = choose(world, target, parse_size(budget), "resplit")  # type: ignore[arg-type]
    written = shipped(choice, world)
    assert written <= parse_size(budget)
    assert choice.bytes == pytest.approx(written, rel=0.05)
    assert choice.as_dict()["bytes"] == sum(choice.sections.values())


def test_more_bytes_never_buy_less(world: Source) -> None:
    chosen = [choose(world, "items", size, "resplit") for size in range(100_000, 500_000, 20_000)]
    for less, more in pairwise(chosen):
        assert less.dim < more.dim or (less.dim == more.dim and less.density <= more.density)
    assert chosen[-1].dim == 128 and chosen[0].dim < 128


@pytest.mark.parametrize("target", ["items", "full"])
def test_too_small_says_the_least_and_what_takes_the_room(world: Source, target: str) -> None:
    with pytest.raises(SettingError, match=r"the least is ([\d,]+) bytes .*titles") as caught:
        choose(world, target, 20_000, "resplit")  # type: ignore[arg-type]
    least = int(str(caught.value).split("the least is ")[1].split(" bytes")[0].replace(",", ""))
    assert choose(world, target, least, "resplit").bytes <= least  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="too small"):
        choose(world, target, least - 2000, "resplit")  # type: ignore[arg-type]


@given(st.sampled_from([8, 16, 64, 128]), st.integers(1, 128), st.sampled_from([4, 8]))
def test_bytes_of_even_rows_against_the_codec(dim: int, keep: int, bits: int) -> None:
    keep, rows = min(keep, dim), 40
    vectors = np.random.default_rng(keep).uniform(1.0, 1.5, (rows, dim)).astype(np.float32)
    table = encode_table(keep_largest(vectors, keep), bits)
    assert table.nbytes == int_bytes(rows * keep, rows, dim, bits, even=True)


def test_a_plan_takes_the_choice_unless_the_user_chose(world: Source) -> None:
    plan = plan_run(RunConfig.parse({}), world, PlanOptions(budget=150_000), usable=10**12)
    assert plan.choice is not None and (plan.config.dim, plan.config.density) == (
        plan.choice.dim,
        plan.choice.density,
    )
    assert any("bytes an item hold" in line for line in plan.notes)
    given = RunConfig.parse({"dim": 16, "density": 0.2})
    fixed = plan_run(given, world, PlanOptions(budget=150_000), usable=10**12)
    assert (fixed.config.dim, fixed.config.density) == (16, 0.2)
    assert fixed.notes[-2:] == ("  dim 16 was given and stands", "  density 0.2 was given and stands")
