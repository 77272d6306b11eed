"""Asks this processor what a test needs from it, before the test needs it."""

import torch
import torch.nn.functional as F

ROUNDING = 1e-6
"""Largest difference of two hidden states that rounding can cause in a small fp64 model.

Transformers computes norms and rotary angles in fp32, whatever the model's type, and vectors of
another width round them differently. A wrong key or position changes a state by 1e-3 and more.
"""


def attends(dtype: torch.dtype) -> bool:
    """Returns whether torch's attention computes a type here.

    It cannot compute bf16 on a processor that has instructions for bf16 products if it was told to
    use no vectors wide enough for them.
    """
    query_1HQD = torch.zeros(1, 2, 64, 16, dtype=dtype)
    mask_QQ = torch.zeros(64, 64, dtype=dtype)
    try:
        F.scaled_dot_product_attention(query_1HQD, query_1HQD, query_1HQD, attn_mask=mask_QQ)
    except RuntimeError:
        return False
    return True
