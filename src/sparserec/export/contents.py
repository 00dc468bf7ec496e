"""Putting a trained run into the parts of a device file, mode by mode."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sparserec.data import IdMap, ItemInfo
from sparserec.device import FoldInWeights, ModelParts
from sparserec.encodings import Encoded, EncodedLists, EncodedVectors, Encoding
from sparserec.errors import SettingError
from sparserec.export.sides import Side
from sparserec.runs import Trained


def kept_items(run: Trained, min_users: int) -> np.ndarray:
    """Items that at least `min_users` users chose (rarer ones may hint at who they are), in the order of their ids.

    In that order ids 0, 1, 2 .. take no bytes at all, others need no search index, and the graph is smallest.
    """
    order = id_order(run.split.train.item_ids)
    kept = order[run.split.train.item_counts()[order] >= min_users]
    if len(kept) == 0:
        raise SettingError(
            f"`min_users` {min_users} leaves no item; the most popular one has "
            f"{run.split.train.item_counts().max()} users"
        )
    return kept


def file_parts(shipped: Side, info: ItemInfo | None, card: dict[str, Any], encoding: Encoding) -> ModelParts:
    """Modes `items` and `personal`: no interaction list, but in the second all that one user has."""
    encoded, options = shipped.encoded(encoding), shipped.options
    card = card | {"encoding": encoding.label}
    if encoding.of.lists:
        card["list_users"] = options.list_users
    parts = item_parts(shipped.run, encoded, shipped.items, info, card, encoding.kind)
    if options.mode != "personal":
        return parts
    if isinstance(encoded, EncodedLists):
        raise SettingError(
            "mode personal holds a user's vector, and neighbours have none: mode items serves it"
        )
    return personal_parts(parts, shipped, encoded)


def item_parts(
    run: Trained,
    encoded: Encoded,
    items: np.ndarray,
    info: ItemInfo | None,
    card: dict[str, Any],
    kind: str = "",
) -> ModelParts:
    """Mode `items`: vectors and degrees of the kept items; `neighbours`: lists in their place. No interaction list.

    Lists that are made from the log hold nothing of the model, so neither its name nor its test results are with them,
    but the name of their `kind`.
    """
    base, name = run.recommender, run.config.base
    fold_in, self_loops = base.fold_in_weights, base.self_loops
    tables: dict[str, Any]
    if isinstance(encoded, EncodedLists):
        if encoded.equal_weights:
            fold_in, self_loops, name = FoldInWeights(exponent=0.0), False, kind
            card = {key: value for key, value in card.items() if key not in ("density", "test")}
            card["method"] = kind
        tables = {"mode": "neighbours", "lists": encoded.lists, "fold_in": fold_in or FoldInWeights()}
    else:
        tables = {"mode": "items", "score": encoded.score, "fold": encoded.fold, "fold_in": fold_in}
    return ModelParts(
        base=name, weight=np.asarray(base.taps[0]), self_loops=self_loops, **tables,
        degree=run.split.train.item_counts()[items], users=run.split.n_users, term=encoded.term,
        item_ids=file_ids(run.split.train.item_ids.take(items)), **_names(info, items), card=card,
    )  # fmt: skip


def personal_parts(parts: ModelParts, shipped: Side, encoded: EncodedVectors) -> ModelParts:
    """Mode `personal`: the items and one user's own vector, and all that is known of them, which is not suggested."""
    run, user = shipped.run, shipped.options.user
    index = int(run.split.train.user_ids.index_of([user])[0])
    if index < 0:
        raise SettingError(f"`user` {user!r}: not in this run")
    known_pairs = run.split.everything()
    seen = known_pairs.items[known_pairs.users == index]
    place = np.full(run.split.n_items, -1)
    place[shipped.items] = np.arange(len(shipped.items))
    seen = place[seen]
    known = run.split.train.user_ids.external([index])[0]
    return replace(
        parts,
        mode="personal",
        user_vector=encoded.turned(shipped.vectors.users[index]),
        user_seen=np.sort(seen[seen >= 0]),
        user_id=int(known) if run.split.train.user_ids.is_integer else str(known),
    )


def id_order(ids: IdMap) -> np.ndarray:
    """Indices by ascending external id: integers by value, text by its UTF-8 bytes."""
    external = ids.external()
    if ids.is_integer:
        return np.argsort(external, kind="stable")
    return np.array(sorted(range(len(external)), key=lambda index: str(external[index]).encode()))


def full_parts(shipped: Side, info: ItemInfo | None, card: dict[str, Any], bits: int) -> ModelParts:
    """Mode `full`: the layer-0 table and everybody's history; exact for known users.

    The graph is all that is known, so that nothing a user has is recommended to them. On the sample, propagating over
    what became known after training made the test score higher, not lower.
    """
    run, known = shipped.run, shipped.run.split.everything()
    users, items = id_order(known.user_ids), id_order(known.item_ids)
    renamed = known.relabel(users, items)
    rows = np.concatenate([users, items + known.n_users])
    return ModelParts(
        mode="full", base=run.config.base, weight=np.asarray(run.recommender.taps[0]),
        self_loops=run.recommender.self_loops, layer0=run.table.encoded(rows, bits),
        edges=(renamed.users, renamed.items), users=known.n_users,
        item_norm=shipped.full_lengths[items], item_ids=file_ids(renamed.item_ids),
        user_ids=file_ids(renamed.user_ids), **_names(info, items), card=card,
    )  # fmt: skip


def file_ids(ids: IdMap) -> Any:
    """Ids as a file takes them: None where they are 0, 1, 2 .."""
    external = ids.external()
    if not ids.is_integer:
        return [str(one) for one in external]
    return None if np.array_equal(external, np.arange(len(external))) else external


def _names(info: ItemInfo | None, items: np.ndarray) -> dict[str, Any]:
    if info is None:
        return {}
    given = {"titles": info.titles, "tags": info.tags}
    return {name: [of[item] for item in items] for name, of in given.items() if of is not None}
