"""A short job of Qwen3-0.6B's shape, trained beside vLLM on one GPU."""

from pathlib import Path

import pytest

from tests.support.e2e.random_weights import (
    QWEN3_0_6B,
    assert_trained_on_its_samples,
    random_weights_behind_vllm,
    short_job,
)
from tests.support.engines.vllm_server import VLLM_PYTHON

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(3600)]
BF16_TOLERANCE = 0.25
"""Largest difference of a token's log-prob between two bfloat16 implementations of 28 layers."""


def test_a_job_trains_beside_vllm_on_one_gpu(tmp_path: Path) -> None:
    if not VLLM_PYTHON.exists():
        pytest.fail("vLLM's environment is absent: make vllm-env", pytrace=False)
    with random_weights_behind_vllm(tmp_path, QWEN3_0_6B) as live:
        job = short_job(live, tmp_path)
        assert_trained_on_its_samples(live, job, tolerance=BF16_TOLERANCE)
