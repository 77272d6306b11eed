"""Divides one GPU between an engine and a trainer.

Pure: the trainer gets the memory of a micro-batch, and the engine the remaining memory, for its
cache. Must not know devices.
"""

from typing import Final

from workers.learning.memory.plan import PlanInputs, plan_memory
from workers.learning.memory.training_counts import Counts

LARGEST_SHARE: Final = 0.9
"""Largest share to plan; the remainder is for the driver and for fragments."""
STEP: Final = 0.05
BATCH_TOKENS: Final = 16_384
"""Tokens of a micro-batch beyond which a GPU gains little speed."""


def share_for_engine(
    gpu_bytes: int,
    counts: Counts,
    *,
    context_length: int,
    micro_batch_tokens: int | None = None,
) -> float:
    """Returns the largest share that leaves the trainer its micro-batch: the operator's, one of
    `BATCH_TOKENS`, or at least one whole rollout. Without such a share, returns the smallest one
    into which the engine fits.
    """
    shares = [
        round(LARGEST_SHARE - STEP * number, 2) for number in range(int(LARGEST_SHARE / STEP))
    ]
    plans = {
        share: plan_memory(PlanInputs(gpu_bytes, context_length, engine_share=share), counts)
        for share in shares
    }
    served = {
        share: plan for share, plan in plans.items() if (plan.kv_tokens or 0) >= context_length
    }
    for wanted in (max(micro_batch_tokens or BATCH_TOKENS, context_length), context_length):
        for share, plan in served.items():
            if plan.micro_batch_tokens >= wanted:
                return share
    return min(served, default=LARGEST_SHARE)
