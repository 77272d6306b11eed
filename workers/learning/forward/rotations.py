"""The rows whose positions a base model rotates alike.

Some models choose the frequencies of their rotary embedding by the longest row of a forward pass:
longrope has one set up to the length of its pre-training and another one beyond, dynamic scaling
one for each length beyond it. Owns the choice of rows that may be computed together, and the state
that dynamic scaling leaves. Promises: a row gets the frequencies of a pass of its own. Must not
know batches.
"""

from typing import Any

from transformers import PreTrainedModel


class Rotations:
    """The rotary embeddings of a base model. A model without such ones has one band."""

    def __init__(self, base: PreTrainedModel) -> None:
        self._dynamic: list[Any] = []
        self._limits: list[int] = []
        for module in base.modules():
            kind = getattr(module, "rope_type", None)
            if not isinstance(kind, str):
                continue
            if "dynamic" in kind:
                self._dynamic.append(module)
                self._limits.append(int(module.original_max_seq_len))  # type: ignore[arg-type]  # torch types attributes of modules as tensors
            elif kind == "longrope":
                parameters: Any = module.config.rope_parameters  # type: ignore[union-attr]  # torch types attributes of modules as tensors
                self._limits.append(int(parameters["original_max_position_embeddings"]))

    @property
    def limit(self) -> int | None:
        """The length up to which all rows are rotated alike; `None` without one."""
        return min(self._limits, default=None)

    def band(self, length: int) -> int:
        """Returns a number that rows have in common which may be computed together."""
        if not self._limits or length <= min(self._limits):
            return 0
        return length if self._dynamic else 1

    def reset(self) -> None:
        """Forgets the lengths of earlier passes; called before each."""
        for module in self._dynamic:
            original = module.original_inv_freq.to(module.inv_freq.device)
            module.register_buffer("inv_freq", original, persistent=False)
            module.max_seq_len_cached = module.original_max_seq_len
