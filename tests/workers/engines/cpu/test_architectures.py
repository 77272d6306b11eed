from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from app.models.models import BaseModelSpec
from tests.support.models.tiny_model import VOCAB_SIZE, build_tokenizer
from workers.engines.cpu.batching.scheduler import Limits
from workers.engines.cpu.batching.sequence import Sampling
from workers.engines.cpu.engine import Engine

SIZES: dict[str, Any] = {
    "vocab_size": VOCAB_SIZE,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 256,
    "initializer_range": 0.1,
    "pad_token_id": 0,
    "bos_token_id": None,
    "eos_token_id": 2,
}
SLIDING: dict[str, Any] = {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1}


def _save(model: Any, directory: Path) -> BaseModelSpec:
    model.save_pretrained(directory)
    build_tokenizer().save_pretrained(directory)
    return BaseModelSpec(name="model", path=str(directory), context_length=256)


@pytest.mark.parametrize(
    ("model_class", "config"),
    [
        (LlamaForCausalLM, LlamaConfig(**SIZES)),
        (Qwen2ForCausalLM, Qwen2Config(**{k: v for k, v in SIZES.items() if k != "head_dim"})),
        (Qwen3ForCausalLM, Qwen3Config(**SIZES, **SLIDING)),
    ],
)
async def test_other_architectures_give_their_own_log_probs(
    model_class: Any, config: Any, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    model = model_class(config)
    model.train(mode=False)
    engine = Engine([_save(model, tmp_path)], Limits(threads=1))
    await engine.start()
    version = engine.versions.get("model")
    prompts = [[(3 * i + n) % VOCAB_SIZE for i in range(n)] for n in (3, 30, 41)]
    sequences = [engine.sequence(version, p, Sampling(40, 1.0, seed=1)) for p in prompts]
    await engine.finish(sequences)
    for sequence in sequences:
        ids_1T = torch.tensor([sequence.tokens])
        with torch.inference_mode():
            logprobs_TV = torch.log_softmax(model(ids_1T).logits[0, :-1], -1)
        expected = logprobs_TV.gather(1, ids_1T[0, 1:, None])[sequence.prompt_length - 1 :, 0]
        assert torch.allclose(torch.tensor(sequence.logprobs), expected, atol=1e-4)
    await engine.stop()


async def test_log_probs_that_differ_at_the_start_are_refused(tmp_path: Path) -> None:
    engine = Engine([_save(LlamaForCausalLM(LlamaConfig(**SIZES)), tmp_path)], Limits(threads=1))
    ((base, expected),) = engine._references
    engine._references = [(base, [[value + 0.01 for value in row] for row in expected])]
    with pytest.raises(ValueError, match="cannot be served here"):
        await engine.start()
    await engine.stop()


def test_an_architecture_with_another_attention_is_refused(tmp_path: Path) -> None:
    spec = _save(Gemma2ForCausalLM(Gemma2Config(**SIZES)), tmp_path)
    with pytest.raises(ValueError, match="does not support"):
        Engine([spec], Limits(threads=1))
