"""Random-weight models of many families, two layers of width 64 each."""

from typing import Any, Final

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

_COMMON: Final[dict[str, Any]] = {
    "vocab_size": 640,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 128,
    "pad_token_id": 0,
    "bos_token_id": None,
    "eos_token_id": 1,
    "initializer_range": 0.1,
    "tie_word_embeddings": True,
}
_EXPERTS: Final[dict[str, Any]] = {"moe_intermediate_size": 32, "num_experts_per_tok": 2}
_SLIDING: Final[dict[str, Any]] = {
    "sliding_window": 16,
    "layer_types": ["sliding_attention", "full_attention"],
}
_ROUTED: Final[dict[str, Any]] = {
    **_EXPERTS,
    "n_routed_experts": 4,
    "first_k_dense_replace": 1,
    "n_group": 1,
    "topk_group": 1,
    "n_shared_experts": 1,
}
ARCHITECTURES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "Qwen2.5": ("qwen2", {}),
    "Qwen3": ("qwen3", {}),
    "Qwen3 MoE": ("qwen3_moe", {**_EXPERTS, "num_experts": 4, "decoder_sparse_step": 1}),
    "Qwen3.5": (
        "qwen3_5_text",
        {
            "layer_types": ["linear_attention", "full_attention"],
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 2,
            "linear_key_head_dim": 16,
            "linear_value_head_dim": 16,
        },
    ),
    "Llama 3": ("llama", {}),
    "Mistral": ("mistral", {}),
    "Mixtral": ("mixtral", {"num_local_experts": 4, "num_experts_per_tok": 2}),
    "Gemma 2": ("gemma2", {"query_pre_attn_scalar": 16, **_SLIDING}),
    "Gemma 3": ("gemma3_text", {"query_pre_attn_scalar": 16, **_SLIDING}),
    "Phi-3 and 4": ("phi3", {}),
    "OLMo 2": ("olmo2", {}),
    "OLMo 3": ("olmo3", _SLIDING),
    "GLM-4": ("glm4", {"partial_rotary_factor": 0.5}),
    "GLM-4.5": ("glm4_moe", _ROUTED),
    "SmolLM3": ("smollm3", {}),
    "Granite": (
        "granite",
        {
            "logits_scaling": 8.0,
            "embedding_multiplier": 12.0,
            "residual_multiplier": 0.22,
            "attention_multiplier": 0.0625,
        },
    ),
    "Cohere": ("cohere", {"logit_scale": 0.0625}),
    "gpt-oss": (
        "gpt_oss",
        {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 16},
    ),
    "DeepSeek-V3": (
        "deepseek_v3",
        {
            **_ROUTED,
            "q_lora_rank": None,
            "kv_lora_rank": 16,
            "qk_rope_head_dim": 8,
            "qk_nope_head_dim": 8,
            "v_head_dim": 16,
            "num_key_value_heads": 4,
            "head_dim": 8,
        },
    ),
}
"""The type of each family's configuration in transformers, and its own settings."""


def build_architecture(family: str, *, device: str = "cpu") -> PreTrainedModel:
    """Builds a family's model in evaluation mode; the same one each time."""
    kind, own = ARCHITECTURES[family]
    config = AutoConfig.for_model(kind, **{**_COMMON, **own})
    torch.manual_seed(0)
    with torch.device(device):
        model: PreTrainedModel = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    model.train(mode=False)
    return model
