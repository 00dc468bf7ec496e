"""One number of threads for torch and the compiled loops."""

from __future__ import annotations


def use_threads(count: int | None) -> int:
    """Set the threads of both; None leaves all cores. Returns what is in use."""
    import numba
    import torch

    if count is not None:
        torch.set_num_threads(count)
        most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        numba.set_num_threads(min(count, most))
    return torch.get_num_threads()
