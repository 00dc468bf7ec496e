"""The reader is compiled once for all tests of a process."""

import ctypes
import sys
from pathlib import Path

import pytest
from compiled import build, library

for folder in ("conformance", "benchmarks"):
    sys.path.insert(0, str(Path(__file__).parents[2] / folder))


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The reader as a library that Python can call."""
    out = tmp_path_factory.mktemp("c") / "srec.so"
    return library(build(out, "srec.c", flags=["-O2", "-shared", "-fPIC"]))


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program srec."""
    return build(tmp_path_factory.mktemp("c") / "srec", "main.c", "srec.c")


@pytest.fixture(scope="session")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fuzzer's harness with sanitizers that end it at the first finding."""
    flags = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    return build(tmp_path_factory.mktemp("c") / "fuzz", "fuzz.c", flags=flags)
