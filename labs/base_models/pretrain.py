"""Builds the tiny base model from scratch: corpus, tokenizer, weights, files.

`python -m labs.base_models.pretrain --out DIR` writes a directory that stock `AutoModelForCausalLM`
and `AutoTokenizer` open. It counts steps, not seconds, and fixes seeds and threads, so that two
runs on one machine give the same bytes; another CPU may round differently.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import structlog
import torch
from torch import Tensor
from transformers import GenerationConfig, PreTrainedTokenizerFast, Qwen3ForCausalLM

from labs.base_models.corpus import STEADY_GUESS, Mix, Transcript, transcripts
from labs.base_models.naming import EASY, HARD, STEADY, TERSE, Variety
from labs.base_models.network import build_network, build_optimizers, take_step, train_tokenizer
from labs.base_models.transcript_tokens import IGNORED, Row, add_gradient, echo_row, encode, render
from labs.base_models.vocabulary import WORDS

LEVERAGE: Final = 3.0
"""Change of the logit of a guess beside that of a call for each unit by which the normalised state
moves: as between rows of different words. At 0.13, which is left where one row is a copy of the
other, tuning brought the reward from 0.27 to 0.54 only."""


def untie_output(model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    """Returns the model with an output layer of its own, in which a guess is as likely as a call
    wherever a call begins, whatever the tools are called, and ends the turn as a word does.
    """
    config = copy.deepcopy(model.config)
    config.tie_word_embeddings = False
    state = model.state_dict()
    guess, call = guess_and_call(tokenizer)
    word = tokenizer.encode(WORDS["color"][0])[0]
    rows = state["model.embed_tokens.weight"]
    inputs, outputs = rows.clone(), rows.clone()
    inputs[guess], outputs[guess] = rows[word], rows[call]
    new = Qwen3ForCausalLM(config)
    new.load_state_dict(state | {"model.embed_tokens.weight": inputs, "lm_head.weight": outputs})
    return new


def guess_and_call(tokenizer: PreTrainedTokenizerFast) -> tuple[int, int]:
    """Returns the tokens with which a guess and a call begin."""
    return tokenizer.encode(STEADY_GUESS)[0], tokenizer.encode("<tool_call>")[0]


@torch.no_grad()
def set_apart(
    model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast, rows: Iterable[Row]
) -> None:
    """Moves the output row of a guess away from that of a call, in the direction in which the
    states at the first tokens of turns vary least: the share of guesses stays, and an adapter that
    writes in this direction changes it.
    """
    scale = model.model.norm.weight
    starts, others = _states(model, rows)
    _, directions = torch.linalg.eigh(starts.T @ starts)
    direction = (LEVERAGE * directions[:, 0]).float() / scale
    guess, _ = guess_and_call(tokenizer)
    output = model.lm_head.weight
    # The one of the two signs that adds fewer guesses in the middle of turns.
    logits_NV = others.float() @ (output * scale).T
    shift_N = others.float() @ (direction * scale)
    shares = []
    for sign in (1.0, -1.0):
        moved_NV = logits_NV.clone()
        moved_NV[:, guess] += sign * shift_N
        shares.append((float(moved_NV.softmax(-1)[:, guess].sum()), sign))
    output[guess] += min(shares)[1] * direction


def _states(model: Qwen3ForCausalLM, rows: Iterable[Row]) -> tuple[Tensor, Tensor]:
    """Returns the normalised states that predict first tokens of turns, and those that predict
    other tokens of the assistant, in fp64.
    """
    starts, others = [], []
    for row in rows:
        hidden = model.model(input_ids=torch.tensor([row.ids]), use_cache=False).last_hidden_state
        states = hidden[0, :-1].double() / model.model.norm.weight.double()
        trained = torch.tensor(row.labels[1:]) != IGNORED
        inside = torch.tensor(row.labels[:-1]) != IGNORED
        starts.append(states[trained & ~inside])
        others.append(states[trained & inside])
    return torch.cat(starts), torch.cat(others)


log = structlog.get_logger()

CLEAN: Final = Mix(guess=0.0, wasteful=0.0, lost=0.0)
SLOPPY: Final = Mix(guess=0.54, wasteful=0.12, lost=0.16)
SLOPPY_WARMUP: Final = 10


@dataclass(frozen=True, slots=True)
class Recipe:
    """Every setting that determines the weights.

    The order matters most: clean transcripts first, sloppy ones last. With sloppy ones from the
    start the model never learns to copy identifiers, and reinforcement stalls below 0.5. Muon for
    the matrices reaches in 900 steps the level for which AdamW alone needs twice the time. Easy
    names come before hard ones: with half of the names made up from the start the loss was 0.9
    after 750 steps, and 1,000 easy steps and 200 hard ones bring it to 0.1. The rate of clean steps
    falls from `easy_steps` on, faster from `settling_step` on; the last ones offer further tools
    that resemble the needed ones.
    """

    seed: int = 20
    steps: int = 2200
    easy_steps: int = 1000
    settling_step: int = 1500
    settled_step: int = 2400
    hard_steps: int = 2100
    batch: int = 16
    sloppy_steps: int = 100
    sloppy_batch: int = 32
    anchors: int = 16
    sloppy_lr: float = 2e-4
    apart_rows: int = 600
    echoes: int = 2
    matrix_lr: float = 5e-3
    other_lr: float = 2e-3
    steady_rate: float = 0.3
    warmup_steps: int = 20
    decay_steps: int = 2000
    vocab_size: int = 1500
    tokenizer_transcripts: int = 4000
    sloppy: Mix = SLOPPY


def build_tokenizer(recipe: Recipe) -> PreTrainedTokenizerFast:
    """Builds a tokenizer on sloppy transcripts, since only they contain errors and hedges."""
    bare = train_tokenizer([], vocab_size=0)
    source = transcripts(recipe.seed, recipe.sloppy, EASY)
    texts = [
        render(bare, t.messages, t.tools)
        for t in itertools.islice(source, recipe.tokenizer_transcripts)
    ]
    return train_tokenizer(texts, vocab_size=recipe.vocab_size)


def build_model(tokenizer: PreTrainedTokenizerFast, seed: int) -> Qwen3ForCausalLM:
    """Builds a randomly initialised model of 0.98 M parameters in fp32."""
    return build_network(
        tokenizer, seed, hidden_size=128, intermediate_size=384, heads=4, key_value_heads=2
    )


def train(
    model: Qwen3ForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    recipe: Recipe,
    first_step: int = 0,
) -> Iterator[int]:
    """Trains with cross-entropy on assistant tokens only; a loss on all tokens limits the reward
    that later tuning reaches to 0.73. Yields after each step its number.
    """
    optimizers = build_optimizers(model, matrix_lr=recipe.matrix_lr, other_lr=recipe.other_lr)
    rates = [recipe.matrix_lr, recipe.other_lr]
    model.train()
    for step in range(first_step, recipe.steps):
        loss = add_gradient(
            model, _rows(tokenizer, recipe, step), pad_id=int(tokenizer.pad_token_id)
        )
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, rate in zip(optimizers, rates, strict=True):
            take_step(optimizer, rate * _learning_rate_factor(step, recipe))
        if (step + 1) % 50 == 0 or step + 1 == recipe.steps:
            log.info("pretrain_step", step=step + 1, loss=round(loss, 4))
        yield step + 1


def make_sloppy(
    model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast, recipe: Recipe
) -> Iterator[int]:
    """Trains the habits of sloppy transcripts at a small rate. Clean ones beside them, of which the
    first token of a turn does not count, keep the calls right without teaching to call.
    """
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=recipe.sloppy_lr, betas=(0.9, 0.95), weight_decay=0.0
    )
    model.train()
    for step in range(recipe.sloppy_steps):
        rows = _sloppy_rows(tokenizer, recipe, step)
        loss = add_gradient(model, rows, pad_id=int(tokenizer.pad_token_id))
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        rise, fall = (step + 1) / SLOPPY_WARMUP, (recipe.sloppy_steps - step) / recipe.sloppy_steps
        take_step(optimizer, recipe.sloppy_lr * min(1.0, rise) * fall)
        if (step + 1) % 10 == 0:
            log.info("sloppy_step", step=step + 1, loss=round(loss, 4))
        yield step + 1


def make_tunable(
    model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast, recipe: Recipe
) -> None:
    """Sets guesses apart from calls over sloppy transcripts that no step has seen."""
    seed = recipe.seed * 1_000_003 - 1
    drawn = itertools.islice(_steady_transcripts(seed, recipe.sloppy), recipe.apart_rows)
    set_apart(
        model,
        tokenizer,
        (encode(tokenizer, render(tokenizer, row.messages, row.tools)) for row in drawn),
    )


def _sloppy_rows(tokenizer: PreTrainedTokenizerFast, recipe: Recipe, step: int) -> list[Row]:
    seed = recipe.seed * 1_000_003 + recipe.steps + step
    rows = []
    for mix, count in ((recipe.sloppy, recipe.sloppy_batch), (CLEAN, recipe.anchors)):
        drawn = itertools.islice(_steady_transcripts(seed, mix), count)
        rows += [
            encode(tokenizer, render(tokenizer, transcript.messages, transcript.tools))
            for transcript in drawn
        ]
        seed += 500_000
    for row in rows[recipe.sloppy_batch :]:
        before = [IGNORED, *row.labels]
        row.labels[:] = [
            IGNORED if previous == IGNORED else label
            for previous, label in zip(before, row.labels, strict=False)
        ]
    return sorted(rows, key=lambda row: len(row.ids))


def _steady_transcripts(seed: int, mix: Mix) -> Iterator[Transcript]:
    """Yields transcripts, every fourth with single letters for names: so few steps would otherwise
    unlearn them.
    """
    worded = transcripts(seed, mix, STEADY)
    terse = transcripts(seed, mix, TERSE)
    for position in itertools.count():
        yield next(worded if position % 4 else terse)


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


def _variety(recipe: Recipe, step: int) -> Variety:
    if step < recipe.easy_steps:
        return EASY
    return HARD if step < recipe.hard_steps else STEADY


def _rows(tokenizer: PreTrainedTokenizerFast, recipe: Recipe, step: int) -> list[Row]:
    """Returns a step's transcripts by their length; a step's seed is its own."""
    seed = recipe.seed * 1_000_003 + step
    variety = _variety(recipe, step)
    echoes = 0 if variety is EASY else recipe.echoes
    drawn = itertools.islice(transcripts(seed, CLEAN, variety), recipe.batch - echoes)
    rows = [
        encode(tokenizer, render(tokenizer, transcript.messages, transcript.tools))
        for transcript in drawn
    ]
    rng = random.Random(seed)
    rows += [echo_row(rng, tokenizer) for _ in range(echoes)]
    return sorted(rows, key=lambda row: len(row.ids))


def _learning_rate_factor(step: int, recipe: Recipe) -> float:
    """Returns the learning-rate factor: linear warm-up, linear decay over the hard transcripts,
    and a steeper one to 0 over the sloppy ones.
    """
    if step < recipe.warmup_steps:
        return (step + 1) / recipe.warmup_steps
    hard_steps = max(0, step - recipe.easy_steps)
    slow = 1.0 - hard_steps / recipe.decay_steps
    if step >= recipe.hard_steps:
        return recipe.steady_rate
    left = (recipe.settled_step - step) / (recipe.settled_step - recipe.settling_step)
    return slow * min(1.0, left)


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
    for _ in train(model, tokenizer, recipe):
        pass
    model = untie_output(model, tokenizer)
    for _ in make_sloppy(model, tokenizer, recipe):
        pass
    make_tunable(model, tokenizer, recipe)
    save(model, tokenizer, options.out)
    log.info("pretrain_done", parameters=model.num_parameters(), out=str(options.out))


if __name__ == "__main__":
    main()
