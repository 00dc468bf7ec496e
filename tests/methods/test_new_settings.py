"""Settings of cerp, dhe, set, gse, bet and ciess reach what they are meant to change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from method_toy import small_context

from sparserec.methods import Context, Phase, PhaseResult, StepInfo, Validation, make_method
from sparserec.table import ComposedTable, ComputedTable, DenseTable, Shape, SparseTable, ThresholdedTable

SHAPE = Shape(30, 20, 8, 4)
PHASE = Phase("train", 10)


def like_everything(table: Any, also_at: tuple[int, ...] = ()) -> Validation:
    """Every user is served half as well as can be."""
    per_user = {f"{metric}@{k}": np.full(30, 0.5) for metric in ("recall", "ndcg") for k in also_at}
    return Validation(0.5, {}, per_user, np.arange(30))


def begun(method: str, settings: dict[str, Any], phase: Phase, **changes: Any) -> Any:
    context = small_context(SHAPE, **({"density": 0.25} | changes))
    return make_method(method, settings).start(context, phase, None)


@pytest.mark.parametrize(
    ("settings", "rate", "decay", "ceiling"),
    [
        ({}, 0.16, 1e-5, 8.0),
        ({"threshold_rate": 0.5, "threshold_decay": 1e-3, "threshold_ceiling": 2.0}, 0.5, 1e-3, 2.0),
    ],
)
def test_thresholds_of_cerp(settings: dict[str, Any], rate: float, decay: float, ceiling: float) -> None:
    table = begun("cerp", {**settings, "sharpness": 7.0}, Phase("search", 10, validated=False))
    assert isinstance(table, ComposedTable) and isinstance(table.codes, ThresholdedTable)
    found = table.codes.thresholds
    assert (found.rate, found.decay, found.ceiling) == pytest.approx((rate, decay, ceiling))
    assert table.sharpness == 7.0 and table.size == 12, "two budgets in two books of eight columns"


def test_the_search_of_cerp_is_as_long_as_asked_and_crosses_when_asked() -> None:
    context = small_context(SHAPE, 0.25)
    assert make_method("cerp").next_phase(context, []) == Phase("search", 10, validated=False)
    assert make_method("cerp", {"search_epochs": 3}).next_phase(context, []) == Phase(
        "search", 3, validated=False
    )
    early, late = (
        begun("cerp", {"crossing": share, "threshold_rate": 0.1}, Phase("search", 10)) for share in (0.2, 0.9)
    )
    assert late.codes.logits[0][0, 0] < early.codes.logits[0][0, 0] - 2, "a longer way begins lower"


def test_the_network_of_dhe_is_what_the_settings_say() -> None:
    table = begun("dhe", {"hashes": 12, "width": 5, "hidden_layers": 2, "buckets": 7}, PHASE)
    assert isinstance(table, ComputedTable) and table.layers == 2
    assert table.weights["layer.0"].shape == (5, 12) and table.weights["output"].shape == (8, 5)
    encoded = table.hashes.encode(0, 50).numpy()
    assert len(np.unique(encoded)) == 7 and (encoded.min(), encoded.max()) == (-1, 1)
    context = small_context(SHAPE, 0.25)
    phase = make_method("dhe", {"learning_rate": 0.25}).next_phase(context, [])
    assert phase is not None and phase.learning_rate == 0.25


@pytest.mark.parametrize("method", ["set", "gse"])
def test_scope_and_end_of_random_growth(method: str) -> None:
    """With users far larger than items, one ranking drops items only; apart, both lose their share."""
    dropped = {}
    for scope in ("joint", "tables"):
        context = small_context(SHAPE, 0.25, explorations=3)
        made = make_method(method, {"scope": scope, "explore_until": 1.0, "drop_fraction": 0.3})
        table = made.start(context, PHASE, None)
        assert isinstance(table, SparseTable)
        rows = table.entries()[0]
        table.values[:] = np.where(rows < 30, 5.0, 0.1)
        items = int((rows >= 30).sum())
        for step in range(1, 26):
            made.after_step(context, table, StepInfo(PHASE, step, 1, 10, 0.01))
        rows, _, values = table.entries()
        dropped[scope] = items - int(((rows >= 30) & (values != 0)).sum())
    assert dropped["joint"] > 1.5 * dropped["tables"] > 0


@pytest.mark.parametrize(
    ("method", "settings", "probes", "steps", "rate"),
    [
        ("bet", {"probes": 3, "probe_share": 0.13, "probe_rate": 0.7}, 3, 13, 0.7),
        ("ciess", {"episodes": 2, "episode_steps": 4, "probe_share": 0.07}, 8, 7, None),
    ],
)
def test_probes_are_as_many_and_as_long_as_asked(
    method: str, settings: dict[str, Any], probes: int, steps: int, rate: float | None
) -> None:
    context = small_context(SHAPE, 0.25, validate=like_everything)
    made, done = make_method(method, settings), [PhaseResult("dense", 10, 0.5)]
    for number in range(probes):
        phase = made.next_phase(context, done)
        assert phase is not None and phase.name == f"probe {number}" and phase.starts_from == 0
        assert (phase.steps, phase.epochs, phase.learning_rate) == (steps, -(-steps // 10), rate)
        done.append(PhaseResult(phase.name, 1, None))
    phase = made.next_phase(context, done)
    assert phase is not None and phase.name.startswith("retrain")


def one_probe(settings: dict[str, Any], **changes: Any) -> tuple[Any, Any, Context]:
    """A ciess after its first probe, the table it tried, and the context."""
    context = small_context(SHAPE, 0.25, validate=like_everything, **changes)
    made = make_method("ciess", {"updates": 1, **settings})
    dense = DenseTable.create(SHAPE, context.initial(8))
    phase = Phase("probe 0", 1, False, kind="probe")
    table = made.start(context, phase, dense)
    made.after_phase(context, phase, table)
    return made, table, context


def test_fitting_noise_and_updates_of_ciess() -> None:
    _, fitted, _ = one_probe({})
    assert fitted.parameters() == 100, "the budget"
    _, free, _ = one_probe({"fit": False, "noise": 0.0})
    assert free.parameters() != 100, "whatever the agents say"
    sizes = {
        noise: one_probe({"fit": False, "noise": noise}, seed=3)[1].row_sizes().mean()
        for noise in (0.0, 40.0)
    }
    assert sizes[40.0] in (1.0, 8.0) and 2 < sizes[0.0] < 7, "one number for all rows"
    for updates in (1, 3):
        made, _, context = one_probe({"updates": updates})
        assert {agent.updates for agent in made.agents(context).values()} == {updates}


def test_agents_of_ciess_learn_from_what_was_tried_or_proposed() -> None:
    """What is tried is the budget to the last number, what is proposed is not; a resumed search knows both."""
    context = small_context(SHAPE, 0.25, validate=like_everything)
    for learns in ("fitted", "proposed"):
        made, table, _ = one_probe({"learns": learns, "noise": 0.0})
        tried, learnt = table.row_sizes(), made.transitions(context, slice(0, 50), 1).sizes[1]
        assert tried.sum() == 100
        assert (learnt == tried).all() if learns == "fitted" else learnt.sum() != 100
        again = make_method("ciess", {"learns": learns})
        again.load(made.state())
        assert (again.transitions(context, slice(0, 50), 1).sizes[1] == learnt).all()


def test_the_price_of_size_is_in_the_reward() -> None:
    rewards = {}
    for price in (0.0, 0.4):
        made, table, context = one_probe({"size_price": price})
        seen = made.transitions(context, slice(0, 30), 1)
        rewards[price] = seen.draw(np.random.default_rng(0))[2].numpy()
        sizes = table.row_sizes()[:30]
    np.testing.assert_allclose(rewards[0.0], 0.5)
    lost = np.unique((rewards[0.0] - rewards[0.4]).round(5))
    np.testing.assert_allclose(lost, np.unique((0.4 * ((sizes - 1) / 8) ** 2).round(5)), atol=1e-5)
