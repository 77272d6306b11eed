"""Draws tokens: a pure function of each row's logits, seed and position, whatever the other rows
are.

Log-probs are those of the distribution that is sampled from (vLLM's `processed_logprobs`).
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

Words = np.ndarray[tuple[int], np.dtype[np.uint64]]
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX_1: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2: Final = np.uint64(0x94D049BB133111EB)


GREEDY_BELOW: Final = 1e-5
"""Smaller temperatures count as 0, as in vLLM: dividing logits by them would overflow."""
_BLOCK: Final = 128
"""Tokens per block of the two-level search in the cumulative distribution."""


@dataclass(frozen=True, slots=True)
class SampledTokens:
    token_ids: list[int]
    logprobs: list[float]
    _shifted_BV: Tensor
    _log_totals_B: Tensor

    def best(self, row: int, count: int) -> dict[int, float]:
        """Returns log-probs of the likeliest tokens, best first; tokens of probability 0 are
        omitted.
        """
        top = self._shifted_BV[row].topk(min(count, self._shifted_BV.shape[1]))
        logprobs = (top.values.double() - self._log_totals_B[row]).tolist()
        pairs = zip(top.indices.tolist(), logprobs, strict=True)
        return {token: logprob for token, logprob in pairs if logprob > -math.inf}


def uniforms(
    seeds: list[int], positions: list[int]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Returns uniform numbers in (0, 1) of 53 bits by two rounds of SplitMix64 (Steele et al.,
    OOPSLA 2014).
    """
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
) -> SampledTokens:
    """Draws one token per row. With a temperature below `GREEDY_BELOW` it is the likeliest token
    for every `top_p`, with log-probs at temperature 1.
    """
    scaled_BV = logits_BV.float()
    greedy = [row for row, temperature in enumerate(temperatures) if temperature < GREEDY_BELOW]
    if any(temperature not in {0, 1} for temperature in temperatures):
        divisors = [1.0 if t < GREEDY_BELOW else t for t in temperatures]
        scaled_BV = scaled_BV / torch.tensor(divisors)[:, None]
    nucleus_rows = [
        row
        for row, (top_p, t) in enumerate(zip(top_ps, temperatures, strict=True))
        if top_p < 1 and t >= GREEDY_BELOW
    ]
    if nucleus_rows:
        top_p_B = torch.tensor([top_ps[row] for row in nucleus_rows])
        scaled_BV = scaled_BV.clone() if scaled_BV is logits_BV else scaled_BV
        scaled_BV[nucleus_rows] = _nucleus(scaled_BV[nucleus_rows], top_p_B)
    shifted_BV = scaled_BV - scaled_BV.amax(dim=-1, keepdim=True)
    mass_BV = shifted_BV.exp()
    sums_BK = _block_sums(mass_BV)
    ids_B1 = _invert(mass_BV, sums_BK, torch.from_numpy(uniforms(seeds, positions))[:, None])
    if greedy:
        ids_B1[greedy] = logits_BV[greedy].argmax(dim=-1, keepdim=True)
    log_totals_B = sums_BK[:, -1].log()
    chosen_B = shifted_BV.gather(1, ids_B1)[:, 0] - log_totals_B
    return SampledTokens(ids_B1[:, 0].tolist(), chosen_B.tolist(), shifted_BV, log_totals_B)


def _block_sums(mass_BV: Tensor) -> Tensor:
    """Returns cumulative_BK: the mass up to the end of each block, in double precision."""
    padded_BV = F.pad(mass_BV, (0, -mass_BV.shape[1] % _BLOCK))
    blocks_BKT = padded_BV.view(len(mass_BV), -1, _BLOCK)
    return blocks_BKT.sum(dim=-1, dtype=torch.float64).cumsum(dim=-1)


def _invert(mass_BV: Tensor, sums_BK: Tensor, uniforms_B1: Tensor) -> Tensor:
    """Returns ids_B1: the first token whose cumulative mass exceeds the row's uniform number times
    the total mass. The search finds the block first, then the token in it.
    """
    thresholds_B1 = uniforms_B1 * sums_BK[:, -1:]
    blocks_B1 = torch.searchsorted(sums_BK, thresholds_B1, right=True)
    before_B1 = F.pad(sums_BK, (1, 0)).gather(1, blocks_B1)
    ids_BT = blocks_B1 * _BLOCK + torch.arange(_BLOCK)
    inside_BT = mass_BV.gather(1, ids_BT.clamp_(max=mass_BV.shape[1] - 1)).double()
    cumulative_BT = inside_BT.cumsum(dim=-1)
    # The sum of the block may be rounded differently: its last token with mass bounds the search.
    last_B1 = (inside_BT > 0).double().mul_(torch.arange(1, _BLOCK + 1)).argmax(dim=-1)[:, None]
    inner_B1 = torch.searchsorted(cumulative_BT, thresholds_B1 - before_B1, right=True)
    return ids_BT.gather(1, torch.minimum(inner_B1, last_B1))


def _nucleus(scaled_BV: Tensor, top_p_B: Tensor) -> Tensor:
    """Sets logits outside the smallest set of tokens with mass `top_p` to -inf."""
    sorted_BV, order_BV = scaled_BV.sort(dim=-1, descending=True)
    before_BV = sorted_BV.softmax(dim=-1).cumsum(dim=-1) - sorted_BV.softmax(dim=-1)
    sorted_BV = sorted_BV.masked_fill(before_BV >= top_p_B[:, None], float("-inf"))
    return torch.full_like(scaled_BV, float("-inf")).scatter(1, order_BV, sorted_BV)
