"""The weights that training starts from: the bare base model, or the base under a tuned adapter.

Owns a copy of the starting adapter and the temporary switch to it. Must not know losses.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from peft import PeftModel

from workers.learning.adapters.adapters import adapter_parameters, load_adapter


class StartingWeights:
    def __init__(self, model: PeftModel, directory: Path | None) -> None:
        """Loads the adapter in `directory`, if given, into `model`. Raises `ValueError` if it was
        created for another rank, alpha or set of modules.
        """
        self._model = model
        self._parameters = list(adapter_parameters(model).values())
        self._copies: list[torch.Tensor] | None = None
        if directory is not None:
            load_adapter(model, directory)
            self._copies = [parameter.detach().clone() for parameter in self._parameters]

    @contextmanager
    def active(self) -> Iterator[None]:
        """Switches the model to the starting weights, without gradient, for the block."""
        if self._copies is None:
            with self._model.disable_adapter():
                yield
            return
        self._swap()
        try:
            with torch.no_grad():
                yield
        finally:
            self._swap()

    def _swap(self) -> None:
        copies = self._copies or []
        for index, parameter in enumerate(self._parameters):
            copies[index], parameter.data = parameter.data, copies[index]
