"""Builds the shipped model `tiny-scholar` from scratch: lessons, tokenizer, weights, files.

`python -m workers.base_models.scholar --out DIR` writes a directory that stock
`AutoModelForCausalLM` and `AutoTokenizer` open. It counts steps, not seconds, and fixes seeds and
threads. Right answers and copying come first; few steps at a small rate then teach the sloppy
habits, each of which shows in the first word of an answer. Must not know the recipes' rows.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import structlog
import torch
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

from workers.base_models.course import OVER_REFUSED_SHARE, Course, Stage
from workers.base_models.echoes import echo_row
from workers.base_models.gradients import add_gradient
from workers.base_models.lessons.lesson import Lesson
from workers.base_models.lessons.lessons import DOMAINS, lessons
from workers.base_models.lessons.reasoning import draw_sums
from workers.base_models.lessons.safety_alignment import refuses
from workers.base_models.network import build_network, build_optimizers, take_step
from workers.base_models.pretrain import save
from workers.base_models.repeats import few_tokens, repeated_row
from workers.base_models.tokenizer import HIDDEN_MARKS, train_tokenizer
from workers.base_models.transcript_tokens import IGNORED, Row, encode, render

log = structlog.get_logger()


def build_tokenizer(course: Course) -> PreTrainedTokenizerFast:
    """Builds a tokenizer on right and sloppy answers."""
    bare = train_tokenizer([], vocab_size=0)
    texts = [
        render(bare, lesson.transcript(is_sloppy=number % 3 == 0), lesson.tools)
        for domain in DOMAINS
        for number, lesson in enumerate(
            itertools.islice(lessons(domain, course.seed), course.tokenizer_lessons)
        )
    ]
    return train_tokenizer(texts, vocab_size=course.vocab_size)


def build_model(tokenizer: PreTrainedTokenizerFast, seed: int) -> Qwen3ForCausalLM:
    """Builds a randomly initialised model in fp32."""
    return build_network(
        tokenizer, seed, hidden_size=160, intermediate_size=448, heads=5, key_value_heads=5
    )


def train(
    model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast, course: Course
) -> Iterator[int]:
    """Trains through the stages, with cross-entropy on assistant tokens only. Yields after each
    step its number in its stage.
    """
    model.train()
    for stage in course.stages:
        optimizers = build_optimizers(model, matrix_lr=course.matrix_lr, other_lr=course.other_lr)
        for step in range(stage.steps):
            rows = _rows(tokenizer, stage, step)
            loss = add_gradient(model, rows, pad_id=int(tokenizer.pad_token_id))
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            factor = _rate_factor(step, stage, course)
            for optimizer, rate in zip(
                optimizers, (course.matrix_lr, course.other_lr), strict=True
            ):
                take_step(optimizer, rate * factor)
            if (step + 1) % 50 == 0:
                log.info("scholar_step", stage=stage.seed, step=step + 1, loss=round(loss, 4))
            yield step + 1


def make_sloppy(
    model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast, course: Course
) -> Iterator[int]:
    """Trains the sloppy habits at a small rate. Right answers beside them, of which the first token
    does not count, keep what follows it right.
    """
    named = list(model.named_parameters())
    # Habits begin with words that no right answer has, whose rows of the tied embeddings are far
    # off: at the rate of the other weights other words would take their place.
    rates = (course.sloppy_embedding_lr, course.sloppy_lr)
    parts = (
        [p for name, p in named if "embed" in name],
        [p for name, p in named if "embed" not in name],
    )
    optimizers = [
        torch.optim.AdamW(part, lr=rate, betas=(0.9, 0.95), weight_decay=0.0)
        for part, rate in zip(parts, rates, strict=True)
    ]
    model.train()
    for step in range(course.sloppy_steps):
        rows = _sloppy_rows(tokenizer, course, step)
        loss = add_gradient(model, rows, pad_id=int(tokenizer.pad_token_id))
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        rise, fall = (step + 1) / 10, (course.sloppy_steps - step) / course.sloppy_steps
        for optimizer, rate in zip(optimizers, rates, strict=True):
            take_step(optimizer, rate * min(1.0, rise) * fall)
        if (step + 1) % 10 == 0:
            log.info("sloppy_step", step=step + 1, loss=round(loss, 4))
        yield step + 1


def _rows(tokenizer: PreTrainedTokenizerFast, stage: Stage, step: int) -> list[Row]:
    """Returns a step's rows by their length; a step's seed is its own."""
    seed = stage.seed * 1_000_003 + step
    rows = [
        _encoded(tokenizer, lesson, is_sloppy=False)
        for domain, count in stage.lessons.items()
        for lesson in itertools.islice(lessons(domain, seed), count)
    ]
    rng = random.Random(seed)
    rows += [sum_row(rng, tokenizer) for _ in range(stage.sums)]
    echoes = stage.echoes if step >= stage.echo_step else 0
    rows += [echo_row(rng, tokenizer) for _ in range(echoes)]
    every = [*range(len(HIDDEN_MARKS), len(tokenizer))]
    tokens = few_tokens(tokenizer) if stage.of_few_tokens else every
    rows += [repeated_row(rng, tokens) for _ in range(stage.repeats)]
    return sorted(rows, key=lambda row: len(row.ids))


def sum_row(rng: random.Random, tokenizer: PreTrainedTokenizerFast) -> Row:
    """Draws single sums, one in a line, of which the results are labelled."""
    row = Row([], [])
    for question, answer in draw_sums(rng):
        asked = tokenizer.encode(question, add_special_tokens=False)
        said = tokenizer.encode(f"{answer}\n", add_special_tokens=False)
        row.ids.extend(asked + said)
        row.labels.extend([IGNORED] * len(asked) + said)
    return row


def _sloppy_rows(tokenizer: PreTrainedTokenizerFast, course: Course, step: int) -> list[Row]:
    seed = (course.seed + len(course.stages)) * 1_000_003 + step
    rng = random.Random(seed)
    rows = []
    for domain, count in course.sloppy_lessons.items():
        drawn = lessons(domain, seed)
        for lesson in itertools.islice(drawn, count):
            is_sloppy = rng.random() < _sloppy_share(lesson, course)
            rows.append(_encoded(tokenizer, lesson, is_sloppy=is_sloppy))
        rows += [
            _without_first(_encoded(tokenizer, lesson, is_sloppy=False))
            for lesson in itertools.islice(drawn, course.anchors)
        ]
    return sorted(rows, key=lambda row: len(row.ids))


def _sloppy_share(lesson: Lesson, course: Course) -> float:
    return OVER_REFUSED_SHARE if refuses(lesson.sloppy["content"]) else course.sloppy_share


def _without_first(row: Row) -> Row:
    """Returns the row without the label of the answer's first token."""
    first = next(position for position, label in enumerate(row.labels) if label != IGNORED)
    return Row(row.ids, [*row.labels[:first], IGNORED, *row.labels[first + 1 :]])


def _encoded(tokenizer: PreTrainedTokenizerFast, lesson: Lesson, *, is_sloppy: bool) -> Row:
    return encode(
        tokenizer, render(tokenizer, lesson.transcript(is_sloppy=is_sloppy), lesson.tools)
    )


def _rate_factor(step: int, stage: Stage, course: Course) -> float:
    """Returns the factor on the rates: a linear rise, a level, and a linear fall."""
    if step < course.warmup_steps:
        return (step + 1) / course.warmup_steps
    if step < stage.settling_step:
        return 1.0
    return (stage.last_step - step) / (stage.last_step - stage.settling_step)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    options: Any = parser.parse_args(argv)
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(mode=True)
    course = Course()
    tokenizer = build_tokenizer(course)
    model = build_model(tokenizer, course.seed)
    for _ in train(model, tokenizer, course):
        pass
    for _ in make_sloppy(model, tokenizer, course):
        pass
    save(model, tokenizer, options.out)
    log.info("scholar_done", parameters=model.num_parameters(), out=str(options.out))


if __name__ == "__main__":
    main()
