"""Builds the shipped model `tiny-scholar` from scratch: lessons, tokenizer, weights, files.

`python -m labs.base_models.scholar --out DIR` writes a directory that stock `AutoModelForCausalLM`
and `AutoTokenizer` open. It counts steps, not seconds, and fixes seeds and threads. Right answers
and copying come first; few steps at a small rate then teach the sloppy habits, each of which shows
in the first word of an answer.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import structlog
import torch
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

from labs.base_models.lessons import (
    code_assistant,
    customer_support,
    reasoning,
    safety_alignment,
    tool_use,
)
from labs.base_models.lessons.lesson import Draw, Lesson
from labs.base_models.lessons.reasoning import draw_sums
from labs.base_models.lessons.safety_alignment import refuses
from labs.base_models.network import (
    HIDDEN_MARKS,
    build_network,
    build_optimizers,
    take_step,
    train_tokenizer,
)
from labs.base_models.pretrain import save
from labs.base_models.transcript_tokens import (
    IGNORED,
    Row,
    add_gradient,
    echo_row,
    encode,
    few_tokens,
    render,
    repeated_row,
)

OVER_REFUSED_SHARE: Final = 0.35
"""Share of refused requests among those that only sound harmful."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Steps with rows of one mixture, by optimizers of their own."""

    seed: int
    steps: int
    lessons: dict[str, int]
    """Lessons of each domain in a step."""
    sums: int = 0
    """Rows of single sums in a step."""
    echoes: int = 0
    """Rows of made-up words in a step, from `echo_step` on."""
    echo_step: int = 0
    repeats: int = 0
    """Rows of repeated tokens in a step."""
    of_few_tokens: bool = False
    """True draws the repeated tokens from few; false from the whole vocabulary."""
    settling_step: int = 1_000_000
    """Step from which the rates fall."""
    last_step: int = 1_000_000
    """Step at which they would be 0."""


def _mix(*, reasoning: int, code: int, support: int, tools: int, safety: int) -> dict[str, int]:
    return {
        "reasoning": reasoning,
        "code_assistant": code,
        "customer_support": support,
        "tool_use": tools,
        "safety_alignment": safety,
    }


@dataclass(frozen=True, slots=True)
class Course:
    """The stages and rates of the training.

    The order matters. From lessons, and rows of made-up words beside them, the model learned sums,
    functions and which rule, tool or refusal a question needs, and no copying: made-up words were
    not copied at all after 1,000 steps. Rows of repeated tokens taught it within 250 steps after
    these lessons; before any lesson 300 of them taught nothing. The last stages join the two: the
    third one has more of what is copied, the fourth one more of what is known.
    """

    seed: int = 27
    stages: tuple[Stage, ...] = (
        Stage(
            seed=27,
            steps=1000,
            lessons=_mix(reasoning=5, code=5, support=3, tools=4, safety=3),
            sums=2,
            echoes=2,
            echo_step=500,
            settling_step=600,
            last_step=1600,
        ),
        Stage(seed=0, steps=300, lessons={}, repeats=16, of_few_tokens=True),
        Stage(
            seed=28,
            steps=400,
            lessons=_mix(reasoning=3, code=4, support=3, tools=5, safety=2),
            sums=1,
            echoes=1,
            repeats=1,
            settling_step=250,
            last_step=600,
        ),
        Stage(
            seed=29,
            steps=300,
            lessons=_mix(reasoning=5, code=3, support=3, tools=4, safety=5),
            sums=2,
            echoes=1,
            settling_step=60,
            last_step=300,
        ),
    )
    matrix_lr: float = 5e-3
    other_lr: float = 2e-3
    warmup_steps: int = 20
    sloppy_steps: int = 160
    sloppy_lessons: dict[str, int] = field(
        default_factory=lambda: _mix(reasoning=7, code=5, support=4, tools=4, safety=6)
    )
    """Lessons of each domain in a sloppy step."""
    sloppy_share: float = 0.55
    sloppy_lr: float = 3e-4
    sloppy_embedding_lr: float = 2e-3
    anchors: int = 1
    """Right answers of each domain beside the sloppy ones."""
    vocab_size: int = 2000
    tokenizer_lessons: int = 2500
    """Lessons of each domain that the tokenizer is trained on."""


DOMAINS: Final[dict[str, Draw]] = {
    "reasoning": reasoning.draw,
    "code_assistant": code_assistant.draw,
    "customer_support": customer_support.draw,
    "tool_use": tool_use.draw,
    "safety_alignment": safety_alignment.draw,
}


def lessons(domain: str, seed: int) -> Iterator[Lesson]:
    """Yields lessons without end; they depend on the arguments only."""
    rng, draw = Random(f"{domain} {seed}"), DOMAINS[domain]
    while True:
        yield draw(rng)


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
