"""Checks before any request whether the CPU engine can serve an architecture.

Owns the reasons. A model may be on the meta device: its weights are not read. Must not know
versions or requests.
"""

from typing import Any, Final

import torch

from workers.learning.forward.rotations import Rotations

_OWN_STATE: Final = ("linear_attention", "mamba", "conv", "recurrent", "hybrid")


def engine_fault(model: Any, *, context_length: int) -> str | None:
    """Returns the reason why the engine cannot serve a transformers model with sequences of up to
    `context_length` tokens; `None` if it can.
    """
    limit = Rotations(model).limit
    if limit is not None and context_length > limit:
        return (
            f"beyond {limit} tokens it rotates all sequences of a batch by the longest of them; "
            f"with a context_length of {limit} it can"
        )
    config = model.config.get_text_config()
    kinds = set(getattr(config, "layer_types", None) or ())
    obstacles = {
        "some layers keep a state other than keys and values": any(
            word in kind for kind in kinds for word in _OWN_STATE
        ),
        "its attention caps its scores": bool(getattr(config, "attn_logit_softcapping", None)),
        "its attention has sinks": any(n.endswith("sinks") for n, _ in model.named_parameters()),
        "its attention cannot be replaced": not getattr(
            model, "_supports_attention_backend", False
        ),
    }
    return next((reason for reason, holds in obstacles.items() if holds), None) or _shape_fault(
        model
    )


def _shape_fault(model: Any) -> str | None:
    """Runs two tokens: all layers must have keys and values of one shape."""
    try:
        with torch.inference_mode():
            ids_1T = torch.tensor([[0, 1]], device=model.device)
            layers = model(ids_1T, use_cache=True).past_key_values.layers
        shapes = {tuple(t.shape) for layer in layers for t in (layer.keys, layer.values)}
    except (AttributeError, RuntimeError, NotImplementedError, TypeError) as error:
        return f"its keys and values cannot be read ({type(error).__name__}: {error})"
    return None if len(shapes) == 1 else "the keys and values of its layers differ in shape"
