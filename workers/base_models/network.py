"""The network of a shipped model, and the optimizers of its pre-training.

Must not know what a model is trained on.
"""

from __future__ import annotations

from typing import Final

import torch
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from workers.base_models.muon import Muon
from workers.base_models.tokenizer import MAX_LENGTH

LAYERS: Final = 4
HEAD_DIM: Final = 32


def build_network(
    tokenizer: PreTrainedTokenizerFast,
    seed: int,
    *,
    hidden_size: int,
    intermediate_size: int,
    heads: int,
    key_value_heads: int,
) -> Qwen3ForCausalLM:
    """Builds a randomly initialised model in fp32, whose output layer is that of its tokens."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden_size,
        intermediate_size=intermediate_size,
        num_hidden_layers=LAYERS,
        num_attention_heads=heads,
        num_key_value_heads=key_value_heads,
        head_dim=HEAD_DIM,
        max_position_embeddings=MAX_LENGTH,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        use_cache=True,
    )
    return Qwen3ForCausalLM(config)


def build_optimizers(
    model: Qwen3ForCausalLM, *, matrix_lr: float, other_lr: float
) -> tuple[torch.optim.Optimizer, torch.optim.Optimizer]:
    """Returns Muon for the matrices of the layers, and AdamW for all other weights."""
    named = list(model.named_parameters())
    matrices = [p for name, p in named if "_proj" in name]
    others = [p for name, p in named if "_proj" not in name]
    return (
        Muon(matrices, lr=matrix_lr, weight_decay=0.01),
        torch.optim.AdamW(others, lr=other_lr, betas=(0.9, 0.95), weight_decay=0.01),
    )


def take_step(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Takes a step at a rate, and clears the gradient."""
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
