"""The conformance tools and the fuzzer are scripts; tests use their toys and mutations."""

import sys
from pathlib import Path

for folder in ("conformance", "benchmarks"):
    sys.path.insert(0, str(Path(__file__).parents[2] / folder))
