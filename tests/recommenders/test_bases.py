"""What the bases have in common, and the places where one becomes another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import slow_bases as slow
import torch

from sparserec.errors import SettingError
from sparserec.graph import build_adjacency
from sparserec.recommenders import RECOMMENDERS, make_recommender, rows_of
from sparserec.recommenders.mgdcf import diffusion
from sparserec.recommenders.xsimgcl import contrast_groups
from sparserec.table import DenseTable, Shape

TRAIN = slow.toy_interactions()


def vectors(name: str, settings: dict[str, Any], dim: int = 6) -> np.ndarray:
    base = make_recommender(name, settings)
    shape = Shape(TRAIN.n_users, TRAIN.n_items, dim, 4)
    table = DenseTable.create(
        shape, make_recommender("lightgcn").initial(1, TRAIN.n_users, TRAIN.n_items, dim)
    )
    return base.outputs(build_adjacency(TRAIN, base.self_loops), table)


def test_equal_weights_make_mgdcf_lightgcn() -> None:
    both = {"restart_weight": 1.0, "hop_weight": 1.0, "layers": 3}
    np.testing.assert_allclose(vectors("mgdcf", both), vectors("lightgcn", {"layers": 3}), rtol=1e-6)


def test_no_layers_make_lightgcn_and_mgdcf_matrix_factorisation() -> None:
    plain = vectors("mf", {})
    np.testing.assert_array_equal(vectors("lightgcn", {"layers": 0}), plain)
    np.testing.assert_array_equal(vectors("mgdcf", {"layers": 0}), plain)


def test_inference_of_xsimgcl_is_the_noise_free_mean_of_layers_after_the_first() -> None:
    matrix = torch.from_numpy(slow.dense_matrix(build_adjacency(TRAIN)))
    table = torch.from_numpy(vectors("mf", {}).astype(np.float64))
    expected = torch.stack(slow.propagate(matrix, table, 3)[1:]).mean(0)
    np.testing.assert_allclose(vectors("xsimgcl", {"noise": 0.5}), expected.numpy(), rtol=1e-5, atol=1e-7)


def test_published_diffusion_coefficients() -> None:
    assert diffusion(4, 0.1, 0.9) == pytest.approx((0.1, 0.09, 0.081, 0.0729, 0.6561))
    assert sum(diffusion(5, 0.7, 0.2)) == pytest.approx(1.0)


@pytest.mark.parametrize("name", [name for name, kind in RECOMMENDERS.items() if kind.user_rows])
def test_every_base_takes_the_plain_loss(name: str) -> None:
    base = make_recommender(name, {"loss": "bpr"})
    batch = slow.toy_batch(TRAIN, 9, 1, 1)
    rows = rows_of(batch, TRAIN.n_users, TRAIN.n_items)
    output = np.random.default_rng(0).standard_normal((len(rows.rows), 6)).astype(np.float32)
    loss = base.loss([output.copy() for _ in base.taps], rows, 0, 1)  # a loss may overwrite its outputs
    lead = slow.pair_lead(torch.from_numpy(_spread(output, rows.rows)), batch, TRAIN.n_users)
    assert loss.value == pytest.approx(torch.nn.functional.softplus(-lead).mean().item(), rel=1e-5)
    assert loss.ego_decay == pytest.approx(1e-4 / 9) and loss.output_decay == 0.0
    assert (base.sampling.negatives_per_edge, base.sampling.group_size, base.sampling.reject) == (1, 1, True)


def _spread(output: np.ndarray, rows: np.ndarray) -> np.ndarray:
    whole = np.zeros((TRAIN.n_users + TRAIN.n_items, output.shape[1]), np.float32)
    whole[rows] = output
    return whole


def test_initial_values_depend_on_the_full_dimension() -> None:
    yelp = make_recommender("xsimgcl").initial(0, 31_668, 38_048, 64)
    assert (yelp.user_scale, yelp.item_scale) == pytest.approx((0.01375, 0.01255), abs=1e-5)
    assert make_recommender("mgdcf").initial(0, 5, 6, 64).user_scale == 0.125


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(SettingError, match="contrast_layer 3 is beyond the last layer, 2"):
        make_recommender("xsimgcl", {"layers": 2, "contrast_layer": 3})
    with pytest.raises(SettingError, match="did you mean 'edge_dropout'"):
        make_recommender("mgdcf", {"edges_dropout": 0.5})
    with pytest.raises(SettingError, match="known: lightgcn, mgdcf, xsimgcl, mf, history"):
        make_recommender("ngcf")


def test_nodes_are_contrasted_in_groups_of_all_kinds() -> None:
    groups = contrast_groups(np.arange(7), 3)
    assert [group.tolist() for group in groups] == [[0, 3, 6], [1, 4], [2, 5]]
    assert [group.tolist() for group in contrast_groups(np.arange(7), 7)] == [list(range(7))]
    assert [group.tolist() for group in contrast_groups(np.arange(7), None)] == [list(range(7))]


def test_one_negative_of_info_bpr_is_allowed_and_none_is_not() -> None:
    base = make_recommender("mgdcf", {"negatives": 1, "group_size": 1})
    assert (base.sampling.negatives_per_edge, base.sampling.group_size) == (1, 1)
    for name in ("negatives", "group_size"):
        with pytest.raises(SettingError, match=rf"{name}: Input should be greater than or equal to 1"):
            make_recommender("mgdcf", {name: 0})
