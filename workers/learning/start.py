"""Where training starts: the bare base model, or the base under an adapter that was tuned before.

Owns what the adapter held at the start, and the way back to it for a moment. Must not know losses.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from peft import PeftModel

from workers.learning.adapters import adapter_parameters, load_adapter


class StartingWeights:
    def __init__(self, model: PeftModel, directory: Path | None) -> None:
        """Loads the adapter of `directory` into `model`, if there is one. Raises `ValueError` when
        it was made for another rank, alpha or set of modules.
        """
        self._model = model
        self._parameters = list(adapter_parameters(model).values())
        self._held: list[torch.Tensor] | None = None
        if directory is not None:
            load_adapter(model, directory)
            self._held = [parameter.detach().clone() for parameter in self._parameters]

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The model as it was at the start; on leaving, as it is now. Without gradient."""
        if self._held is None:
            with self._model.disable_adapter():
                yield
            return
        self._exchange()
        try:
            with torch.no_grad():
                yield
        finally:
            self._exchange()

    def _exchange(self) -> None:
        held = self._held or []
        for place, parameter in enumerate(self._parameters):
            held[place], parameter.data = parameter.data, held[place]
