"""Rows of models whose rotary embedding depends on the longest row of a pass."""

from typing import Any

import pytest
import torch

from tests.support.cases import cases
from tests.support.learning.rotating_models import dynamic, longrope
from workers.learning.batches import FittingBatches
from workers.learning.token_scores import TokenScorer
from workers.learning.trainer import TrainingSample


def sample(length: int, seed: int) -> TrainingSample:
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(1, 64, (length,), generator=generator).tolist()
    return TrainingSample(tokens, [0, 0, *[1] * (length - 2)], [0.0] * length, 1.0)


@cases("build", [longrope, dynamic])
def test_a_row_has_the_log_probs_of_a_pass_of_its_own(build: Any) -> None:
    torch.manual_seed(0)
    scorer = TokenScorer(build().eval().requires_grad_(False), temperature=1.0)
    samples = [sample(length, seed) for seed, length in enumerate((8, 40, 12, 30, 17, 40, 9))]

    def scored(*given: TrainingSample) -> list[list[float]]:
        batches = FittingBatches(max_tokens=4096, device=torch.device("cpu"))
        return scorer.of_samples(given, batches)

    together = scored(*samples)
    for one, found in zip(samples, together, strict=True):
        (alone,) = scored(one)
        assert found == pytest.approx(alone, abs=1e-5)


@cases("build", [longrope, dynamic])
def test_only_rows_of_one_band_share_a_micro_batch(build: Any) -> None:
    packing = TokenScorer(build().eval().requires_grad_(False), temperature=1.0).packing()
    lengths = (8, 40, 12, 30, 17, 40, 9)
    samples = [sample(length, seed) for seed, length in enumerate(lengths)]
    found = [
        sorted(lengths[source] for source in batch.sources) for batch in packing.pack(samples, 4096)
    ]
    by_length = [[8, 9, 12, 17], [30], [40, 40]]
    assert found == ([[8, 9, 12, 17], [30, 40, 40]] if build is longrope else by_length)
