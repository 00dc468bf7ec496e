"""Streaming top-k against a ranking that sorts every score, ties and hidden items included."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from sparserec.errors import DataError, SettingError, TrainingError
from sparserec.evaluation import NO_ITEM, Listing, tile_shape, top_items


def listing(pairs: set[tuple[int, int]], n_users: int) -> tuple[np.ndarray, np.ndarray]:
    ordered = sorted(pairs)
    counts = np.bincount([user for user, _ in ordered], minlength=n_users) if ordered else np.zeros(n_users)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return offsets, np.array([item for _, item in ordered], dtype=np.int32)


def sort_everything(
    scores: np.ndarray, users: np.ndarray, k: int, hidden: set[tuple[int, int]]
) -> np.ndarray:
    """Python's sort by (-score, id) of the items not hidden."""
    rows = []
    for user in users.tolist():
        left = [item for item in range(scores.shape[1]) if (user, item) not in hidden]
        best = sorted(left, key=lambda item: (-scores[user, item], item))[:k]
        rows.append(best + [NO_ITEM] * (k - len(best)))
    return np.array(rows, dtype=np.int32).reshape(len(users), k)


@st.composite
def worlds(draw: st.DrawFn) -> dict:
    """Small whole-number vectors: products are exact, so ties are frequent and really equal."""
    n_users, n_items, dim = draw(st.integers(1, 9)), draw(st.integers(1, 150)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.0, 0.2, 0.9, 1.0]))
    masks = rng.random((2, n_users, n_items)) < share
    return {
        "user_table": torch.from_numpy(rng.integers(-2, 3, (n_users, dim)).astype(np.float32)),
        "item_table": torch.from_numpy(rng.integers(-2, 3, (n_items, dim)).astype(np.float32)),
        "users": rng.permutation(n_users)[: draw(st.integers(0, n_users))],
        "k": draw(st.integers(1, n_items)),
        "hidden": [{(int(u), int(i)) for u, i in zip(*np.nonzero(mask))} for mask in masks],
        "scratch": draw(st.sampled_from([64, 500, 5000, 32 << 20])),
    }


@given(worlds())
def test_streaming_equals_sorting_every_score(world: dict) -> None:
    user_table, item_table = world["user_table"], world["item_table"]
    expected = sort_everything(
        (user_table @ item_table.T).numpy(), world["users"], world["k"], set().union(*world["hidden"])
    )
    got = top_items(
        lambda users: user_table[torch.as_tensor(users, dtype=torch.int64)],
        item_table,
        world["users"],
        world["k"],
        [listing(hidden, len(user_table)) for hidden in world["hidden"]],
        scratch_bytes=world["scratch"],
    )
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, expected)


def test_real_numbers_in_many_tiles_and_in_one() -> None:
    generator = torch.Generator().manual_seed(1)
    user_table, item_table = (
        torch.randn(300, 24, generator=generator),
        torch.randn(700, 24, generator=generator),
    )
    users = np.arange(300)
    pick = user_table.__getitem__
    whole = top_items(pick, item_table, users, 20, [])
    order = np.argsort(-(user_table.double() @ item_table.double().T).numpy(), axis=1, kind="stable")[:, :20]
    np.testing.assert_array_equal(whole, order)
    for scratch in (3_000, 20_000, 100_000):
        np.testing.assert_array_equal(top_items(pick, item_table, users, 20, [], scratch), whole)


def test_equal_scores_come_in_the_order_of_ids() -> None:
    ones = torch.ones(130, 1)
    seen = (np.array([0, 2], dtype=np.int32), np.array([1, 3], dtype=np.int32))
    for scratch in (16, 200, 1 << 20):
        top = top_items(lambda users: ones[: len(users)], ones, np.array([0]), 4, [seen], scratch)
        assert top.tolist() == [[0, 2, 4, 5]]


def test_lists_may_be_read_only_and_of_other_integer_types() -> None:
    frozen = np.array([0], dtype=np.int32)
    frozen.flags.writeable = False
    seen: list[Listing] = [
        (np.array([0, 1]), frozen),
        (np.array([0, 1], dtype=np.int32), np.array([2], dtype=np.int64)),
    ]
    top = top_items(
        lambda users: torch.ones(1, 1), torch.tensor([[3.0], [2.0], [1.0], [0.0]]), np.array([0]), 2, seen
    )
    assert top.tolist() == [[1, 3]]


@given(st.integers(1, 10**8), st.integers(1, 10**8), st.integers(1, 2048), st.integers(1, 1000))
def test_tile_fits_the_scratch_whatever_the_size(n_users: int, n_items: int, dim: int, k: int) -> None:
    chunk, block = tile_shape(n_users, n_items, dim, k, 32 << 20)
    assert 1 <= chunk <= n_users and 1 <= block <= n_items
    assert 4 * (chunk * block + chunk * (dim + k + 1)) <= 32 << 20


class LargestTensor(TorchDispatchMode):
    """Remembers the most bytes any operation's result held."""

    largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.largest = max(self.largest, result.untyped_storage().nbytes())
        return result


def test_memory_stays_within_the_scratch() -> None:
    user_table, item_table = torch.randn(3000, 8), torch.randn(9000, 8)  # 108 MB of scores, 288 kB of vectors
    users, scratch = np.arange(3000), 1 << 20
    with LargestTensor():  # compile and import first
        top_items(user_table.__getitem__, item_table, users[:2], 20, [], scratch)
    tracemalloc.start()
    with LargestTensor() as watched:
        top = top_items(user_table.__getitem__, item_table, users, 20, [], scratch)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert watched.largest <= scratch
    assert peak <= top.nbytes + users.nbytes + scratch


def test_what_is_refused() -> None:
    table = torch.ones(5, 2)
    seen = (np.zeros(6, dtype=np.int32), np.zeros(0, dtype=np.int32))
    with pytest.raises(SettingError, match=r"k = 6.*number of items, 5"):
        top_items(table.__getitem__, table, np.arange(5), 6, [])
    with pytest.raises(DataError, match="user 5 is not among the 5 users"):
        top_items(table.__getitem__, table, np.array([5]), 1, [seen])
    with pytest.raises(DataError, match="user -1"):
        top_items(table.__getitem__, table, np.array([-1]), 1, [seen])
    with pytest.raises(ValueError, match="float64"):
        top_items(table.__getitem__, table.double(), np.arange(5), 1, [])
    for place in (0, 4):
        broken = table.clone()
        broken[place, 0] = float("nan")
        with pytest.raises(TrainingError, match="not a number"):
            top_items(table.__getitem__, broken, np.arange(5), 1, [])
