"""Drawing tokens: a pure function of each row's logits, seed and position.

Owns the mapping (seed, position) -> uniform number and the inverse of the cumulative distribution.
Promises that a row's draw does not depend on the rows beside it, and that the log-prob returned is
of the distribution that was drawn from (vLLM's `processed_logprobs`). Must not know requests' ids.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor

Words = np.ndarray[tuple[int], np.dtype[np.uint64]]
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX_1: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2: Final = np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True, slots=True)
class Draws:
    """Per row: the sampled id, its log-prob, and the processed log-probs of all tokens."""

    token_ids: list[int]
    logprobs: list[float]
    logprobs_BV: Tensor


def uniforms(
    seeds: list[int], positions: list[int]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Uniform numbers in (0, 1), 53 bits: two rounds of SplitMix64 (Steele et al., OOPSLA 2014)."""
    with np.errstate(over="ignore"):
        seed_B = np.array(seeds, dtype=np.uint64)
        state_B = _split_mix(seed_B) + np.array(positions, dtype=np.uint64)
        bits_B = _split_mix(state_B) >> np.uint64(11)
    return (bits_B.astype(np.float64) + 0.5) * 2.0**-53


def _split_mix(state_B: Words) -> Words:
    state_B = state_B + _GOLDEN
    state_B = (state_B ^ (state_B >> np.uint64(30))) * _MIX_1
    state_B = (state_B ^ (state_B >> np.uint64(27))) * _MIX_2
    mixed_B: Words = state_B ^ (state_B >> np.uint64(31))
    return mixed_B


def draw(
    logits_BV: Tensor,
    *,
    temperatures: list[float],
    top_ps: list[float],
    seeds: list[int],
    positions: list[int],
) -> Draws:
    """One token per row. Temperature 0 takes the most likely one, log-probs at temperature 1."""
    divisor_B1 = torch.tensor([t if t > 0 else 1.0 for t in temperatures])[:, None]
    scaled_BV = logits_BV.float() / divisor_B1
    narrowed = [row for row, top_p in enumerate(top_ps) if top_p < 1]
    if narrowed:
        kept_top_ps = torch.tensor([top_ps[row] for row in narrowed])
        scaled_BV[narrowed] = _nucleus(scaled_BV[narrowed], kept_top_ps)
    logprobs_BV = torch.log_softmax(scaled_BV, dim=-1)
    ids_B1 = _invert(logprobs_BV, torch.from_numpy(uniforms(seeds, positions)))
    greedy = [row for row, temperature in enumerate(temperatures) if temperature <= 0]
    if greedy:
        ids_B1[greedy] = logits_BV[greedy].argmax(dim=-1, keepdim=True)
    chosen_B = logprobs_BV.gather(1, ids_B1)[:, 0]
    return Draws(ids_B1[:, 0].tolist(), chosen_B.tolist(), logprobs_BV)


def _invert(logprobs_BV: Tensor, uniforms_B: Tensor) -> Tensor:
    """ids_B1: the first token whose cumulative probability passes the row's uniform number."""
    cumulative_BV = logprobs_BV.double().exp_().cumsum_(dim=-1)
    thresholds_B1 = uniforms_B[:, None] * cumulative_BV[:, -1:]
    return torch.searchsorted(cumulative_BV, thresholds_B1, right=True)


def _nucleus(scaled_BV: Tensor, top_p_B: Tensor) -> Tensor:
    """Logits outside the smallest set of tokens that holds `top_p` become -inf."""
    sorted_BV, order_BV = scaled_BV.sort(dim=-1, descending=True)
    before_BV = sorted_BV.softmax(dim=-1).cumsum(dim=-1) - sorted_BV.softmax(dim=-1)
    sorted_BV = sorted_BV.masked_fill(before_BV >= top_p_B[:, None], float("-inf"))
    return torch.full_like(scaled_BV, float("-inf")).scatter(1, order_BV, sorted_BV)
