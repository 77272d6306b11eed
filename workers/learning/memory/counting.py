"""Counts what training a model needs, from its config alone.

Owns the counting: the model, its adapter and one forward and backward pass are built on the meta
device, where tensors have sizes and no values, by the same code that trains. Must not know the size
of any memory.
"""

from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import nn
from transformers import AutoModelForCausalLM, PretrainedConfig

from workers.learning.adapters import adapter_parameters, attach_lora, output_layer
from workers.learning.backbone import Backbone
from workers.learning.head import LogProbHead
from workers.learning.layout import alone
from workers.learning.lora_forward import install_fast_lora_forward
from workers.learning.memory.live_bytes import peak_bytes

_FEW: Final = 256
_MANY: Final = 1024
_KV_ITEM: Final = 2


class Uncountable(Exception):
    """The model's forward pass depends on values, as the routing of experts does in some models."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Bytes that a model needs in the trainer, and in the cache of an engine."""

    weights: int
    adapter: int
    """The trained weights, in fp32."""
    a_token: float
    """For each token of a micro-batch, until the backward pass ends."""
    a_batch: int
    """For each micro-batch, whatever its size."""
    head: int
    """For a chunk of logits."""
    kv_a_token: int
    """In an engine, in 16 bits."""


def count(
    config: PretrainedConfig, *, dtype: torch.dtype, rank: int, checkpointing: bool
) -> Counts:
    """Raises `Uncountable`, and `ValueError` for a config without a causal language model."""
    with torch.device("meta"):
        base = AutoModelForCausalLM.from_config(config, dtype=dtype)  # type: ignore[no-untyped-call]  # transformers leaves it untyped
        base.requires_grad_(requires_grad=False).eval()
        weights = _nbytes(base)
        backbone = Backbone(base, checkpointing=checkpointing)
        head = LogProbHead(output_layer(base))
        model = attach_lora(base, rank=rank, alpha=rank, base_name="counted", seed=0)
        install_fast_lora_forward(model)
        parameters = list(adapter_parameters(model).values())

        def layers(tokens: int) -> int:
            def run() -> None:
                hidden_MD = backbone(torch.zeros(tokens, dtype=torch.long), alone([tokens]))
                torch.autograd.grad(hidden_MD.sum(), parameters, allow_unused=True)

            return peak_bytes(run)

        adapter = sum(parameter.nbytes for parameter in parameters)
        try:
            few, many = layers(_FEW), layers(_MANY)
        except (NotImplementedError, RuntimeError) as error:
            raise Uncountable(str(error)) from error
        slope = (many - few) / (_MANY - _FEW)
        return Counts(
            weights=weights,
            adapter=adapter,
            # The head keeps less for a token than a layer does, and at another time.
            a_token=slope,
            # The gradient of the adapter is among the tensors of the pass and counted apart.
            a_batch=max(0, round(few - slope * _FEW) - adapter),
            head=peak_bytes(head.rehearse),
            kv_a_token=kv_bytes_a_token(config),
        )


def kv_bytes_a_token(config: PretrainedConfig) -> int:
    """Returns the bytes of keys and values of one token over all layers that keep them."""
    text: Any = config.get_text_config()
    kinds = getattr(text, "layer_types", None) or ["full_attention"] * text.num_hidden_layers
    layers = sum(kind != "linear_attention" for kind in kinds)
    latent = getattr(text, "kv_lora_rank", None)
    if latent:
        return int(layers * (latent + text.qk_rope_head_dim) * _KV_ITEM)
    heads = getattr(text, "num_key_value_heads", None) or text.num_attention_heads
    width = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    return int(2 * layers * heads * width * _KV_ITEM)


def _nbytes(model: nn.Module) -> int:
    """Returns the bytes of a model's tensors; tied weights count once."""
    tensors = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    return sum(tensor.nbytes for tensor in tensors.values())
