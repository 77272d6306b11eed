"""The shipped base model, opened once as a stranger would open it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedTokenizerFast,
    Qwen3ForCausalLM,
)

from tests.support.models.base_models import SHIPPED


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    opened = AutoTokenizer.from_pretrained(SHIPPED)
    assert isinstance(opened, PreTrainedTokenizerFast)
    return opened


@pytest.fixture(scope="session")
def model() -> Qwen3ForCausalLM:
    opened = AutoModelForCausalLM.from_pretrained(SHIPPED, dtype=torch.float32)
    assert isinstance(opened, Qwen3ForCausalLM)
    return opened


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Threads do not pay at this size, and on busy cores their barriers cost tenfold."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
