"""Writes and reads a trainer's complete state as a committed directory.

No pickle.
"""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from app.kit.directories import commit_directory, verify_directory
from workers.learning.trainer import TRAINER_FILE, StateMismatch, TrainerSettings

ADAPTER_FILE: Final = "adapter.safetensors"
MOMENTS_FILE: Final = "moments.safetensors"
RANDOM_FILE: Final = "random.safetensors"
FORMAT: Final = 1


def save_trainer_state(
    directory: Path,
    parameters: Mapping[str, nn.Parameter],
    optimizer: torch.optim.Optimizer,
    *,
    settings: TrainerSettings,
    steps: int,
) -> None:
    """Writes the state. Raises `FileExistsError` if `directory` exists."""
    document = {
        "format": FORMAT,
        "settings": settings.as_json(),
        "steps": steps,
        "random": random_scalars(),
    }
    with commit_directory(directory) as partial:
        save_file(_on_cpu(parameters), partial / ADAPTER_FILE)
        save_file(
            _on_cpu(
                {
                    f"{name}/{kind}": value
                    for name, parameter in parameters.items()
                    for kind, value in optimizer.state.get(parameter, {}).items()
                }
            ),
            partial / MOMENTS_FILE,
        )
        save_file(random_tensors(), partial / RANDOM_FILE)
        (partial / TRAINER_FILE).write_text(json.dumps(document) + "\n", encoding="utf-8")


def load_trainer_state(
    directory: Path,
    parameters: Mapping[str, nn.Parameter],
    optimizer: torch.optim.Optimizer,
    *,
    settings: TrainerSettings,
) -> int:
    """Restores the state in place; returns the number of optimizer steps taken.

    Raises `ManifestMismatch` if a file was changed and `StateMismatch` if the state has another
    format, other settings or other parameters; the trainer is unchanged then.
    """
    verify_directory(directory)
    document = json.loads((directory / TRAINER_FILE).read_text(encoding="utf-8"))
    if document["format"] != FORMAT:
        raise StateMismatch(f"the state has format {document['format']}, expected {FORMAT}")
    names = settings.differences(document["settings"])
    if names:
        raise StateMismatch(f"the state was saved under other settings: {names}")
    weights = load_file(directory / ADAPTER_FILE)
    if {k: v.shape for k, v in weights.items()} != {k: v.shape for k, v in parameters.items()}:
        raise StateMismatch("the saved adapter does not fit this model")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])
    _restore_moments(parameters, optimizer, load_file(directory / MOMENTS_FILE))
    restore_random(load_file(directory / RANDOM_FILE), document["random"])
    return int(document["steps"])


def _on_cpu(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().to("cpu").contiguous() for name, tensor in tensors.items()}


def _restore_moments(
    parameters: Mapping[str, nn.Parameter],
    optimizer: torch.optim.Optimizer,
    moments: Mapping[str, Tensor],
) -> None:
    """Restores the optimizer with `load_state_dict`, which moves each tensor to its device."""
    order = [p for group in optimizer.param_groups for p in group["params"]]
    by_identity = {id(parameter): name for name, parameter in parameters.items()}
    state: dict[int, dict[str, Tensor]] = {}
    for index, parameter in enumerate(order):
        prefix = f"{by_identity[id(parameter)]}/"
        kinds = {k.removeprefix(prefix): v for k, v in moments.items() if k.startswith(prefix)}
        if kinds:
            state[index] = kinds
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


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
