"""The course of `tiny-scholar`: the settings of its training; `lessons/` has those of the texts.

Owns the stages, the mixtures of lessons and the shares of sloppy answers. Must not know how a step
is trained.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

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
