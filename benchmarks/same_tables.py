"""Whether a change of the code changes a result: a hash of the trained table of every method on every base.

    python benchmarks/same_tables.py before.json      # on the old state
    python benchmarks/same_tables.py after.json       # on the new one, same machine and packages
    python benchmarks/same_tables.py --compare before.json after.json
    python benchmarks/same_tables.py before.json --small history,mf set,gse    # a log of 240 users, some pairs

A file is written after every training, and what it holds already is not trained again. `--small` takes a fraction of a
second a pair where compiled code is at hand: for every change; the whole for a release. On base `history` it chooses no
temperature but for method static.
Bits depend on the processor and on library versions, so nothing here is stored in the repository.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open

import sparserec

SETTINGS: dict[str, Any] = {
    "data": "world",
    "dim": 16,
    "recipe": {"epochs": 1, "batch_size": 8000, "validate_every": 1},
    "quiet": True,
}
SMALL: dict[str, Any] = {
    "dim": 8,
    "recipe": {"epochs": 3, "batch_size": 300, "validate_every": 1, "explorations": 4},
    "quiet": True,
}
CHOSEN = {"temperature": 0.2, "length_exponent": 0.1}


def small_log() -> list[tuple[int, int]]:
    """Six groups of 40 users who keep to 20 items of their own, popular ones more."""
    rng = np.random.default_rng(5)
    users, own = rng.integers(0, 240, 4000), rng.random(4000) < 0.7
    inside = users % 6 * 20 + (rng.random(4000) ** 2 * 20).astype(np.int64)
    pairs = np.unique(users * 120 + np.where(own, inside, rng.integers(0, 120, 4000)))
    return [divmod(pair, 120) for pair in pairs.tolist()]


def settings_of(base: str, method: str, small: bool) -> dict[str, Any]:
    """What a pair is trained with."""
    if not small:
        return SETTINGS
    base_settings = CHOSEN if base == "history" and method != "static" else {}
    method_settings = {"hashes": 32, "width": 16} if method == "dhe" else {}
    return {
        **SMALL,
        "data": small_log(),
        "base_settings": base_settings,
        "method_settings": method_settings,
    }


def table_hash(model_file: Path) -> str:
    """Hash of all arrays of a table, their names, types and shapes."""
    digest = hashlib.sha256()
    with safe_open(model_file, framework="numpy") as file:
        for name in sorted(file.keys()):
            array = file.get_tensor(name)
            digest.update(f"{name} {array.dtype} {array.shape}".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()


def measure(path: Path, small: bool = False, bases: str = "", methods: str = "") -> None:
    """Train everything that the file does not hold; the table's hash and what it scores, by `base method`."""
    from sparserec.methods import METHODS
    from sparserec.recommenders import RECOMMENDERS

    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    pairs = product(bases.split(",") if bases else RECOMMENDERS, methods.split(",") if methods else METHODS)
    for base, method in pairs:
        if f"{base} {method}" in found:
            continue
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            model = sparserec.fit(base=base, method=method, folder=run, **settings_of(base, method, small))
            scores = {name: metrics["ndcg@20"] for name, metrics in model.evaluate().items()}
            found[f"{base} {method}"] = {"table": table_hash(run / "model.safetensors"), "ndcg@20": scores}
        path.write_text(json.dumps(found, indent=1), encoding="utf-8")
        print(f"{base} {method} {scores['float']:.4f}", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    """Write hashes, or compare two files of them; 1 when something differs."""
    if arguments[:1] == ["--compare"]:
        before, after = (json.loads(Path(path).read_text(encoding="utf-8")) for path in arguments[1:3])
        changed = [name for name in sorted(before | after) if before.get(name) != after.get(name)]
        print("\n".join(f"differs: {name}" for name in changed) or f"all {len(before)} the same")
        return 1 if changed else 0
    small = "--small" in arguments
    path, *pairs = [word for word in arguments if word != "--small"]
    measure(Path(path), small, *pairs)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
