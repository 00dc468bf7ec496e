"""bet and ciess: budgets allocated to rows, what their networks learn, and searches that can be stopped."""

from __future__ import annotations

import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from method_toy import block_source, config_of, small_context

from sparserec.errors import SettingError
from sparserec.methods import METHODS, Context, Phase, PhaseResult, Validation, make_method
from sparserec.methods.agents import Agent, Transitions, walk
from sparserec.methods.bet import BET, BETSettings, Predictor, draw_sizes, ever_best, torch_frequencies
from sparserec.methods.ciess import CIESS, CIESSSettings, row_quality
from sparserec.methods.row_sizes import allocate, fitted, user_quality
from sparserec.process import StopRequested
from sparserec.runs.train import Finished, train_run
from sparserec.table import DenseTable, InitialValues, PrefixTable, Shape

EIGHT = Shape(1, 1, 4, 2)  # two rows of four numbers, in two blocks


def test_a_prefix_is_one_size_and_no_indices() -> None:
    dense = np.array([[1, 2, 3, 4], [5, 6, 7, 8]], np.float32)
    table = PrefixTable.cut(EIGHT, np.array([3, 1]), [dense[:, :2].copy(), dense[:, 2:].copy()])
    rows, columns, values = table.entries()
    assert sorted(zip(rows, columns, values)) == [(0, 0, 1), (0, 1, 2), (0, 2, 3), (1, 0, 5)]
    assert table.row_sizes().tolist() == [3, 1] and table.parameters() == 4
    assert table.stored_bytes(8) == table.encoded(np.arange(2), 8).nbytes > table.stored_bytes(4)
    fresh = PrefixTable.of_sizes(EIGHT, np.array([3, 1]), InitialValues(1, "normal", 0.1, 0.1))
    start = DenseTable.create(EIGHT, InitialValues(1, "normal", 0.1, 0.1)).matrix()
    assert sorted(fresh.values) == sorted([*start[0, :3], start[1, 0]])
    again = PrefixTable.revive(EIGHT, fresh.state())
    assert again.kind == "prefix" and again.stored_bytes(8) == fresh.stored_bytes(8)


def test_what_is_left_is_dealt_out_by_hand() -> None:
    order = np.array([2, 0, 3, 1])  # the most frequent row first
    sizes = np.array([3, 1, 4, 2])
    assert allocate(sizes, 10, 4, order).tolist() == [3, 1, 4, 2], "nothing to do"
    # Row 2 is full: one more each for rows 0, 3 and 1, then rows 3 and 1 again.
    assert allocate(sizes, 13, 4, order).tolist() == [4, 2, 4, 3]
    assert allocate(sizes, 15, 4, order).tolist() == [4, 3, 4, 4]
    # One less from the rarest that has more than one: row 1 has one, so rows 3, 0, 2, then 0 and 2 again.
    assert allocate(sizes, 7, 4, order).tolist() == [2, 1, 3, 1]
    assert allocate(sizes, 5, 4, order).tolist() == [1, 1, 2, 1]


@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.floats(0.0, 1.0))
def test_budgets_are_met_to_the_last_number(rows: int, seed: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    users, dim = int(rng.integers(0, rows + 1)), 16
    budget = rows + round(density * rows * (dim - 1))
    frequencies = rng.integers(1, 50, users), rng.integers(1, 50, rows - users)
    order = np.argsort(-np.concatenate(frequencies), kind="stable")
    for sizes in (
        draw_sizes(frequencies, budget, dim, rng),
        fitted(rng.integers(1, 17, rows), budget, dim, order),
    ):
        assert sizes.sum() == budget and sizes.min() >= 1 and sizes.max() <= dim


def test_sizes_follow_frequency_and_keep_proportions() -> None:
    rng = np.random.default_rng(0)
    frequencies = rng.permutation(300), rng.permutation(200)
    for _ in range(20):
        sizes = draw_sizes(frequencies, 2000, 32, rng)
        for counts, part in zip(frequencies, (sizes[:300], sizes[300:])):
            assert (np.diff(part[np.argsort(-counts)]) <= 1).all(), "dealing out may add one"
    wanted = np.array([10, 20, 40, 80])
    assert fitted(wanted, 30, 128, np.arange(4)).tolist() == [2, 4, 8, 16]


def test_the_predictor_learns_which_action_is_better() -> None:
    context = small_context(Shape(12, 8, 16, 16), 0.5)
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 9, 12), rng.integers(1, 9, 8)
    object.__setattr__(context, "frequencies", lambda: counts)
    seen, predictor = torch_frequencies(context), Predictor(3)
    flat, steep = np.full(20, 8), np.where(np.arange(20) < 10, 15, 1)
    errors = [
        predictor.learn(seen, sizes, 16, good)
        for _ in range(60)
        for sizes, good in ((flat, 0.4), (steep, 1.0))
    ]
    assert np.mean(errors[-10:]) < 0.01 < np.mean(errors[:10])
    with torch.no_grad():
        rows = predictor.encode(seen)
        assert predictor.fitness(predictor.embed(rows, steep, 16)) > predictor.fitness(
            predictor.embed(rows, flat, 16)
        )
    again = Predictor(4)
    again.load(predictor.state())
    assert again.learn(seen, flat, 16, 0.4) == predictor.learn(seen, flat, 16, 0.4), (
        "weights and moments came back"
    )


def test_who_was_ever_among_the_best() -> None:
    assert ever_best([0.1, 0.5, 0.3, 0.2, 0.9, 0.4], 2) == {0, 1, 2, 4}
    assert ever_best([0.1, 0.1, 0.1], 1) == {0}
    method = BET(BETSettings(probes=6, retrained=2))
    method.scores = [0.1, 0.5, 0.3, 0.2, 0.9, 0.4]
    assert method.best(small_context(EIGHT, 0.5)) == [4, 1]
    every = BET(BETSettings(probes=6, retrained=None, population=2))
    every.scores = method.scores
    assert every.best(small_context(EIGHT, 0.5)) == [4, 1, 2, 0]


def test_how_bet_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Best predicted three times, then the nearest to the best so far, then a random one."""
    context = small_context(Shape(12, 8, 16, 16), 0.5, validate=lambda table, also_at=(): None)
    method = BET(BETSettings(actions=12))
    method.sizes, method.scores = [np.full(20, 8, np.uint16)], [1.0]
    monkeypatch.setattr(Predictor, "embed", lambda self, rows, sizes, dim: torch.tensor([float(sizes.std())]))
    monkeypatch.setattr(Predictor, "fitness", lambda self, embedding: embedding[0])
    spread = [float(method.choose(context, number).std()) for number in range(5)]
    drawn = [
        [float(draw_sizes(context.frequencies(), 160, 16, rng).std()) for _ in range(12)]
        for rng in (np.random.default_rng([1, 71, number]) for number in range(5))
    ]
    assert spread == [max(drawn[0]), max(drawn[1]), max(drawn[2]), min(drawn[3]), drawn[4][0]]


def test_one_actor_step_on_a_known_critic() -> None:
    """A critic that likes large actions of frequent rows and small ones of the others, by hand: value = state0 *
    action.
    """

    class Known(torch.nn.Module):
        def forward(self, given: torch.Tensor) -> torch.Tensor:
            return given[:, :1] * given[:, 3:]

    agent = Agent(128, 0)
    agent.critics[0] = Known()
    state = torch.tensor([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    before = torch.tanh(agent.actor(state)).detach()
    assert before.abs().max() < 0.2, "proposals begin in the middle"
    agent.improve_actor(state)
    after = torch.tanh(agent.actor(state)).detach()
    assert after[0] > before[0] and after[1] < before[1]
    for _ in range(60):
        agent.improve_actor(state)
    rng = np.random.default_rng(0)
    sizes = agent.act(state, rng)
    assert sizes[0] > 110 and sizes[1] < 20


def test_the_critics_learn_the_reward_and_what_follows() -> None:
    """Two probes of one episode: the last one's value is its reward, the first one's that and what follows."""

    def rows(*pair: float) -> np.ndarray:
        return np.tile(np.array(pair, np.float32), 100)

    sizes, quality = [rows(5, 5), rows(3, 5), rows(1, 3)], [rows(0, 0), rows(0.25, 0.5), rows(0.5, 1)]
    seen = Transitions(rows(1, 9), sizes, quality, rows(1, 1), 5, 2, 0.1)
    state, action, reward, after, goes_on = seen.draw(np.random.default_rng(0))
    assert set(map(tuple, state.tolist())) == {(-1, 1, -1), (1, 1, -1), (-1, 0, -0.5), (1, 1, 0)}
    last = goes_on == 0
    assert set(action[last, 0].tolist()) == {-1.0, 0.0} and set(action[~last, 0].tolist()) == {0.0, 1.0}
    expected = {0.25 - 0.1 * 0.16, 0.5 - 0.1 * 0.64, 0.5, 1.0 - 0.1 * 0.16}
    assert {round(one, 5) for one in reward.tolist()} == {round(one, 5) for one in expected}
    assert torch.equal(after[~last][:, 2] > -1, torch.ones(int((~last).sum()), dtype=torch.bool))
    agent = Agent(5, 1)
    for step in range(60):
        agent.learn(seen, np.random.default_rng([7, step]))
    values = agent.value(agent.critics[0], state[last], action[last])
    assert float((values - reward[last]).detach().abs().mean()) < 0.1
    again = Agent(5, 9)
    again.load("users", agent.state("users"))
    for one in (agent, again):
        one.learn(seen, np.random.default_rng(99))
    same = zip(agent.state("users").values(), again.state("users").values())
    assert all(np.array_equal(left, right) for left, right in same)


def test_a_walk_stays_near_and_inside() -> None:
    sizes = np.repeat([1.0, 64.0, 128.0], 2000)
    visited = walk(sizes, 128, np.random.default_rng(0))
    assert len(visited) == 6 and visited[0] is sizes
    for before, after in pairwise(visited):
        step = np.abs(after - before)
        assert step.min() >= 1 and step.max() <= 5 and after.min() >= 1 and after.max() <= 128
    first = np.abs(visited[1] - sizes)[2000:4000]
    assert 1.7 < (first == 1).mean() / (first == 2).mean() < 2.4, "half as likely at twice the distance"


def test_quality_of_users_and_items() -> None:
    per_user = {
        "recall@5": np.array([0.2, 0.6]),
        "ndcg@5": np.array([0.4, 1.0]),
        "recall@7": np.array([9.0, 9.0]),
    }
    users = user_quality(Validation(0.0, {}, per_user, np.array([0, 2])), 3)
    np.testing.assert_allclose(users, [0.3, 0.55, 0.8])  # the second has nothing held out: the others' mean
    context = small_context(Shape(3, 2, 4, 4), 0.5)  # everybody has everything
    np.testing.assert_allclose(row_quality(context, users), [0.3, 0.55, 0.8, 0.55, 0.55])


def test_ciess_keeps_the_best_within_the_budget() -> None:
    context = small_context(Shape(2, 2, 8, 8), 0.5, validate=lambda table, also_at=(): None)
    method = CIESS(CIESSSettings(episodes=1, episode_steps=5, retrained=4))
    method.sizes = [np.full(4, size) for size in (4, 3, 8, 6)]  # the budget is 16
    method.scores = [0.2, 0.3, 0.9, 0.8]
    assert method.best(context) == [1, 0, 3, 2], (
        "within the budget by score, then the smallest, then none yet"
    )
    method.peak = np.ones(4, np.float32)
    sizes = method.start(
        context,
        Phase("retrain 2", 10, kind="retrain"),
        PrefixTable.of_sizes(context.shape(), np.ones(4), context.initial(8)),
    ).row_sizes()
    assert sizes is not None and sizes.tolist() == [4, 4, 4, 4], "fitted to the budget"


@pytest.mark.parametrize("method", ["bet", "ciess"])
def test_what_cannot_be_searched_is_refused(method: str) -> None:
    with pytest.raises(SettingError, match=f"{method} gives every row at least one number"):
        make_method(method).start(small_context(Shape(9, 9, 4, 4), 0.2), Phase("dense", 10), None)


SEARCHES: dict[str, dict[str, Any]] = {
    "bet": {"probes": 3, "probe_share": 0.2, "actions": 4, "retrained": 1},
    "ciess": {"episodes": 1, "episode_steps": 3, "probe_share": 0.2, "updates": 2, "retrained": 1},
}


@pytest.mark.parametrize("method", SEARCHES)
def test_a_stopped_search_goes_on_as_if_nothing_had_happened(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped in the second probe: sizes, networks and tables of the rest are the same to the bit."""
    recipe = {"epochs": 4, "batch_size": 200, "validate_every": 2}
    config = config_of(method, recipe=recipe, method_settings=SEARCHES[method], checkpoint_every=2)

    def run(folder: str, resume: bool = False) -> Finished:
        return train_run(config, tmp_path / folder, source=block_source(), resume=resume)

    whole = run("whole")
    kind, calls = METHODS[method], [0]
    after_step = kind.after_step  # type: ignore[attr-defined]

    def stopping(self: Any, context: Context, table: Any, now: Any) -> bool:
        calls[0] += now.phase.name == "probe 1"
        if calls[0] == 1:
            signal.raise_signal(signal.SIGTERM)
        return after_step(self, context, table, now)

    with monkeypatch.context() as patch, pytest.raises(StopRequested):
        patch.setattr(kind, "after_step", stopping)
        run("again")
    resumed = run("again", resume=True)
    names = [result["name"] for result in resumed.record["epochs"]]
    assert names[:4] == ["dense", "probe 0", "probe 1", "probe 2"] and names[4].startswith("retrain")
    assert [result["steps"] for result in resumed.record["epochs"]] == [12, 2, 2, 2, 12]
    for name, array in whole.table.state().items():
        np.testing.assert_array_equal(resumed.table.state()[name], array, err_msg=name)


def test_phases_of_a_search_end_with_the_best() -> None:
    context = small_context(Shape(12, 8, 16, 16), 0.5, validate=lambda table, also_at=(): None)
    method = BET(BETSettings(probes=2, retrained=2))
    method.scores = [0.2, 0.4]
    done = [
        PhaseResult(name, 1, score) for name, score in (("dense", 0.5), ("probe 0", None), ("probe 1", None))
    ]
    names = []
    for score in (0.3, 0.7, 0.7):
        phase = method.next_phase(context, done)
        assert phase is not None
        names.append((phase.name, phase.starts_from))
        done.append(PhaseResult(phase.name, 1, score))
    assert names == [("retrain 1", None), ("retrain 0", None), ("choose", 4)]
    assert method.next_phase(context, done) is None
