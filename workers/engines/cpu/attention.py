"""Attention over the arena, as an attention implementation of transformers.

Owns how a step's tokens, packed into one row without padding, attend: running rows together, each
new prompt by itself, so a short request never pays for a long prompt. Promises causal attention
(and the model's sliding window) with no mask built by transformers: an implementation unknown to
`masking_utils` gets none. Must not know sampling or requests.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.cache_utils import Cache, CacheLayerMixin
from typing_extensions import override

from workers.engines.cpu.arena import KvArena

IMPLEMENTATION: Final = "agent_rft_arena"
# Attention lengths are rounded up to whole vectors, so that a row's sums are taken in the same
# order whatever the longest row beside it is.
LENGTH_STEP: Final = 64
# Decoding reads keys and values at memory speed, so a long row is padded for few neighbours only.
ROWS_TOGETHER: Final = 16


@dataclass(frozen=True, slots=True)
class Prefill:
    """A prompt's tokens `offset … offset + length` of the packed step, for one row."""

    row: int
    start: int
    """Position of the first of them: earlier ones are in the arena already."""
    offset: int
    length: int


@dataclass(slots=True)
class Step:
    """One forward pass: the first `decoding` tokens belong to rows 0 … decoding-1, one each; then
    come prompts. `rows_T` and `positions_T` say where each token's key and value go; tokens of the
    pass beyond those are padding.
    """

    arena: KvArena
    decoding: int
    prefills: list[Prefill]
    rows_T: Tensor
    positions_T: Tensor
    masks: dict[tuple[str, int, int | None], Tensor] = field(default_factory=dict)

    def decode_mask(self, first: int, window: int | None) -> Tensor:
        """visible_B11T (boolean) of up to ROWS_TOGETHER rows from `first` on: each row's own
        positions, at most `window` of them.
        """
        key = ("decode", first, window)
        if key not in self.masks:
            last = min(first + ROWS_TOGETHER, self.decoding)
            positions_B1 = self.positions_T[first:last, None]
            longest = int(positions_B1.max()) + 1
            length = min(-(-longest // LENGTH_STEP) * LENGTH_STEP, self.arena.length)
            self.masks[key] = _visible(positions_B1, length, window)[:, None, None]
        return self.masks[key]

    def prefill_mask(self, index: int, window: int | None) -> Tensor:
        """visible_QT (boolean) of one prompt."""
        key = ("prefill", index, window)
        if key not in self.masks:
            part = self.prefills[index]
            positions_Q1 = torch.arange(part.start, part.start + part.length)[:, None]
            self.masks[key] = _visible(positions_Q1, part.start + part.length, window)
        return self.masks[key]


def _visible(positions_Q1: Tensor, length: int, window: int | None) -> Tensor:
    keys_1T = torch.arange(length)[None]
    visible_QT = keys_1T <= positions_Q1
    if window is not None:
        visible_QT &= keys_1T > positions_Q1 - window
    return visible_QT


class ArenaCache(Cache):
    """What the model believes is its cache: stores keys and values, returns only the new ones."""

    def __init__(self, step: Step) -> None:
        super().__init__(layer_class_to_replicate=CacheLayerMixin)
        self._step = step

    @override
    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        step = self._step
        count = len(step.rows_T)
        keys_RHTD, values_RHTD = step.arena.layer(layer_idx)
        keys_RHTD[step.rows_T, :, step.positions_T] = key_states[0, :, :count].transpose(0, 1)
        values_RHTD[step.rows_T, :, step.positions_T] = value_states[0, :, :count].transpose(0, 1)
        return key_states, value_states

    @override
    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0


def arena_attention(
    module: nn.Module,
    query: Tensor,
    _key: Tensor,
    _value: Tensor,
    _attention_mask: Tensor | None,
    *,
    scaling: float | None = None,
    sliding_window: int | None = None,
    step: Step | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """query_1HTD over the arena -> output_1THD. Called by transformers' attention layers."""
    if step is None:
        raise RuntimeError("this model runs only inside the engine")
    if any(kwargs.get(name) is not None for name in ("softcap", "s_aux", "position_bias")):
        raise NotImplementedError("attention with soft caps, sinks or position biases")
    keys_RHTD, values_RHTD = step.arena.layer(int(module.layer_idx))  # type: ignore[arg-type]
    outputs_THD: list[Tensor] = []
    for first in range(0, step.decoding, ROWS_TOGETHER):
        mask_B11T = step.decode_mask(first, sliding_window)
        last, length = first + mask_B11T.shape[0], mask_B11T.shape[-1]
        # Query heads that share a key head stand in the place of query positions.
        query_BHGD = (
            query[0, :, first:last]
            .transpose(0, 1)
            .reshape(last - first, keys_RHTD.shape[1], -1, query.shape[-1])
        )
        output_BHGD = F.scaled_dot_product_attention(
            query_BHGD,
            keys_RHTD[first:last, :, :length],
            values_RHTD[first:last, :, :length],
            attn_mask=mask_B11T,
            scale=scaling,
        )
        outputs_THD.append(output_BHGD.flatten(1, 2))
    for index, part in enumerate(step.prefills):
        end, length = part.offset + part.length, part.start + part.length
        mask_QT = None
        if part.start > 0 or sliding_window is not None:
            mask_QT = step.prefill_mask(index, sliding_window)
        output_1HQD = F.scaled_dot_product_attention(
            query[:, :, part.offset : end],
            keys_RHTD[part.row : part.row + 1, :, :length],
            values_RHTD[part.row : part.row + 1, :, :length],
            attn_mask=mask_QT,
            is_causal=mask_QT is None,
            scale=scaling,
            enable_gqa=True,
        )
        outputs_THD.append(output_1HQD[0].transpose(0, 1))
    padding = query.shape[2] - len(step.rows_T)
    if padding:
        outputs_THD.append(query.new_zeros(padding, query.shape[1], query.shape[3]))
    return torch.cat(outputs_THD)[None], None


AttentionInterface.register(IMPLEMENTATION, arena_attention)
