"""Loops compiled by numba: how all of them are, and where they are kept between two starts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit


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


def kept_in() -> Path | None:
    """The folder that compiled loops are kept in; None where every process compiles them."""
    folder = compiled()(_nothing).stats.cache_path
    return None if folder is None else Path(folder)


def _nothing() -> None:
    """What `kept_in` asks about."""
