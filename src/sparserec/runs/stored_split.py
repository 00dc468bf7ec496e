"""The split of a run as a file, so that a run folder alone is enough to evaluate, recommend and export."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sparserec.data import IdMap, Interactions, ItemInfo, Split
from sparserec.training import Arrays, fitting, read_arrays, write_arrays

PARTS = ("train", "valid", "test", "given")
"""The last one only where users are held out whole."""


def save_split(path: Path, split: Split) -> None:
    """Write pairs, external ids and item names."""
    arrays: Arrays = {}
    for name in PARTS:
        part: Interactions | None = getattr(split, name)
        if part is not None:
            arrays[f"{name}.users"], arrays[f"{name}.items"] = part.users, part.items
            if part.weights is not None:
                arrays[f"{name}.weights"] = part.weights
    state = {"protocol": split.protocol, "seed": split.seed, "hash": split.hash}
    for side, ids in (("user", split.train.user_ids), ("item", split.train.item_ids)):
        external = ids.external()
        if ids.is_integer:
            arrays[f"{side}.ids"] = external
        else:
            arrays |= _pack(f"{side}.ids", [str(one) for one in external])
    info = split.train.item_info
    if info is not None and info.titles is not None:
        arrays |= _pack("titles", list(info.titles))
    if info is not None and info.tags is not None:
        arrays |= _pack("tags", ["\t".join(tags) for tags in info.tags])
    write_arrays(path, arrays, state)


def load_split(path: Path) -> Split:
    """Read what save_split wrote."""
    arrays, state = read_arrays(path)
    with fitting(path):
        users, items = _ids("user", arrays), _ids("item", arrays)
        titles = _unpack("titles", arrays)
        tags = _unpack("tags", arrays)
        info = None
        if titles is not None or tags is not None:
            info = ItemInfo(
                titles, [tuple(t for t in one.split("\t") if t) for one in tags] if tags else None
            )
        stored = PARTS if "given.users" in arrays else PARTS[:3]
        train, valid, test, *given = (
            Interactions(
                arrays[f"{name}.users"],
                arrays[f"{name}.items"],
                users,
                items,
                None,
                info,
                weights=arrays.get(f"{name}.weights"),
            )
            for name in stored
        )
        return Split(train, valid, test, state["protocol"], state["seed"], state["hash"], *given)


def _pack(name: str, texts: list[str]) -> Arrays:
    raw = [text.encode() for text in texts]
    ends = np.cumsum([len(one) for one in raw], dtype=np.int64)
    return {f"{name}.text": np.frombuffer(b"".join(raw), np.uint8), f"{name}.ends": ends}


def _unpack(name: str, arrays: Arrays) -> list[str] | None:
    if f"{name}.ends" not in arrays:
        return None
    raw, ends = arrays[f"{name}.text"].tobytes(), arrays[f"{name}.ends"]
    starts = np.concatenate([[0], ends[:-1]])
    return [raw[a:b].decode() for a, b in zip(starts, ends)]


def _ids(side: str, arrays: Arrays) -> IdMap:
    texts = _unpack(f"{side}.ids", arrays)
    return IdMap(np.array(texts)) if texts is not None else IdMap(arrays[f"{side}.ids"])
