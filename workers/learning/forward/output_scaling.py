"""Reads from a model's configuration how it scales and caps the logits of its output layer."""

from dataclasses import dataclass

from transformers import PreTrainedModel


@dataclass(frozen=True, slots=True)
class OutputScaling:
    """`logits = cap · tanh(scale · z / cap)` for the output z of the layer; without a cap
    `logits = scale · z`.
    """

    scale: float = 1.0
    cap: float | None = None


def output_scaling(base: PreTrainedModel) -> OutputScaling:
    """Returns the scaling of Cohere (`logit_scale`), Granite (`logits_scaling`, a divisor) and
    Gemma 2 (`final_logit_softcapping`); the check of a base finds any other.
    """
    config = base.config.get_text_config()
    scale = getattr(config, "logit_scale", None) or 1.0
    divisor = getattr(config, "logits_scaling", None) or 1.0
    return OutputScaling(scale / divisor, getattr(config, "final_logit_softcapping", None) or None)
