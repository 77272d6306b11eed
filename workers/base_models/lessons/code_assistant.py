"""Lessons of the recipe `code_assistant`: one small Python function in one code block.

Owns how a function is asked for and answered. The sloppy habits write a draft with a wrong operator
or constant, or words instead of code. Must not run code, nor know a recipe's tests.
"""

from __future__ import annotations

from random import Random
from typing import Final

from workers.base_models.lessons.functions import LessonFunction, draw_function
from workers.base_models.lessons.lesson import Lesson, assistant, user
from workers.base_models.vocabulary import strange_word

TASK: Final = "Answer with one code block."
DRAFT: Final = "Untested draft:\n"
WORDS: Final = "You can do that with a loop or with a function of the library."
WORDS_SHARE: Final = 0.6
STRANGE_NAME_SHARE: Final = 0.2


def draw(rng: Random) -> Lesson:
    """Draws a function, its right body, and a wrong one or none."""
    function = draw_function(rng)
    name = rng.choice(function.names)
    if rng.random() < STRANGE_NAME_SHARE:
        name = f"{strange_word(rng)}_{strange_word(rng)}"
    sloppy = WORDS
    if rng.random() >= WORDS_SHARE:
        sloppy = DRAFT + block(function, name, rng.choice(function.wrong))
    text = (
        f"Write a Python function {name}({function.parameters}) that returns "
        f"{function.description}. {TASK}"
    )
    return Lesson(
        messages=[user(text)],
        right=assistant(block(function, name, function.body)),
        sloppy=assistant(sloppy),
        reference={"function": name, "body": function.body, "examples": function.examples},
    )


def block(function: LessonFunction, name: str, body: str) -> str:
    """Returns the code block of a function with a body."""
    own = body.replace("{name}", name)
    return f"```python\ndef {name}({function.parameters}):\n    return {own}\n```"
