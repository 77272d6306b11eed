"""Reads from a model's config how wide its products are."""

from typing import Final

from app.domain.models.models import BaseModelSpec
from app.rendering.model_files import ModelFiles

_USUAL: Final = (512, 1536)
_LARGEST: Final = (2048, 6144)
"""Wider products take longer to measure, and rank the ways alike."""


def model_widths(spec: BaseModelSpec) -> tuple[int, int]:
    """Returns the widths of the model and of its feed-forward layers, each at most `_LARGEST`."""
    config = ModelFiles(spec.path).json("config.json")
    text = config.get("text_config") or config
    widths = [text.get(name) for name in ("hidden_size", "intermediate_size")]
    known = [
        width if isinstance(width, int) and width > 0 else usual
        for width, usual in zip(widths, _USUAL, strict=True)
    ]
    return min(known[0], _LARGEST[0]), min(known[1], _LARGEST[1])
