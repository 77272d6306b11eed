"""A base model as the CPU engine serves it: loaded, and converted for packed steps."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from transformers import AutoModelForCausalLM
from transformers.utils.logging import disable_progress_bar

from app.domain.models.models import BaseModelSpec
from app.rendering.renderer import Renderer
from workers.engines.cpu.models.decoder import fuse_decoder
from workers.engines.cpu.models.kv_pool import KvShape
from workers.engines.cpu.models.support import engine_fault
from workers.engines.cpu.models.weights import PlainWeights, Weights


@dataclass(slots=True, eq=False)
class BaseModel:
    """A served base model. `weights` runs packed steps with the weights of `model`."""

    spec: BaseModelSpec
    model: nn.Module
    weights: Weights
    renderer: Renderer
    kv_shape: KvShape
    vocab_size: int
    _texts: dict[int, str] = field(default_factory=dict)

    def text(self, token: int) -> str:
        """Returns the text of one token, as reported with log-probs."""
        text = self._texts.get(token)
        if text is None:
            text = self._texts[token] = self.renderer.decode([token])
        return text

    @property
    def context_length(self) -> int:
        return min(self.spec.context_length, self.renderer.context_length)


def load_model(spec: BaseModelSpec, dtype: torch.dtype) -> nn.Module:
    """Loads a transformers model from safetensors, in evaluation mode and without gradients."""
    disable_progress_bar()  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    model: nn.Module = AutoModelForCausalLM.from_pretrained(
        spec.path, dtype=dtype, use_safetensors=True, attn_implementation="sdpa"
    )
    model.train(mode=False)
    model.requires_grad_(requires_grad=False)
    return model


def serve(spec: BaseModelSpec, model: Any, renderer: Renderer) -> BaseModel:
    """Converts a model for packed steps; afterwards it runs nothing else. Runs it once to determine
    the shape of its keys and values.
    """
    length = min(spec.context_length, renderer.context_length)
    fault = engine_fault(model, context_length=length)
    if fault is not None:
        raise ValueError(f"{spec.name}: the CPU engine cannot serve this model: {fault}")
    with torch.inference_mode():
        layers = model(torch.tensor([[0, 1]]), use_cache=True).past_key_values.layers
    shapes = {tuple(t.shape) for layer in layers for t in (layer.keys, layer.values)}
    _, heads, _, head_size = shapes.pop()
    return BaseModel(
        spec=spec,
        model=model,
        weights=fuse_decoder(model, context_length=length) or PlainWeights.serving(model),
        renderer=renderer,
        kv_shape=KvShape(len(layers), heads, head_size, layers[0].keys.dtype),
        vocab_size=model.get_input_embeddings().num_embeddings,
    )
