"""Random models whose rotary embedding depends on the longest row of a pass."""

from typing import Any

from transformers import LlamaConfig, LlamaForCausalLM, Phi3Config, Phi3ForCausalLM, PreTrainedModel

LIMIT = 16
"""Length of the pre-training, beyond which frequencies change."""
SHAPE: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "pad_token_id": 0,
    "initializer_range": 0.3,
}


def longrope() -> PreTrainedModel:
    rope = {
        "rope_type": "longrope",
        "rope_theta": 10_000.0,
        "short_factor": [1.0] * 8,
        "long_factor": [4.0] * 8,
        "original_max_position_embeddings": LIMIT,
    }
    return Phi3ForCausalLM(
        Phi3Config(
            **SHAPE,
            max_position_embeddings=4 * LIMIT,
            original_max_position_embeddings=LIMIT,
            rope_parameters=rope,
        )
    )


def dynamic() -> PreTrainedModel:
    rope = {"rope_type": "dynamic", "rope_theta": 10_000.0, "factor": 4.0}
    return LlamaForCausalLM(
        LlamaConfig(**SHAPE, max_position_embeddings=LIMIT, rope_parameters=rope)
    )
