"""Long prompts, two and two of which are barely near-duplicates."""

from random import Random

_WORDS = 2_000
_SHARED = 1_470


def long_pairs(count: int) -> list[str]:
    """Returns twice as many prompts. Both of a pair share 1,469 of their 2,529 pieces, 0.58; a
    sketch of few pieces would take some pairs for different prompts.
    """
    random = Random(count)
    return [
        " ".join([*shared, *_words(random, _WORDS - _SHARED)])
        for shared in (_words(random, _SHARED) for _ in range(count))
        for _ in range(2)
    ]


def _words(random: Random, count: int) -> list[str]:
    return [f"w{random.randrange(10**9)}" for _ in range(count)]
