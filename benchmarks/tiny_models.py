"""M1, the small Qwen3 that every benchmark of learning and sampling shares, built from a seed.

256 wide, 4 layers, 4 heads over 2 KV heads of 64, MLP 768, vocabulary 8,192, tied: 5 M parameters,
random weights. Its tokenizer is a byte-level BPE trained on made-up text, with a ChatML template
that renders tools. The same seed gives the same files to the bit.

    python benchmarks/tiny_models.py DIRECTORY
"""

import json
import random
import sys
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch
from transformers import AutoTokenizer, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from tests.support.models.tiny_model import CORPUS, LOOKUP, MARKS, build_tokenizer

VOCAB_SIZE: Final = 8192
CONTEXT_LENGTH: Final = 2048
NAME: Final = "m1-2026-01-01"
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvwz", "aeiou"


def m1_config(**changes: Any) -> Qwen3Config:
    values: dict[str, Any] = {
        "vocab_size": VOCAB_SIZE,
        "hidden_size": 256,
        "intermediate_size": 768,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "max_position_embeddings": CONTEXT_LENGTH,
        "tie_word_embeddings": True,
        "initializer_range": 0.05,
        "bos_token_id": None,
        "eos_token_id": MARKS.index("<|im_end|>"),
        "pad_token_id": MARKS.index("<|endoftext|>"),
    }
    return Qwen3Config(**(values | changes))


def build_m1(*, seed: int = 0, **changes: Any) -> Qwen3ForCausalLM:
    """Builds M1 in fp32, in evaluation mode; `changes` are fields of the configuration."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        model = Qwen3ForCausalLM(m1_config(**changes))
    model.train(mode=False)
    return model


def m1_tokenizer() -> PreTrainedTokenizerFast:
    """Trains a tokenizer with exactly `VOCAB_SIZE` tokens, so that any sampled id can be
    decoded.
    """
    tokenizer = build_tokenizer(
        corpus=_text(), vocab_size=VOCAB_SIZE, context_length=CONTEXT_LENGTH
    )
    if len(tokenizer) != VOCAB_SIZE:
        raise RuntimeError(f"the tokenizer has {len(tokenizer)} tokens")
    return tokenizer


def save_m1(directory: Path, *, seed: int = 0, **changes: Any) -> Path:
    """Saves model and tokenizer as a directory that any loader can read."""
    build_m1(seed=seed, **changes).save_pretrained(directory)
    m1_tokenizer().save_pretrained(directory)
    return directory


def prompt_texts(model_dir: Path, count: int, tokens: int, *, seed: int = 0) -> list[str]:
    """Returns user messages whose rendered prompt has exactly `tokens` tokens."""
    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    rng = random.Random(seed)

    def length(words: list[str]) -> int:
        messages = [{"role": "user", "content": " ".join(words)}]
        return len(
            tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
        )

    lexicon = _text(1200)[:100]
    found: list[str] = []
    while len(found) < count:
        words: list[str] = []
        while length(words) < tokens:
            words.append(rng.choice(rng.choice(lexicon).split()))
        if length(words) == tokens:
            found.append(" ".join(words))
    return found


def _text(words: int = 60_000) -> list[str]:
    """Returns training text of the tokenizer: lines of made-up words, varied enough for all BPE
    merges, and the fixed parts of conversations with tools, repeated often enough to become single
    tokens.
    """
    rng = random.Random(0)

    def word() -> str:
        syllables = range(rng.randint(1, 4))
        return "".join(rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in syllables)

    lexicon = [word() for _ in range(12_000)]
    return [
        *(" ".join(rng.choices(lexicon, k=12)) for _ in range(words // 12)),
        *(CORPUS * 200),
        *([json.dumps(LOOKUP)] * 200),
    ]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(save_m1(Path(sys.argv[1])))
