"""Lessons of the recipe `code_assistant`: one small Python function in one code block.

The sloppy habits write a draft with a wrong operator or constant, or words instead of code. Must
not run code, nor know a recipe's tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Final

from labs.base_models.lessons.lesson import Lesson, assistant, user
from labs.base_models.vocabulary import strange_word


@dataclass(frozen=True, slots=True)
class LessonFunction:
    """One function; `{n}` and `{c}` stand for a drawn number and a drawn letter."""

    names: tuple[str, ...]
    description: str
    body: str
    wrong: tuple[str, ...]
    """Bodies with a wrong operator or constant."""
    examples: tuple[tuple[Any, ...], ...]
    """Arguments of calls, of which at least one shows a wrong body."""

    @property
    def parameters(self) -> str:
        return ", ".join(("x", "y")[: len(self.examples[0])])

    def drawn(self, rng: Random) -> LessonFunction:
        """Returns the function with numbers and letters in place."""
        n, c = rng.randint(2, 9), rng.choice("abcdeiorst")
        values = {"n": str(n), "m": str(n + 1), "c": c, "d": "z"}

        def put(text: str) -> str:
            for key, value in values.items():
                text = text.replace(f"{{{key}}}", value)
            return text

        return LessonFunction(
            tuple(map(put, self.names)),
            put(self.description),
            put(self.body),
            tuple(map(put, self.wrong)),
            self.examples,
        )


def _f(
    names: str, description: str, body: str, wrong: str, examples: tuple[tuple[Any, ...], ...]
) -> LessonFunction:
    return LessonFunction(
        tuple(names.split()), description, body, tuple(wrong.split(" | ")), examples
    )


_NUMBERS: Final = ((2,), (-3,), (0,), (25,))
_COUNTS: Final = ((0,), (3,), (5,), (10,), (47,))
_PAIRS: Final = ((1, 2), (5, -3), (4, 4))
_LISTS: Final = (([3, 1, 2],), ([5, 4, 0, 4, 12],), ([7, 7, -2, 0],))
_TEXTS: Final = (("cabaret",), ("sister doo",), ("xz",))
FUNCTIONS: Final = (
    _f("double twice", "twice the number x", "x * 2", "x + 2 | x * 3", _NUMBERS),
    _f("square squared", "the square of x", "x * x", "x * 2 | x + x", _NUMBERS),
    _f("half halved", "x divided by 2, without the rest", "x // 2", "x / 2 | x // 3", _COUNTS),
    _f("is_even even", "whether x is even", "x % 2 == 0", "x % 2 == 1 | x % 2", _NUMBERS),
    _f("is_odd odd", "whether x is odd", "x % 2 == 1", "x % 2 == 0 | x // 2", _NUMBERS),
    _f("absolute size", "x without its sign", "abs(x)", "-x | x * x", _NUMBERS),
    _f("last final", "the last item of the list x", "x[-1]", "x[0] | x[1]", _LISTS),
    _f("first start", "the first item of the list x", "x[0]", "x[-1] | x[1]", _LISTS),
    _f("total list_sum", "the sum of the list x", "sum(x)", "len(x) | max(x)", _LISTS),
    _f("count size_of", "the number of items in the list x", "len(x)", "sum(x) | x[0]", _LISTS),
    _f("largest top", "the largest number of the list x", "max(x)", "min(x) | sum(x)", _LISTS),
    _f("smallest low", "the smallest number of the list x", "min(x)", "max(x) | len(x)", _LISTS),
    _f(
        "longest longest_text",
        "the length of the longest text in the list x, 0 without any",
        "max((len(t) for t in x), default=0)",
        "min((len(t) for t in x), default=0) | len(x)",
        ((["a", "bcde", "ef"],), ([],)),
    ),
    _f("reverse backwards", "the text x backwards", "x[::-1]", "x[::1] | x[1:]", _TEXTS),
    _f("upper loud", "the text x in capital letters", "x.upper()", "x.lower() | x.title()", _TEXTS),
    _f(
        "lower quiet",
        "the text x in small letters",
        "x.lower()",
        "x.upper() | x.title()",
        (("Ab",), ("CD e",)),
    ),
    _f("length letters", "the length of the text x", "len(x)", "len(x) - 1 | len(x) + 1", _TEXTS),
    _f("add plus", "the sum of x and y", "x + y", "x - y | x * y", _PAIRS),
    _f("subtract minus", "x less y", "x - y", "x + y | y - x", _PAIRS),
    _f("multiply product", "the product of x and y", "x * y", "x + y | x - y", _PAIRS),
    _f("larger bigger", "the larger one of x and y", "max(x, y)", "min(x, y) | x + y", _PAIRS),
    _f("smaller lesser", "the smaller one of x and y", "min(x, y)", "max(x, y) | x - y", _PAIRS),
    _f("difference", "the distance between x and y", "abs(x - y)", "x + y | y - x", _PAIRS),
    _f("power", "x to the power of y", "x ** y", "x * y | x + y", ((2, 3), (5, 0), (1, 9))),
    _f(
        "without_zeros nonzero",
        "the list x without its zeros",
        "[n for n in x if n != 0]",
        "[n for n in x if n == 0] | [n for n in x if n > 1]",
        (*_LISTS[1:], ([1, 0],)),
    ),
    _f(
        "initials first_letters",
        "the first letters of the words in the text x, joined",
        '"".join(w[0] for w in x.split())',
        '"".join(w[-1] for w in x.split()) | " ".join(w[0] for w in x.split())',
        _TEXTS,
    ),
    _f(
        "word_count words",
        "the number of words in the text x",
        "len(x.split())",
        "len(x) | len(x.split()) - 1",
        _TEXTS,
    ),
    _f(
        "clip bounded",
        "x, but at least 0 and at most 10",
        "min(max(x, 0), 10)",
        "max(x, 10)",
        _NUMBERS,
    ),
    _f(
        "unique different",
        "the number of different items in the list x",
        "len(set(x))",
        "len(x) | sum(x)",
        _LISTS[1:],
    ),
    _f(
        "repeat times",
        "the text x, y times in a row",
        "x * y",
        "x + y | x * (y + 1)",
        (("ab", 2), ("a", 0)),
    ),
    _f(
        "digits digit_sum",
        "the sum of the decimal digits of the whole number x, which is not negative",
        "sum(int(d) for d in str(x))",
        "len(str(x)) | max(int(d) for d in str(x))",
        _COUNTS,
    ),
    _f(
        "sorted_words in_order",
        "the words of the text x in alphabetical order, joined by blanks",
        '" ".join(sorted(x.split()))',
        '"".join(sorted(x.split())) | " ".join(x)',
        (("b a",), ("c b a",)),
    ),
    _f(
        "mean average",
        "the mean of the numbers in the list x, 0 without any",
        "sum(x) / len(x) if x else 0",
        "sum(x) if x else 0 | max(x) if x else 0",
        (*_LISTS, ([],)),
    ),
    _f(
        "is_palindrome same",
        "whether the text x is the same backwards",
        "x == x[::-1]",
        "x != x[::-1] | x[::-1]",
        (("aba",), ("ab",)),
    ),
    _f(
        "factorial faculty",
        "the product of the numbers from 1 to x, 1 for 0",
        "1 if x == 0 else x * {name}(x - 1)",
        "0 if x == 0 else x * {name}(x - 1) | 1 if x == 0 else x + {name}(x - 1)",
        ((0,), (3,), (5,)),
    ),
    _f(
        "vowels vowel_count",
        "how many of the letters a, e, i, o and u are in the text x",
        'sum(c in "aeiou" for c in x)',
        'sum(c in "a" for c in x) | len(x)',
        _TEXTS,
    ),
    _f(
        "flatten joined",
        "the lists in the list x, joined into one",
        "[i for p in x for i in p]",
        "[p for p in x] | x[0]",
        (([[1], [2, 3]],), ([[], [4]],)),
    ),
    _f(
        "second second_smallest",
        "the second smallest number of the list x, which has at least two",
        "sorted(x)[1]",
        "sorted(x)[0] | x[1]",
        (([3, 1, 2],), ([5, 4],), ([2, 3, 9],)),
    ),
    _f(
        "ordered sort_up",
        "the list x in rising order",
        "sorted(x)",
        "sorted(x)[::-1] | x",
        _LISTS,
    ),
    _f("plus_{n} add_{n}", "x plus {n}", "x + {n}", "x - {n} | x + {m}", _NUMBERS),
    _f("minus_{n} less_{n}", "x minus {n}", "x - {n}", "x + {n} | x - {m}", _NUMBERS),
    _f("times_{n} by_{n}", "{n} times x", "x * {n}", "x + {n} | x * {m}", _NUMBERS),
    _f("rest_{n}", "the rest of x divided by {n}", "x % {n}", "x // {n} | x % {m}", _COUNTS),
    _f(
        "divides_{n} is_multiple_of_{n}",
        "whether x is a multiple of {n}",
        "x % {n} == 0",
        "x % {n} == 1 | x // {n} == 0",
        _COUNTS,
    ),
    _f(
        "at_most_{n} cap_{n}",
        "x, but at most {n}",
        "min(x, {n})",
        "max(x, {n}) | x + {n}",
        _NUMBERS,
    ),
    _f(
        "at_least_{n} floor_{n}",
        "x, but at least {n}",
        "max(x, {n})",
        "min(x, {n}) | x + {n}",
        _NUMBERS,
    ),
    _f(
        "count_{c} how_many_{c}",
        "how often the letter {c} occurs in the text x",
        'x.count("{c}")',
        'len(x) - 1 | x.count("{d}") + 3',
        _TEXTS,
    ),
    _f(
        "has_{c} contains_{c}",
        "whether the letter {c} is in the text x",
        '"{c}" in x',
        '"{c}" not in x | "{d}" in x + "z"',
        (("abcdeiorst",), ("xz",)),
    ),
    _f(
        "without_{c} drop_{c}",
        "the text x without the letter {c}",
        'x.replace("{c}", "")',
        'x.replace("", "{c}") | x + "{c}"',
        (("abcdeiorst",), ("xz",)),
    ),
    _f(
        "above_{n} over_{n}",
        "the numbers of the list x that are above {n}",
        "[n for n in x if n > {n}]",
        "[n for n in x if n < {n}] | [n for n in x if n == {n}]",
        (([12, 1, 15],), ([0, 20],)),
    ),
    _f(
        "below_{n} under_{n}",
        "the numbers of the list x that are below {n}",
        "[n for n in x if n < {n}]",
        "[n for n in x if n > {n}] | [n for n in x if n == {n}]",
        (([12, 1, 15],), ([0, 20],)),
    ),
)


def draw_function(rng: Random) -> LessonFunction:
    return rng.choice(FUNCTIONS).drawn(rng)


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
