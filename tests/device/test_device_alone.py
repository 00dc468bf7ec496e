"""The device package needs numpy and the standard library, nothing else, not even the rest of sparserec
(but for the few lines by which packages export names lazily)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
import importlib.abc, sys

class OnlyNumpy(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top == "sparserec":
            allowed = ("sparserec", "sparserec.extras", "sparserec.extras", "sparserec.errors", "sparserec.device")
            if name not in allowed and not name.startswith("sparserec.device."):
                raise ImportError(f"{name} is not part of the device package")
        elif top != "numpy" and top not in sys.stdlib_module_names:
            raise ImportError(f"{name} is neither numpy nor standard")
        return None

sys.meta_path.insert(0, OnlyNumpy())
sys.path.insert(0, sys.argv[1])
import numpy as np
from sparserec.device import ModelParts, encode_table, load, write_model

vectors = np.eye(4, dtype=np.float32)
parts = ModelParts("items", "mf", np.ones(1), score=encode_table(vectors + 0.1, 8), degree=np.ones(4, int))
write_model(sys.argv[2], parts)
model = load(sys.argv[2])
assert model.self_test() > 0 and len(model.recommend(history=[2], k=2)) == 2
print(",".join(sorted({name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names))))
"""


def test_numpy_is_all_it_needs(tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-c", SCRIPT, str(ROOT / "src"), str(tmp_path / "model.srec")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "torch" not in done.stdout and "scipy" not in done.stdout and "numpy" in done.stdout
