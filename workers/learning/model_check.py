"""Checks that a base model can be trained through this package's backbone and head.

Some models cap or scale their logits after the output layer, or do more than plain attention
within; training those would follow a wrong policy.
"""

from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor
from transformers import PreTrainedModel

from workers.learning.batches import MicroBatch, micro_batches
from workers.learning.training_samples import TrainingSample

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
    """Compare two rows of one prompt with the plain way, once. `logprobs` gives those of a
    micro-batch's targets. Raises `ValueError` when they differ.
    """
    rows_BT = torch.tensor([[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 7, 6, 5, 4]])
    mask = [0] * 4 + [1] * 4
    samples = [TrainingSample(row, mask, [0.0] * 8, 1.0) for row in rows_BT.tolist()]
    (batch,) = micro_batches(samples, max_tokens=16, share=share)
    mine_N = logprobs(batch.to(base.device))
    rows_BT = rows_BT.to(base.device)
    logits_BTV = base(input_ids=rows_BT, use_cache=False).logits[:, 3:-1]
    whole_BTV = (logits_BTV.float() / temperature).log_softmax(-1)
    whole_N = whole_BTV.gather(-1, rows_BT[:, 4:, None]).flatten().to(mine_N.dtype)
    tolerance = TOLERANCE.get(logits_BTV.dtype, LOW_PRECISION_TOLERANCE)
    if not torch.allclose(whole_N, mine_N, rtol=0, atol=tolerance):
        raise ValueError("this base model's logits are not its output layer's alone")
