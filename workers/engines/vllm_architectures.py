"""Knows which architectures the pinned vLLM serves with adapters, without importing vLLM.

`vllm_architectures.json` is a recording of vLLM's registry; `make test-vllm` compares the two. An
architecture that is not in it may still run by vLLM's backend for transformers.
"""

import json
from functools import cache
from pathlib import Path
from typing import Final

from transformers import PreTrainedModel

RECORDED: Final = Path(__file__).with_name("vllm_architectures.json")


def is_served_by_vllm(model: PreTrainedModel) -> bool:
    """Returns whether vLLM lists the architecture that a model's config names."""
    named = model.config.architectures or [type(model).__name__]
    return bool(_listed() & set(named))


@cache
def _listed() -> frozenset[str]:
    return frozenset(json.loads(RECORDED.read_text(encoding="utf-8"))["architectures"])
