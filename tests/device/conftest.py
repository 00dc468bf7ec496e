"""The conformance tools are scripts; tests use their toys and mutations."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "conformance"))
