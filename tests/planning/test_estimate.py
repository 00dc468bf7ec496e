"""Estimates against what tables, steps and files really hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sparserec.data import Interactions, ReadReport, Sampler, Source, Split, make_world, split_interactions
from sparserec.errors import SettingError
from sparserec.exploration import factorise
from sparserec.methods import METHODS, make_method
from sparserec.nmf_child import iterate
from sparserec.planning.estimate import (
    estimate_run,
    refuse_if_too_big,
)
from sparserec.planning.memory_plan import Sizes, step_sizes
from sparserec.planning.settle import Machine, PlanOptions, estimate_all, limit_nmf, plan_run
from sparserec.planning.timing import nmf_seconds, synthetic_train
from sparserec.process import usable_bytes
from sparserec.recommenders import RECOMMENDERS, make_recommender, rows_of
from sparserec.recommenders.lightgcn import LightGCN, LightGCNSettings
from sparserec.table import total
from sparserec.training import RunConfig, context_of
from sparserec.units import show_bytes, show_seconds

SIZES = Sizes(700, 400, 6000, 2500)


def exact_sizes(split: Split) -> Sizes:
    """Counted in the split."""
    held_out = len(split.test) + sum(len(part) for part in split.known_at_test)
    ranked = max(len(np.unique(part.users)) for part in (split.valid, split.test))
    new = 0 if split.given is None else len(np.union1d(split.given.users, split.test.users))
    return Sizes(
        split.n_users, split.n_items, len(split.train), held_out, held_out_users=ranked, new_users=new
    )


def config(**values: object) -> RunConfig:
    return RunConfig.parse(
        {"base": "lightgcn", "dim": 24, "recipe": {"epochs": 4, "batch_size": 500}, **values}
    )


@pytest.mark.parametrize("base", RECOMMENDERS)
def test_processes_share_the_table_and_each_has_the_data(base: str) -> None:
    one = config(base=base, dim=128)
    alone, third = (estimate_run(one, SIZES, processes=count, timed=False).memory for count in (1, 3))
    assert alone["read"] == third["read"]
    for role in ("values", "moments", "positions"):
        assert third["train"][role] == -(-alone["train"][role] // 3)
    assert alone["train"]["graph"] == third["train"]["graph"]
    assert total(third["evaluate"]) < total(alone["evaluate"])


@pytest.mark.parametrize("base", RECOMMENDERS)
def test_a_step_holds_what_was_foretold(base: str) -> None:
    """Roles of the estimate against the ledger of a step that ran."""
    one = config(base=base, method="static")
    recommender, method = make_recommender(base), make_method("static")
    train = synthetic_train(SIZES.users, SIZES.items, SIZES.train)
    sampler = recommender.sampler(train, one.recipe.batch_size, one.recipe.batches, 0)
    context = context_of(one, recommender, train, sampler.steps_per_epoch)
    table = method.start(context, method.phases(context)[0], None)
    stepper = recommender.stepper(recommender.graph(train), table, 0)
    stepper.run(sampler.batch(0, 0), 1, 0.01)
    foretold = estimate_run(one, SIZES, timed=False).memory["train"]
    for role, size in stepper.ledger().items():
        assert foretold[role] == pytest.approx(size, rel=0.25 if role == "rows" else 0.04), role


def test_rows_of_a_batch_are_foretold() -> None:
    recommender = LightGCN(LightGCNSettings())
    train = synthetic_train(SIZES.users, SIZES.items, SIZES.train)
    rows = rows_of(Sampler(train, 500, 0).batch(0, 0), train.n_users, train.n_items).rows
    assert recommender.batch_rows(step_sizes(config(), SIZES)) == pytest.approx(len(rows), rel=0.25)


def test_made_up_data_has_the_sizes_asked_for() -> None:
    train = synthetic_train(700, 400, 6000)
    assert (train.n_users, train.n_items, len(train)) == (700, 400, 6000)
    assert np.all(np.diff(train.users.astype(np.int64) * 400 + train.items) > 0)


def test_memory_and_time_of_one_run() -> None:
    found = estimate_run(config(), SIZES)
    assert list(found.memory) == ["read", "nmf", "init", "train", "evaluate"]
    assert found.seconds is not None and all(taken > 0 for taken in found.seconds.values())
    assert found.peak == max(total(ledger) for ledger in found.memory.values())
    assert found.as_dict()["memory"]["nmf"]["total"] == total(found.memory["nmf"])
    assert any("factor of two" in line for line in found.lines())
    longer = estimate_run(config(recipe={"epochs": 400, "batch_size": 500}), SIZES)
    assert longer.seconds is not None and longer.seconds["train"] > 10 * found.seconds["train"]


def test_a_final_run_is_charged_for_both_trainings() -> None:
    once, twice = (estimate_run(config(final=final), SIZES) for final in (False, True))
    assert once.seconds is not None and twice.seconds is not None and "final" not in once.seconds
    # Steps are 8500/6000 as many and each goes over as many more edges; the factorisation comes on top.
    assert twice.seconds["final"] > 1.9 * twice.seconds["train"]
    assert twice.all_seconds == pytest.approx(sum(twice.seconds.values()))
    assert sum("once more, on everything" in line for line in twice.lines()) == 1
    assert twice.memory["train"]["graph"] / once.memory["train"]["graph"] == pytest.approx(
        8500 / 6000, rel=0.05
    )
    assert twice.memory["read"] == once.memory["read"] and twice.memory["evaluate"] == once.memory["evaluate"]


def test_the_time_of_a_factorisation_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of the rows is measured; what comes of it is held against a factorisation that was really made."""
    monkeypatch.setenv("SPARSEREC_CACHE", str(tmp_path))
    monkeypatch.setattr("sparserec.planning.timing.NMF_WORK", 1000 * 64**2)
    train = synthetic_train(1600, 1400, 30_000)
    before = nmf_seconds(Sizes(1600, 1400, 30_000), 64, 20)
    taken = factorise(train, 64, 20, 0).info.seconds
    after = nmf_seconds(Sizes(1600, 1400, 30_000), 64, 20)
    assert min(before, after) < 2.5 * taken and max(before, after) > taken / 2.5


def test_a_factorisation_is_measured_on_one_thread_as_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[int] = set()

    def watched(*factors: Any) -> Any:
        threads.update(pool["num_threads"] for pool in threadpool_info())
        return iterate(*factors)

    monkeypatch.setattr("sparserec.planning.timing.iterate", watched)
    with threadpool_limits(2):
        nmf_seconds(SIZES, 8, 2)
    assert threads == {1}


def test_every_method_and_base_has_a_line() -> None:
    found = estimate_all(config(), SIZES, timed=False)
    assert len(found) == len(METHODS) + len(RECOMMENDERS) - 1
    assert "nmf" not in next(one for one in found if one.method == "dense").memory
    peak = {(one.base, one.method): total(one.memory["train"]) for one in found}
    assert peak["lightgcn", "sparserec"] < peak["lightgcn", "dense"] < peak["lightgcn", "pep"]


def test_a_long_factorisation_is_shortened_and_said_so() -> None:
    one = config(dim=128)
    assert limit_nmf(one, SIZES, Machine()) == (one, None)
    large = Sizes(1_000_000, 200_000, 7_000_000, 3_000_000)
    shorter, output = limit_nmf(one, large, Machine())
    assert shorter.method_settings == {"nmf_iterations": 40}  # 200e9 / (3e5 * 128^2): a sample of 1e5 users
    assert output is not None and "40 iterations instead of 50" in output
    assert limit_nmf(one, large, Machine(most_nmf_work=0))[1] is None
    assert limit_nmf(one, large, Machine(most_nmf_work=1e-3))[0].method_settings == {"nmf_iterations": 3}
    given = config(method_settings={"nmf_iterations": 70})
    assert limit_nmf(given, large, Machine()) == (given, None)
    assert limit_nmf(config(method="dense"), large, Machine())[1] is None


def test_a_run_that_cannot_fit_is_refused_with_the_estimate() -> None:
    found = estimate_run(config(method="dense", dim=4096), Sizes(10**7, 10**6, 10**8), timed=False)
    with pytest.raises(SettingError, match=r"needs about \d.*\n(.*\n)+what helps: method sparserec.*`force`"):
        refuse_if_too_big(found, 8 * 10**9)
    refuse_if_too_big(found, None)
    refuse_if_too_big(found, found.peak)
    world = make_world()
    with pytest.raises(SettingError, match="1 MB are free"):
        plan_run(RunConfig.parse({}), world, PlanOptions(), usable=10**6)
    plan_run(RunConfig.parse({}), world, PlanOptions(force=True), usable=10**6)


def test_a_warm_start_is_not_charged_for_a_factorisation() -> None:
    assert "nmf" in estimate_run(config(), SIZES, timed=False).memory
    assert "nmf" not in estimate_run(config(), SIZES, timed=False, factorises=False).memory


def test_a_container_limit_counts(tmp_path: Path) -> None:
    assert usable_bytes(tmp_path) > 600_000
    (tmp_path / "memory.max").write_text("max\n")
    assert usable_bytes(tmp_path) > 600_000
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("400000\n")
    assert usable_bytes(tmp_path) == 600_000


def test_sizes_of_data() -> None:
    world = make_world()
    split = split_interactions(world, "resplit", 0)
    exact, before = exact_sizes(split), Sizes.of_source(world, "resplit")
    assert before.train == pytest.approx(exact.train, rel=0.01) and before.interactions == exact.interactions
    assert Sizes.of_named("world", "resplit") is not None and Sizes.of_named("no such set", "resplit") is None
    named = Sizes.of_named("world", "resplit")
    assert named is not None and named.train == pytest.approx(exact.train, rel=0.01)


@pytest.mark.parametrize("protocol", ["resplit", "temporal", "new-users", "public", "public-full", "files"])
def test_sizes_before_splitting_are_those_of_the_split(protocol: str) -> None:
    """Shares of every protocol against the split it really makes, of data that has a test part of its own."""
    train = synthetic_train(2000, 500, 60_000)
    timed = Interactions.from_codes(
        train.users, train.items, train.user_ids, train.item_ids, np.arange(len(train))
    )
    own = np.random.default_rng(0).random(len(train)) < 0.8
    source = Source(timed.select(own), None, timed.select(~own), ReadReport("made up"))
    exact, before = (
        exact_sizes(split_interactions(source, protocol, 0)),
        Sizes.of_source(source, protocol),
    )
    assert before.train == pytest.approx(exact.train, rel=0.03)
    assert before.interactions == exact.interactions == 60_000
    assert (before.new_users, before.trained_users) == (exact.new_users, exact.trained_users)
    assert before.ranked_users == pytest.approx(exact.ranked_users, rel=0.02)
    assert before.tested_users == pytest.approx(exact.tested_users, rel=0.02)


def test_users_held_out_whole_cost_what_they_cost() -> None:
    """A tenth of 700 users train nothing: batches ask for fewer rows, and folding in takes two arrays more."""
    plain, new = (
        Sizes.of_counts(700, 400, {"train": 8500}, protocol) for protocol in ("resplit", "new-users")
    )
    assert (plain.train, new.train, new.new_users, new.ranked_users) == (5950, 6885, 70, 630)
    for base, folds in (("lightgcn", 1), ("mgdcf", 1)):
        memory = [estimate_run(config(base=base), sizes, timed=False).memory for sizes in (plain, new)]
        assert memory[0]["evaluate"]["fold-in"] == 0
        assert memory[1]["evaluate"]["fold-in"] == 4 * 24 * (folds * 1100 + 700)
        assert memory[1]["train"]["graph"] > memory[0]["train"]["graph"]
    recommender = LightGCN(LightGCNSettings())
    rows = [recommender.batch_rows(step_sizes(config(), sizes)) for sizes in (new, plain)]
    assert rows[0] < rows[1]


def test_numbers_as_people_read_them() -> None:
    assert [show_bytes(size) for size in (0, 999, 1000, 123_456, 2_340_000, 10**10)] == [
        "0 bytes", "999 bytes", "1 kB", "123 kB", "2.34 MB", "10 GB",
    ]  # fmt: skip
    assert [show_seconds(s) for s in (0.5, 30, 600, 7200)] == ["0.5 s", "30 s", "10 min", "2.0 h"]
