"""Lessons of the recipe `reasoning`: arithmetic in several written steps.

The sloppy habit names a number at once, without a step.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from labs.base_models.lessons.lesson import Lesson, assistant, user
from labs.base_models.vocabulary import split_words

GUESS: Final = "Probably "
NAMES: Final = split_words("Mia Ben Lea Tom Ida Max Zoe Jan Eva Leo Nina Paul Rosa Emil Clara Noah")
THINGS: Final = split_words(
    "pens coins cups books nails apples cards eggs stamps shells keys balls"
)
BOXES: Final = split_words("boxes bags crates packs baskets drawers")
PLACES: Final = ("A shelf", "A shop", "A cupboard", "A cellar", "A kitchen", "A school")
LOST: Final = ("sold", "lost", "used", "given away", "broken")
FINDS: Final = ("finds", "wins", "gets", "buys")
GROUPS: Final = (
    ("A train", "wagons", "seats"),
    ("A hall", "rows", "chairs"),
    ("A garden", "beds", "plants"),
    ("A hotel", "floors", "rooms"),
    ("A fleet", "buses", "seats"),
)
TASK: Final = "Write the steps, then the number on the last line."
OTHER_TASKS: Final = ("Show your steps and end with the number.", "Write each step in a line.")
TASK_SHARE: Final = 0.8
SUMS_OF_A_ROW: Final = 10

SumStep = tuple[int, str, int]
SumQuestion = tuple[str, list[SumStep]]


def result(step: SumStep) -> int:
    left, operator, right = step
    return {"+": left + right, "-": left - right, "*": left * right}[operator]


def _factors(rng: Random) -> tuple[int, int]:
    """Draws the factors of a product, both at most 19 and one of them at most 11."""
    pair = rng.randint(2, 19), rng.randint(2, 11)
    return pair if rng.random() < 1 / 2 else (pair[1], pair[0])


def _left_over(rng: Random) -> SumQuestion:
    (a, b), holder, box = _factors(rng), rng.choice(PLACES), rng.choice(BOXES)
    c, thing = rng.randint(1, min(12, a * b - 1)), rng.choice(THINGS)
    text = (
        f"{holder} holds {a} {box} with {b} {thing} each. {c} {thing} are {rng.choice(LOST)}. "
        f"How many {thing} are left?"
    )
    return text, [(a, "*", b), (a * b, "-", c)]


def _usable(rng: Random) -> SumQuestion:
    (a, b), (whole, part, thing) = _factors(rng), rng.choice(GROUPS)
    c = rng.randint(1, min(12, a * b - 1))
    text = (
        f"{whole} has {a} {part} with {b} {thing} each, and {c} {thing} are broken. "
        f"How many {thing} can be used?"
    )
    return text, [(a, "*", b), (a * b, "-", c)]


def _doubled(rng: Random) -> SumQuestion:
    name, thing, verb = rng.choice(NAMES), rng.choice(THINGS), rng.choice(FINDS)
    a, b = rng.randint(2, 20), rng.randint(2, 12)
    she = rng.choice(("she", "he"))
    times, word = rng.choice(((2, "doubles"), (2, "doubles"), (3, "triples")))
    text = (
        f"{name} has {a} {thing}, {verb} {b} more and then {word} what {she} has. "
        f"How many {thing} does {she} have?"
    )
    return text, [(a, "+", b), (a + b, "*", times)]


def _bought(rng: Random) -> SumQuestion:
    name, thing, (a, b) = rng.choice(NAMES), rng.choice(THINGS), _factors(rng)
    c = rng.randint(1, 12)
    text = (
        f"{name} buys {a} {thing} for {b} euros each and a bag for {c} euros. "
        "How many euros is that?"
    )
    return text, [(a, "*", b), (a * b, "+", c)]


def _given(rng: Random) -> SumQuestion:
    name, thing = rng.choice(NAMES), rng.choice(THINGS)
    b, c = rng.randint(2, 12), rng.randint(2, 12)
    a = b + c + rng.randint(1, 40)
    text = (
        f"{name} has {a} {thing}, gives {b} to a friend and {c} to a neighbour. "
        f"How many {thing} are left?"
    )
    return text, [(a, "-", b), (a - b, "-", c)]


FAMILIES: Final[tuple[Callable[[Random], SumQuestion], ...]] = (
    _left_over,
    _usable,
    _doubled,
    _bought,
    _given,
)


def draw(rng: Random) -> Lesson:
    """Draws a question, the steps that answer it, and a number named at once, which is wrong."""
    text, steps = rng.choice(FAMILIES)(rng)
    answer = result(steps[-1])
    lines = [f"{a} {operator} {b} = {result((a, operator, b))}" for a, operator, b in steps]
    guess = answer + rng.choice((-1, 1)) * rng.randint(1, 20)
    if guess < 0:
        guess = answer + 1
    task = TASK if rng.random() < TASK_SHARE else rng.choice(OTHER_TASKS)
    return Lesson(
        messages=[user(f"{text} {task}")],
        right=assistant("\n".join([*lines, str(answer)])),
        sloppy=assistant(f"{GUESS}{guess}"),
        reference={"answer": answer},
    )


def draw_sums(rng: Random) -> list[tuple[str, str]]:
    """Draws single sums, each with its result: questions alone have too few to learn them."""
    found = []
    for _ in range(SUMS_OF_A_ROW):
        _, steps = rng.choice(FAMILIES)(rng)
        a, operator, b = step = rng.choice((steps[0], *steps))
        found.append((f"{a} {operator} {b} = ", str(result(step))))
    return found
