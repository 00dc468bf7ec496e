"""Loops compiled by numba: how all of them are, where they are kept between two starts, and the exponential in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir
from numba import float32, int32, njit
from numba.extending import intrinsic

FAST = {"contract", "reassoc", "nsz", "arcp"}
"""What lets the compiler use vector instructions; not-a-number stays what it is, so that a broken training shows."""
LARGEST_EXPONENT = 80.0


def compiled(**options: Any) -> Callable[[Any], Any]:
    """Compile a function when it is first called, and keep the result on disk where there is a place for it.

    numba refuses a function whose cache it cannot write anywhere, as in a container with a read-only installation and
    no home. Compiling again in every process is slow, which `sparserec doctor` says, but it works.
    """

    def decorate(function: Any) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # no folder to write to: numba has no name of its own for this error
            return njit(**options)(function)

    return decorate


@intrinsic
def _as_float(context, bits):  # type: ignore[no-untyped-def]
    """The float32 with these bits."""
    return float32(int32), lambda _, builder, __, args: builder.bitcast(args[0], ir.FloatType())


@compiled(inline="always", fastmath=FAST)
def fast_exp(x):  # type: ignore[no-untyped-def]
    """exp for float32 within 5e-6 relative, as arithmetic alone: 2^whole by its bits, 2^rest by a polynomial."""
    x = min(max(x, np.float32(-87.0)), np.float32(LARGEST_EXPONENT)) * np.float32(1.4426950408889634)
    whole = np.int32(x + np.float32(128.5)) - np.int32(128)  # rounds: the shift makes it positive
    rest = x - np.float32(whole)
    power = np.float32(1.5403530e-4)
    power = power * rest + np.float32(1.3333558e-3)
    power = power * rest + np.float32(9.6181291e-3)
    power = power * rest + np.float32(5.5504109e-2)
    power = power * rest + np.float32(2.4022651e-1)
    power = power * rest + np.float32(6.9314718e-1)
    power = power * rest + np.float32(1.0)
    return power * _as_float(np.int32((whole + np.int32(127)) << 23))  # type: ignore[call-arg]


@compiled(inline="always", fastmath=FAST)
def fast_tanh(x):  # type: ignore[no-untyped-def]
    """tanh for float32 within 5e-6, from one exponential."""
    return np.float32(1.0) - np.float32(2.0) / (fast_exp(np.float32(2.0) * x) + np.float32(1.0))


def kept_in() -> Path | None:
    """The folder that compiled loops are kept in; None where every process compiles them."""
    folder = compiled()(_nothing).stats.cache_path
    return None if folder is None else Path(folder)


def _nothing() -> None:
    """What `kept_in` asks about."""
