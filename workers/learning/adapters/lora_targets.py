"""Names the layers of a base model that LoRA adapts, and the reason why a model has none.

Owns the choice: every linear layer of the language model except the output layer and the layers of
other modalities (vision, audio), which never run on text. In a mixture of experts only attention is
adapted: engines load no adapters of routers, and peft 0.21 takes feed-forward names of such a model
for its fused experts, also where they name dense layers.
"""

import re
from collections.abc import Iterable
from typing import Final

from torch import nn
from transformers import PreTrainedModel

from app.domain.models.models import BASE_MODEL_UNSUPPORTED
from workers.learning.forward.model_check import UnsupportedBase

_LEFT_OUT: Final = re.compile(
    r"(^|\.)(experts?|router|gate|shared_expert_gate|vision\w*|visual\w*|audio\w*|image\w*"
    r"|multi_modal_projector|embed_vision|embed_audio|mtp)(\.|$)"
)
_FEED_FORWARD: Final = re.compile(r"\.(gate_proj|up_proj|down_proj|gate_up_proj|w1|w2|w3)$")
_DENSE: Final = "all-linear"


def lora_targets(base: PreTrainedModel) -> str | list[str]:
    """Returns `target_modules` for peft: `all-linear` if every linear layer is adapted, else the
    suffixes of the layers' names, or whole names where a suffix would match other layers too.

    Raises `UnsupportedBase` for a model without such layers.
    """
    output = base.get_output_embeddings()  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    linears = {
        name
        for name, module in base.named_modules()
        if type(module) is nn.Linear and module is not output
    }
    experts = _has_experts(base)
    chosen = {
        name
        for name in linears
        if not (_LEFT_OUT.search(name) or (experts and _FEED_FORWARD.search(name)))
    }
    if not chosen:
        raise UnsupportedBase(
            "The trainer cannot train this base model: none of its layers is a linear layer that "
            "LoRA can adapt.",
            code=BASE_MODEL_UNSUPPORTED,
            param="model",
        )
    if chosen == linears and not experts:
        return _DENSE
    ends = {name.rpartition(".")[2] for name in chosen}
    others = {name for name, _ in base.named_modules()} - chosen
    if _ends_of(others) & ends:
        return sorted(chosen)
    return sorted(ends)


def _ends_of(names: Iterable[str]) -> set[str]:
    return {name.rpartition(".")[2] for name in names}


def _has_experts(base: PreTrainedModel) -> bool:
    return any(re.search(r"(^|\.)experts?(\.|$)", name) for name, _ in base.named_modules())
