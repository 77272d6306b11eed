"""Checks that backbone and head compute the log-probs of a base model correctly.

Some models change their logits after the output layer in ways that `OutputScaling` does not know,
or extend plain attention; for those the trained policy would differ from the sampled one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import torch
from huggingface_hub.errors import StrictDataclassError
from torch import Tensor
from transformers import PreTrainedModel

from app.kit.errors import RunFailed
from app.models.models import BASE_MODEL_UNSUPPORTED
from workers.learning.batches import MicroBatch, micro_batches
from workers.learning.trainer import TrainingSample


class UnsupportedBase(RunFailed, ValueError):
    """A base model that the trainer cannot train; it ends the run before anything is sampled."""


TOLERANCE: Final = {torch.float64: 1e-6, torch.float32: 1e-3}
LOW_PRECISION_TOLERANCE: Final = 0.25


@torch.no_grad()
def check_model(
    base: PreTrainedModel,
    logprobs: Callable[[MicroBatch], Tensor],
    *,
    temperature: float,
    share: bool,
) -> None:
    """Compares the log-probs of two rows of one prompt with the model's full forward pass.
    `logprobs` computes the log-probs of a micro-batch's targets. Raises `UnsupportedBase` if they
    differ.
    """
    rows_BT = torch.tensor([[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 7, 6, 5, 4]])
    mask = [0] * 4 + [1] * 4
    samples = [TrainingSample(row, mask, [0.0] * 8, 1.0) for row in rows_BT.tolist()]
    (batch,) = micro_batches(samples, max_tokens=16, share=share)
    packed_N = logprobs(batch.to(base.device))
    rows_BT = rows_BT.to(base.device)
    logits_BTV = base(input_ids=rows_BT, use_cache=False).logits[:, 3:-1]
    reference_BTV = (logits_BTV.float() / temperature).log_softmax(-1)
    reference_N = reference_BTV.gather(-1, rows_BT[:, 4:, None]).flatten().to(packed_N.dtype)
    tolerance = TOLERANCE.get(logits_BTV.dtype, LOW_PRECISION_TOLERANCE)
    if not torch.allclose(reference_N, packed_N, rtol=0, atol=tolerance):
        raise UnsupportedBase(
            "The trainer cannot train this base model: its log-probs differ from those of its "
            "output layer, so it changes its logits in a way that is not known here.",
            code=BASE_MODEL_UNSUPPORTED,
            param="model",
        )


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


@dataclass(frozen=True, slots=True)
class OutputScaling:
    """`logits = cap · tanh(scale · z / cap)` for the output z of the layer; without a cap
    `logits = scale · z`.
    """

    scale: float = 1.0
    cap: float | None = None


def output_scaling(base: PreTrainedModel) -> OutputScaling:
    """Returns the scaling of Cohere (`logit_scale`), Granite (`logits_scaling`, a divisor) and
    Gemma 2 (`final_logit_softcapping`); the check of a base finds any other.
    """
    config = base.config.get_text_config()
    scale = getattr(config, "logit_scale", None) or 1.0
    divisor = getattr(config, "logits_scaling", None) or 1.0
    return OutputScaling(scale / divisor, getattr(config, "final_logit_softcapping", None) or None)


LOADING_ERRORS: Final = (
    OSError,
    ValueError,
    LookupError,
    ArithmeticError,
    TypeError,
    AttributeError,
    RuntimeError,
    ImportError,
    AssertionError,
    StrictDataclassError,
)
"""Of a configuration that cannot be built; the last one derives from `Exception` alone."""


def in_one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
