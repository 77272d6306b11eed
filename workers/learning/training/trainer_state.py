"""Writes and reads a trainer's complete state as a committed directory.

Owns its files: `adapter.safetensors`, `moments.safetensors`, `random.safetensors`, `trainer.json`
and the manifest. No pickle. Promises: a restored trainer continues bit for bit. Must not know
losses or batches.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from app.disk.committed import commit_directory, verify_directory
from workers.learning.trainer_settings import TRAINER_FILE, StateMismatch, TrainerSettings
from workers.learning.training.random_state import random_scalars, random_tensors, restore_random

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
        save_file(_moments(parameters, optimizer), partial / MOMENTS_FILE)
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


def _moments(
    parameters: Mapping[str, nn.Parameter], optimizer: torch.optim.Optimizer
) -> dict[str, Tensor]:
    return _on_cpu(
        {
            f"{name}/{kind}": value
            for name, parameter in parameters.items()
            for kind, value in optimizer.state.get(parameter, {}).items()
        }
    )


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
