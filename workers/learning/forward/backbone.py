"""Computes the hidden states of packed rows.

Owns the choice of forward pass for a base model: packed, with the attention of `attention.py`, if
all its layers are plain full attention; otherwise rows padded on the right, where causal attention
hides the padding from all real tokens. Promises: with both, a token's hidden state equals that of
its row in a batch of its own.
Must not know losses.
"""

from functools import partial

import structlog
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from workers.learning.batches.layout import Layout
from workers.learning.forward import attention
from workers.learning.forward.rotations import Rotations

log = structlog.get_logger()

_PAD = 0  # any valid token id: outputs at padding are never read


class Backbone:
    """A causal LM without its head."""

    def __init__(self, base: PreTrainedModel, *, checkpointing: bool = False) -> None:
        """With `checkpointing` only each layer's input is stored for backward and the rest is
        recomputed: a quarter more time for a fraction of the memory.
        """
        self._base = base
        self._stock = base.config._attn_implementation  # noqa: SLF001 - no public name
        self.packs = attention.can_share(base)
        if self.packs:
            base.set_attn_implementation(attention.NAME)
        self.rotations = Rotations(base)
        if checkpointing:
            _checkpoint(base)

    def run_by_row(self) -> None:
        """Switches to padded rows, for a base that fails the check of the packed forward pass."""
        self._base.set_attn_implementation(self._stock)
        self.packs = False

    def __call__(self, ids_M: Tensor, layout: Layout) -> Tensor:
        """Returns the last hidden states (M, D) of the packed tokens `ids_M`, whose rows must be of
        one band of `rotations`.
        """
        self.rotations.reset()
        if self.packs:
            positions_1M = torch.tensor([layout.positions()], device=ids_M.device)
            out = self._base.base_model(
                input_ids=ids_M[None], position_ids=positions_1M, use_cache=False, layout=layout
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
        indices = [
            number * width + position
            for number, row in enumerate(rows)
            for position in range(len(row))
        ]
        return hidden_BTD.flatten(0, 1).index_select(0, torch.tensor(indices, device=ids_M.device))


def _checkpoint(base: PreTrainedModel) -> None:
    """Makes every layer recompute its forward pass in backward.

    Replaces the method of each layer instead of using transformers' own switch, which needs layers
    in training mode: peft and `eval()` end that mode, and it would turn on dropout in a layer.
    Nothing in a layer is random, so no random state is kept for the second pass.
    """
    layers = [m for m in base.modules() if isinstance(m, GradientCheckpointingLayer)]
    if not layers:
        log.warning("base_model_cannot_checkpoint", architecture=type(base).__name__)
    for layer in layers:
        layer.forward = partial(
            checkpoint, layer.forward, use_reentrant=False, preserve_rng_state=False
        )
