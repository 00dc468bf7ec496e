"""Small networks that methods learn beside the recommender: how they are made, and kept in a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import torch
from torch import nn


def layers(sizes: tuple[int, ...], activation: type[nn.Module], generator: torch.Generator) -> nn.Sequential:
    """Linear layers with an activation between them; weights as torch draws them, from this generator."""
    parts: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        linear = nn.utils.skip_init(nn.Linear, inputs, outputs)
        with torch.no_grad():
            for weight in linear.parameters():
                weight.uniform_(-(inputs**-0.5), inputs**-0.5, generator=generator)
        parts += [linear, activation()]
    return nn.Sequential(*parts[:-1])


def adam(weights: Iterable[nn.Parameter], rate: float) -> torch.optim.Adam:
    """Adam that has its moments from the beginning, so that what is stored always has the same parts."""
    optimiser = torch.optim.Adam(list(weights), lr=rate)
    for weight in optimiser.param_groups[0]["params"]:
        zeros = torch.zeros_like(weight)
        optimiser.state[weight] = {"step": torch.tensor(0.0), "exp_avg": zeros, "exp_avg_sq": zeros.clone()}
    return optimiser


def stored(name: str, part: nn.Module | torch.optim.Adam) -> dict[str, np.ndarray]:
    """Arrays of a network or an optimiser, their names under `name`."""
    return {f"{name}.{key}": tensor.numpy().copy() for key, tensor in _tensors(part).items()}


def restore(name: str, part: nn.Module | torch.optim.Adam, state: dict[str, np.ndarray]) -> None:
    """Take back what `stored` gave."""
    for key, tensor in _tensors(part).items():
        tensor.copy_(torch.from_numpy(state[f"{name}.{key}"]).reshape(tensor.shape))


def _tensors(part: nn.Module | torch.optim.Adam) -> dict[str, torch.Tensor]:
    if isinstance(part, nn.Module):
        return {key: tensor.detach() for key, tensor in part.state_dict().items()}
    return {
        f"{index}.{key}": part.state[weight][key]
        for index, weight in enumerate(part.param_groups[0]["params"])
        for key in ("step", "exp_avg", "exp_avg_sq")
    }
