"""Whether a change of the code changes a result: a hash of the trained table of every method on every base.

    python benchmarks/same_tables.py before.json      # on the old state
    python benchmarks/same_tables.py after.json       # on the new one, same machine and packages
    python benchmarks/same_tables.py --compare before.json after.json

A file is written after every training, and what it holds already is not trained again.
Bits depend on the processor and on library versions, so nothing here is stored in the repository.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from itertools import product
from pathlib import Path

from safetensors import safe_open

import sparserec

SETTINGS = {
    "dim": 16,
    "epochs": 1,
    "recipe": {"batch_size": 8000, "validate_every": 1},
    "quiet": True,
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


def measure(path: Path) -> None:
    """Train everything that the file does not hold; the table's hash and what it scores, by `base method`."""
    from sparserec.methods import METHODS
    from sparserec.recommenders import RECOMMENDERS

    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for base, method in product(RECOMMENDERS, METHODS):
        if f"{base} {method}" in found:
            continue
        with tempfile.TemporaryDirectory() as folder:
            model = sparserec.fit("world", base=base, method=method, folder=Path(folder) / "run", **SETTINGS)
            scores = {name: metrics["ndcg@20"] for name, metrics in model.evaluate().items()}
            table = table_hash(Path(folder) / "run" / "model.safetensors")
        found[f"{base} {method}"] = {"table": table, "ndcg@20": scores}
        path.write_text(json.dumps(found, indent=1), encoding="utf-8")
        print(f"{base} {method} {scores['float']:.4f}", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    """Write hashes, or compare two files of them; 1 when something differs."""
    if arguments[:1] == ["--compare"]:
        before, after = (json.loads(Path(path).read_text(encoding="utf-8")) for path in arguments[1:3])
        changed = [name for name in sorted(before | after) if before.get(name) != after.get(name)]
        print("\n".join(f"differs: {name}" for name in changed) or f"all {len(before)} the same")
        return 1 if changed else 0
    measure(Path(arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
