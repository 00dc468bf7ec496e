"""Both modes against dense matrices: known users, new users inserted one-way, explanations, similar items."""

from __future__ import annotations

import numpy as np
import pytest
from dense_reference import final_vectors, inserted_user
from golden import toy_parts
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import BASES, Toy, make_toy, operator

from sparserec.device import Model, encode_table, fake_quantise, loads, model_bytes
from sparserec.device.exact import bits_for, snap

HISTORY = [3, 7, 1, 12]
every_base = pytest.mark.parametrize("name", list(BASES))


def full_model(toy: Toy, name: str, bits: int = 8) -> tuple[Model, np.ndarray]:
    """A full-mode model and the quantised table it holds, in float64."""
    model = loads(model_bytes(toy_parts(toy, BASES[name], "full", bits, None)))
    return model, fake_quantise(toy.layer0, bits).astype(np.float64)


def exact_items_model(toy: Toy, name: str) -> tuple[Model, np.ndarray]:
    """An items-mode model whose tables hold the exact vectors (one entry a row and column: no rounding to speak of)."""
    table = fake_quantise(toy.layer0, 8).astype(np.float64)
    return loads(model_bytes(toy_parts(toy, BASES[name], "items", 8, None))), table


@every_base
@pytest.mark.parametrize("bits", [8, 4])
def test_known_users_are_exact_in_full(name: str, bits: int) -> None:
    toy = make_toy(1)
    model, table = full_model(toy, name, bits)
    final = final_vectors(toy, table, BASES[name])
    for user in range(toy.users):
        scores, seen = model.score_indices(user, None)
        assert np.allclose(scores, final[toy.users :] @ final[user], rtol=1e-9, atol=1e-9)
        assert set(seen) == set(toy.edges[1][toy.edges[0] == user])


@pytest.mark.parametrize("name", [name for name in BASES if name != "mf"])
@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0, 1.0], [1.0, 0.5, -1.0, 2.0]])
def test_new_users_are_exact_in_full(name: str, weights: list[float]) -> None:
    toy = make_toy(2)
    model, table = full_model(toy, name)
    vector = inserted_user(toy, table, BASES[name], HISTORY, weights)
    final = final_vectors(toy, table, BASES[name])
    scores, _ = model.score_indices(None, HISTORY, weights)
    assert np.allclose(scores, final[toy.users :] @ vector, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in BASES if name != "mf"])
def test_fold_in_is_exact_up_to_the_stored_tables(name: str) -> None:
    """With tables in int8 the error is that of int8; the formula itself is checked with tables held in float."""
    toy, base = make_toy(3), BASES[name]
    model, table = exact_items_model(toy, name)
    scores, _ = model.score_indices(None, HISTORY)
    exact = final_vectors(toy, table, base)[toy.users :] @ inserted_user(toy, table, base, HISTORY, [1.0] * 4)
    assert np.abs(scores - exact).max() < 0.02 * np.abs(exact).max()


@pytest.mark.parametrize("name", [name for name in BASES if name != "mf"])
def test_fold_in_formula_in_float(name: str) -> None:
    """The formula on exact tables gives the inserted user; the scorer on stored tables gives that formula, to 1e-9."""
    toy, base = make_toy(3), BASES[name]
    model, _ = exact_items_model(toy, name)
    table = fake_quantise(toy.layer0, 8).astype(np.float64)
    powers = [table]
    for _ in base.weight[1:]:
        powers.append(operator(toy, base.self_loops) @ powers[-1])
    layers = len(base.weight) - 1
    count = layers if base.self_loops else 1
    fold = [np.tensordot(base.weight[q + 1 :], powers[: layers - q], 1)[toy.users :] for q in range(count)]
    loop = int(base.self_loops)
    factors = 1 / np.sqrt((len(HISTORY) + loop) * (toy.item_degree[HISTORY] + loop))
    sigma = loop / (len(HISTORY) + 1)

    def folded_in(tables: list[np.ndarray]) -> np.ndarray:
        return sum(sigma**q * (factors @ part[HISTORY]) for q, part in enumerate(tables))  # type: ignore[return-value]

    inserted = inserted_user(toy, table, base, HISTORY, [1.0] * 4)
    assert np.allclose(folded_in(fold), inserted, rtol=1e-12)
    scorer = model.scorer
    stored = [np.array([part.row(row) for row in range(toy.items)]) for part in (scorer.score, *scorer.fold)]  # type: ignore[union-attr]
    assert len(stored) == 1 + count
    scores, _ = model.score_indices(None, HISTORY)
    assert np.allclose(scores, stored[0] @ folded_in(stored[1:]), rtol=1e-9, atol=1e-9)


@every_base
@pytest.mark.parametrize("mode", ["items", "full"])
def test_explanations_add_up_to_the_score(name: str, mode: str) -> None:
    toy = make_toy(4)
    model = loads(model_bytes(toy_parts(toy, BASES[name], mode, 8, None)))
    weights = [1.0, -0.5, 2.0, 1.0]
    scores, _ = model.score_indices(None, HISTORY, weights)
    for item in range(toy.items):
        found = model.explain(HISTORY, item, weights)
        assert found.score == pytest.approx(scores[item], rel=1e-9, abs=1e-9)
        assert [part.id for part in found.contributions] == HISTORY


@every_base
def test_contribution_is_the_score_of_that_item_alone(name: str) -> None:
    """Linear in the weights: setting all other weights to (almost) nothing leaves one contribution."""
    toy = make_toy(5)
    model, _ = full_model(toy, name)
    whole = model.explain(HISTORY, 0)
    for place, part in enumerate(whole.contributions):
        weights = [1e-12] * 4
        weights[place] = 1.0
        assert model.explain(HISTORY, 0, weights).score == pytest.approx(part.score, rel=1e-6, abs=1e-9)


@every_base
def test_similar_items(name: str) -> None:
    toy = make_toy(6)
    model, table = full_model(toy, name)
    final = final_vectors(toy, table, BASES[name])[toy.users :]
    products = final @ final[5]
    products[5] = -np.inf
    answer = model.similar(5, k=4)
    assert [item.score for item in answer] == pytest.approx(np.sort(products)[::-1][:4], rel=1e-9, abs=1e-12)

    items = loads(model_bytes(toy_parts(toy, BASES[name], "items", 8, None)))
    stored = np.array([items.scorer.score.row(row) for row in range(toy.items)])  # type: ignore[union-attr]
    lengths = np.linalg.norm(stored, axis=1)
    used = lengths > 0
    cosine = np.zeros(toy.items)
    cosine[used] = stored[used] @ stored[5] / (lengths[used] * lengths[5])
    cosine[5] = -np.inf
    assert [item.score for item in items.similar(5, k=4)] == pytest.approx(
        np.sort(cosine)[::-1][:4], rel=1e-9, abs=1e-12
    )


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200), st.integers(0, 10**6))
def test_sums_on_the_grid_do_not_depend_on_the_order(values: list[float], seed: int) -> None:
    snapped = snap(np.array(values), 52 - bits_for(len(values)))
    forward = sum(snapped.tolist())
    assert forward == float(snapped.sum()) == sum(np.random.default_rng(seed).permutation(snapped).tolist())
    largest = np.abs(values).max()
    assert np.abs(snapped - values).max() <= largest * 2.0 ** -(51 - bits_for(len(values)))


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(["bitmask", "byte-index", "dense"]), st.sampled_from([8, 4]))
def test_products_against_dense(seed: int, encoding: str, bits: int) -> None:
    rng = np.random.default_rng(seed)
    rows, dim = int(rng.integers(1, 9000)), int(rng.integers(1, 20))
    table = rng.choice([-1, 0, 0, 1], (rows, dim)) * (0.5 + rng.random((rows, dim)))
    parts = toy_parts(make_toy(0), BASES["mf"], "items", 8, None)
    encoded = encode_table(table, bits, encoding)
    model = loads(
        model_bytes(
            type(parts)(**(parts.__dict__ | {"score": encoded, "degree": np.ones(rows, int), "fold": ()}))
        )
    )
    stored = fake_quantise(table, bits).astype(np.float64)
    score = model.scorer.score  # type: ignore[union-attr]
    vector, weights = rng.standard_normal(dim), rng.standard_normal(rows)
    assert np.allclose(score.dots(vector), stored @ vector, rtol=1e-8, atol=1e-8)
    assert np.allclose(score.rowsum(weights), weights @ stored, rtol=1e-6, atol=1e-6)
    some = rng.integers(0, rows, 7)
    assert np.array_equal(score.dots_of(vector, some), score.dots(vector)[some])
    assert np.allclose(score.rowsum(weights[some], some), weights[some] @ stored[some], rtol=1e-8, atol=1e-8)
