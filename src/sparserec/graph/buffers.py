"""Arrays that a training keeps between its steps."""

from __future__ import annotations

import numpy as np
import torch


class Buffers:
    """Arrays by name, each as large as was ever asked for.

    An array of megabytes that is allocated anew in every step costs as much time as its sums do: the system hands out
    every page of it again. Sixteen float32 are one cache line here; where numpy puts an array, they are parts of two.
    """

    def __init__(self) -> None:
        self._flat: dict[str, torch.Tensor] = {}

    def array(self, name: str, shape: tuple[int, int], dtype: np.dtype) -> np.ndarray:
        """Not filled, and anybody's who asks for the same name again."""
        size, kind = shape[0] * shape[1], torch.from_numpy(np.empty(0, dtype)).dtype
        kept = self._flat.get(name)
        if kept is None or kept.numel() < size or kept.dtype != kind:
            self._flat.pop(name, None)
            kept = None  # its memory is free before more is taken
            kept = self._flat[name] = torch.empty(size, dtype=kind)
        return kept[:size].view(shape).numpy()

    @property
    def nbytes(self) -> int:
        return sum(kept.numel() * kept.element_size() for kept in self._flat.values())
