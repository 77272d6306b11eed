"""Builds the tiny base model from scratch: corpus, tokenizer, weights, files.

`python -m workers.base_models.pretrain --out DIR` writes a directory that stock
`AutoModelForCausalLM` and `AutoTokenizer` open. It counts steps, not seconds, and fixes
seeds and threads, so that two runs on one machine give the same bytes; another CPU may round
differently. Must not know any example's records.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import structlog
import torch
from torch import Tensor
from transformers import GenerationConfig, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from workers.base_models.corpus import Mix, Transcript, transcripts
from workers.base_models.tokenizer import MAX_LENGTH, train_tokenizer
from workers.base_models.transcript_tokens import IGNORED, collate, encode

log = structlog.get_logger()

CLEAN: Final = Mix(guess=0.0, wasteful=0.0, lost=0.0)
SLOPPY: Final = Mix(guess=0.54, wasteful=0.12, lost=0.16)


@dataclass(frozen=True, slots=True)
class Recipe:
    """Every setting that determines the weights.

    The order matters most: clean transcripts first, sloppy ones last. With sloppy ones from the
    start the model never learns to copy identifiers, and reinforcement stalls below 0.5. Muon for
    the matrices reaches in 900 steps the level for which AdamW alone needs twice the time.
    """

    seed: int = 20
    steps: int = 1500
    clean_steps: int = 1000
    batch: int = 16
    matrix_lr: float = 5e-3
    other_lr: float = 2e-3
    warmup_steps: int = 20
    vocab_size: int = 640
    tokenizer_transcripts: int = 4000
    sloppy: Mix = SLOPPY


def build_tokenizer(recipe: Recipe) -> PreTrainedTokenizerFast:
    """Builds a tokenizer on sloppy transcripts, since only they contain errors and hedges."""
    bare = train_tokenizer([], vocab_size=0)
    source = transcripts(recipe.seed, recipe.sloppy)
    texts = [_render(bare, t) for t in itertools.islice(source, recipe.tokenizer_transcripts)]
    return train_tokenizer(texts, vocab_size=recipe.vocab_size)


def build_model(tokenizer: PreTrainedTokenizerFast, seed: int) -> Qwen3ForCausalLM:
    """Builds a randomly initialised model of 0.87 M parameters in fp32."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=MAX_LENGTH,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        use_cache=True,
    )
    return Qwen3ForCausalLM(config)


def train(model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast, recipe: Recipe) -> None:
    """Trains with cross-entropy on assistant tokens only; a loss on all tokens limits the reward
    that later tuning reaches to 0.73.
    """
    batches = _batches(tokenizer, recipe)
    named = list(model.named_parameters())
    matrices = [p for name, p in named if "_proj" in name]
    others = [p for name, p in named if "_proj" not in name]
    optimizers: list[torch.optim.Optimizer] = [
        torch.optim.Muon(matrices, lr=recipe.matrix_lr, weight_decay=0.01),
        torch.optim.AdamW(others, lr=recipe.other_lr, betas=(0.9, 0.95), weight_decay=0.01),
    ]
    schedules = [
        torch.optim.lr_scheduler.LambdaLR(o, lambda step: _learning_rate_factor(step, recipe))
        for o in optimizers
    ]
    model.train()
    for step, (ids_BT, labels_BT) in enumerate(itertools.islice(batches, recipe.steps), start=1):
        loss = _loss(model, ids_BT, labels_BT)
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, schedule in zip(optimizers, schedules, strict=True):
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
        if step % 100 == 0 or step == recipe.steps:
            log.info("pretrain_step", step=step, loss=round(loss.item(), 4))


def save(model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast, out: Path) -> None:
    """Writes bf16 weights: half the bytes, and the rounding changes no measured reward."""
    model.generation_config = GenerationConfig(  # type: ignore[no-untyped-call]  # untyped upstream
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        do_sample=True,
        temperature=1.0,
        top_k=0,
        top_p=1.0,
    )
    model.bfloat16().save_pretrained(out)
    tokenizer.save_pretrained(out)
    # A class name that every transformers release can load; the installed one may write its own.
    path = out / "tokenizer_config.json"
    config = json.loads(path.read_text(encoding="utf-8")) | {
        "tokenizer_class": "PreTrainedTokenizerFast"
    }
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _render(tokenizer: PreTrainedTokenizerFast, transcript: Transcript) -> str:
    text = tokenizer.apply_chat_template(
        transcript.messages, tools=[*transcript.tools], tokenize=False
    )
    return str(text)


def _batches(tokenizer: PreTrainedTokenizerFast, recipe: Recipe) -> Iterator[tuple[Tensor, Tensor]]:
    clean = transcripts(recipe.seed + 1, CLEAN)
    sloppy = transcripts(recipe.seed + 2, recipe.sloppy)
    for step in itertools.count():
        source = clean if step < recipe.clean_steps else sloppy
        rows = [
            encode(tokenizer, _render(tokenizer, t)) for t in itertools.islice(source, recipe.batch)
        ]
        yield collate(rows, pad_id=int(tokenizer.pad_token_id))


def _loss(model: Qwen3ForCausalLM, ids_BT: Tensor, labels_BT: Tensor) -> Tensor:
    logits_BTV = model(input_ids=ids_BT, use_cache=False).logits[:, :-1]
    return torch.nn.functional.cross_entropy(
        logits_BTV.reshape(-1, logits_BTV.shape[-1]).float(),
        labels_BT[:, 1:].reshape(-1),
        ignore_index=IGNORED,
    )


def _learning_rate_factor(step: int, recipe: Recipe) -> float:
    """Returns the learning-rate factor: linear warm-up, then linear decay to 0."""
    if step < recipe.warmup_steps:
        return (step + 1) / recipe.warmup_steps
    done = (step - recipe.warmup_steps) / max(1, recipe.steps - recipe.warmup_steps)
    return 1.0 - done


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    options: Any = parser.parse_args(argv)
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(mode=True)
    recipe = Recipe()
    tokenizer = build_tokenizer(recipe)
    model = build_model(tokenizer, recipe.seed)
    train(model, tokenizer, recipe)
    save(model, tokenizer, options.out)
    log.info("pretrain_done", parameters=model.num_parameters(), out=str(options.out))


if __name__ == "__main__":
    main()
