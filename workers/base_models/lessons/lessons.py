"""All lessons: one drawing function for each recipe.

Owns the list of domains. Promises equal lessons for equal seeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

from workers.base_models.lessons import (
    code_assistant,
    customer_support,
    reasoning,
    safety_alignment,
    tool_use,
)
from workers.base_models.lessons.lesson import Draw, Lesson

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
