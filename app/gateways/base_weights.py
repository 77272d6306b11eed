"""Reads facts about a base model's weights without loading them.

Owns the reading of a model directory's `config.json` and file sizes. For a hub id, or a directory
that this machine does not have, they are unknown, and only a worker can determine them.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.domain.models.models import BaseModelSpec

_FLOAT32_BYTES: Final = 4
_ITEM_BYTES: Final = {"bfloat16": 2, "float16": 2, "float32": _FLOAT32_BYTES}


@dataclass(frozen=True, slots=True)
class BaseWeights:
    merged_bytes: int
    """Size of the weights in float32, as in an export; 0 if unknown."""
    is_quantized: bool
    """True for weights into which no adapter can be merged without loss."""


def base_weights(spec: BaseModelSpec) -> BaseWeights:
    directory = Path(spec.path)
    try:
        config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
        size = sum(path.stat().st_size for path in directory.glob("*.safetensors"))
    except (OSError, ValueError):
        return BaseWeights(0, is_quantized=False)
    if not isinstance(config, dict):
        return BaseWeights(0, is_quantized=False)
    stored_as = config.get("dtype", config.get("torch_dtype"))
    return BaseWeights(
        size * _FLOAT32_BYTES // _ITEM_BYTES.get(str(stored_as), _FLOAT32_BYTES),
        is_quantized=bool(config.get("quantization_config")),
    )
