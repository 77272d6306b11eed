"""Checks that backbone and head compute the log-probs of a base model correctly.

Some models change their logits after the output layer in ways that `OutputScaling` does not know,
or extend plain attention; for those the trained policy would differ from the sampled one.
"""

from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor
from transformers import PreTrainedModel

from app.domain.errors import RunFailed
from app.domain.models.models import BASE_MODEL_UNSUPPORTED
from workers.learning.batches.batches import MicroBatch, micro_batches
from workers.learning.training_samples import TrainingSample


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
