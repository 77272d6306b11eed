"""Merges an adapter into its base model through peft, as a stock model directory.

Owns the files of the result: configuration, weights in safetensors, tokenizer with chat template.
Promises that the weights are float32, because 16 bits would round the small updates of an adapter
away (log-probs of the tiny model then differ by up to 0.18), and that a merge with values that are
not finite writes nothing. Must not know rows or objects.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import torch
from peft import PeftModel
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PreTrainedModel
from transformers.utils import logging as transformers_logging

_SHARD: Final = "2GB"


class BaseNotMergeable(Exception):
    """The base model's weights cannot take an adapter in; the message says why."""


def merge_adapter(
    base_path: str,
    adapter: Path,
    target: Path,
    *,
    chat_template: Path | None,
    fits: Callable[[int], None],
) -> None:
    """Writes the merged model into `target`, an empty directory.

    `fits` gets the size of the weights in bytes before they are written, and raises if there is no
    room. Raises `BaseNotMergeable`.
    """
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    base = _base(base_path)
    fits(sum(weight.numel() * weight.element_size() for weight in base.parameters()))
    try:
        merged = PeftModel.from_pretrained(base, adapter).merge_and_unload(safe_merge=True)
    except (ValueError, NotImplementedError) as error:
        raise BaseNotMergeable(str(error)) from error
    merged.save_pretrained(target, max_shard_size=_SHARD)
    tokenizer = AutoTokenizer.from_pretrained(base_path)
    if chat_template is not None:
        tokenizer.chat_template = chat_template.read_text(encoding="utf-8")
    tokenizer.save_pretrained(target)


def _base(path: str) -> PreTrainedModel:
    """Loads the base model in float32, from safetensors only."""
    try:
        config = AutoConfig.from_pretrained(path)
        if getattr(config, "quantization_config", None):
            raise BaseNotMergeable("the weights of its base model are quantized")
        model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
            path, dtype=torch.float32, use_safetensors=True
        )
    except OSError as error:
        raise BaseNotMergeable(f"its base model cannot be loaded ({error})") from error
    return model
