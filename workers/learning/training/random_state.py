"""Saves and restores the process's random number generators as tensors and JSON, not pickle."""

import random
from typing import Any

import numpy as np
import torch
from torch import Tensor


def random_tensors() -> dict[str, Tensor]:
    """Returns the states that are arrays: torch's for each device and NumPy's key."""
    states = {"torch_cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        for index, state in enumerate(torch.cuda.get_rng_state_all()):
            states[f"torch_cuda_{index}"] = state
    key = np.random.get_state(legacy=False)["state"]["key"]  # noqa: NPY002 - the global generator that libraries use
    states["numpy_key"] = torch.from_numpy(key.astype(np.int64))
    return states


def random_scalars() -> dict[str, Any]:
    """Returns the other states as JSON values."""
    version, numbers, gauss = random.getstate()
    legacy: Any = np.random.get_state(legacy=False)  # noqa: NPY002 - the global generator that libraries use
    return {
        "python": [version, list(numbers), gauss],
        "numpy": {
            "pos": int(legacy["state"]["pos"]),
            "has_gauss": int(legacy["has_gauss"]),
            "gauss": float(legacy["gauss"]),
        },
    }


def restore_random(tensors: dict[str, Tensor], scalars: dict[str, Any]) -> None:
    """Restores every generator. States of devices that no longer exist are ignored."""
    torch.set_rng_state(tensors["torch_cpu"])
    for index in range(torch.cuda.device_count()):
        state = tensors.get(f"torch_cuda_{index}")
        if state is not None:
            torch.cuda.set_rng_state(state, index)
    version, numbers, gauss = scalars["python"]
    random.setstate((version, tuple(numbers), gauss))
    numpy = scalars["numpy"]
    key = tensors["numpy_key"].numpy().astype(np.uint32)
    np.random.set_state(("MT19937", key, numpy["pos"], numpy["has_gauss"], numpy["gauss"]))  # noqa: NPY002 - restores the global generator that libraries draw from
