"""Hidden states of packed rows.

Owns which way a base model is run: packed, through the attention of `attention.py`, where all its
layers are plain full attention; else row by row with padding on the right, which under causal
attention no real token sees. Promises: both give each token what it would get in its row alone.
Must not know losses.
"""

from functools import partial

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from workers.learning import attention
from workers.learning.layout import Layout

_PAD = 0  # any valid token id: what is computed there is never read


class Backbone:
    """A causal LM without its head."""

    def __init__(self, base: PreTrainedModel, *, checkpointing: bool = False) -> None:
        """`checkpointing`: keep only each layer's input for backward and compute the rest again,
        a quarter more time for a fraction of the memory.
        """
        self._base = base
        self._stock = base.config._attn_implementation  # noqa: SLF001 - no public name
        self.packs = attention.can_share(base)
        if self.packs:
            base.set_attn_implementation(attention.NAME)
        if checkpointing:
            _checkpoint(base)

    def run_by_row(self) -> None:
        """From now on, for a base that is not what it looks like."""
        self._base.set_attn_implementation(self._stock)
        self.packs = False

    def __call__(self, ids_M: Tensor, layout: Layout) -> Tensor:
        """Last hidden states (M, D) of the packed tokens `ids_M`."""
        if self.packs:
            places_1M = torch.tensor([layout.places()], device=ids_M.device)
            out = self._base.base_model(
                input_ids=ids_M[None], position_ids=places_1M, use_cache=False, layout=layout
            )
            packed_MD: Tensor = out.last_hidden_state[0]
            return packed_MD
        if layout.shares:
            raise ValueError("this base model cannot share prefixes")
        rows = [list(own) for _, own in layout.spans()]
        width = max(map(len, rows))
        ids_BT = ids_M.new_full((len(rows), width), _PAD)
        for number, row in enumerate(rows):
            ids_BT[number, : len(row)] = ids_M[row]
        hidden_BTD: Tensor = self._base.base_model(
            input_ids=ids_BT, use_cache=False
        ).last_hidden_state
        flat = [
            number * width + place for number, row in enumerate(rows) for place in range(len(row))
        ]
        return hidden_BTD.flatten(0, 1).index_select(0, torch.tensor(flat, device=ids_M.device))


def _checkpoint(base: PreTrainedModel) -> None:
    """Layers are checkpointed by transformers in training mode only. The mark is set on the layers
    alone, not on what is in them, so that nothing starts to drop out.
    """
    for module in base.modules():
        if isinstance(module, GradientCheckpointingLayer):
            module.gradient_checkpointing = True
            again = partial(checkpoint, use_reentrant=False)
            # the seam of transformers' own switch
            object.__setattr__(module, "_gradient_checkpointing_func", again)
            module.training = True
