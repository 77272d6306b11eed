"""The weights of a step, and their implementation by a transformers model.

Owns the protocol that version batches use, and its implementation for every architecture whose
attention uses transformers' attention interface. Must not know names, version batches or
requests.
"""

import copy
import itertools
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from workers.engines.cpu.models.adapters import LoraDelta
from workers.engines.cpu.models.attention import IMPLEMENTATION, KvPoolCache, Step


class Weights(Protocol):
    """One version's weights. Safe to read from several threads."""

    @property
    def query_heads(self) -> int:
        """Number of query heads per key head."""
        ...

    @property
    def own_bytes(self) -> int:
        """Bytes of the tensors that are not shared with the base."""
        ...

    def logits(self, step: Step, ids_N: Tensor, output_tokens: list[int]) -> Tensor:
        """Returns logits_KV at the K tokens `output_tokens` of a packed step; stores the keys and
        values of all its tokens.
        """
        ...

    def merged(self, deltas: dict[str, LoraDelta]) -> "Weights":
        """Returns weights with an adapter added; they share all tensors that it does not change."""
        ...


class PlainWeights:
    """Weights run by a transformers model."""

    def __init__(self, model: nn.Module, *, query_heads: int, own_bytes: int = 0) -> None:
        self._model = model
        self.query_heads = query_heads
        self.own_bytes = own_bytes

    @classmethod
    def serving(cls, model: Any) -> "PlainWeights":
        """Switches a model to the KV pool's attention. Raises `ValueError` if it cannot be
        replaced.
        """
        model.set_attn_implementation(IMPLEMENTATION)
        config = model.config.get_text_config()
        heads = config.num_attention_heads
        groups = heads // (getattr(config, "num_key_value_heads", None) or heads)
        return cls(model, query_heads=groups)

    def logits(self, step: Step, ids_N: Tensor, output_tokens: list[int]) -> Tensor:
        padding = len(ids_N) - len(step.positions_N)
        output = self._model(
            input_ids=ids_N[None],
            position_ids=F.pad(step.positions_N, (0, padding))[None],
            past_key_values=KvPoolCache(step),
            use_cache=True,
            logits_to_keep=torch.tensor(output_tokens, dtype=torch.long),
            step=step,
        )
        logits_KV: Tensor = output.logits[0]
        return logits_KV

    def merged(self, deltas: dict[str, LoraDelta]) -> "PlainWeights":
        tensors = itertools.chain(self._model.parameters(), self._model.buffers())
        model = copy.deepcopy(self._model, memo={id(tensor): tensor for tensor in tensors})
        own_bytes = 0
        with torch.no_grad():
            for name, delta in deltas.items():
                linear: Any = model.get_submodule(name)
                weight = nn.Parameter(delta.merged(linear.weight), requires_grad=False)
                linear.weight = weight
                own_bytes += weight.numel() * weight.element_size()
        return PlainWeights(model, query_heads=self.query_heads, own_bytes=own_bytes)
