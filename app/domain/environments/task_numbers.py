"""Draws task numbers in a seeded order without repeats, so that two splits are disjoint.

A permutation of all problems is computed index by index (a Feistel network, repeated until the
result is in range), so a task needs neither a list of all problems nor earlier tasks.
"""

import hashlib
from typing import Final

_ROUNDS: Final = 4


def task_number(index: int, *, of: int, seed: int) -> int:
    """Returns the number of the problem at an index of the seeded order of `of` problems."""
    if not 0 <= index < of:
        raise ValueError(f"there is no index {index} among {of} problems")
    half_bits = max(1, ((of - 1).bit_length() + 1) // 2)
    number = index
    while True:
        number = _shuffled(number, half_bits=half_bits, seed=seed)
        if number < of:
            return number


def task_digits(number: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the mixed-radix digits of a problem's number, each below its size: the choices that
    define the problem.
    """
    digits = []
    for size in sizes:
        number, digit = divmod(number, size)
        digits.append(digit)
    return tuple(digits)


def _shuffled(number: int, *, half_bits: int, seed: int) -> int:
    mask = (1 << half_bits) - 1
    left, right = number >> half_bits, number & mask
    for turn in range(_ROUNDS):
        left, right = right, left ^ (_mixed(right, turn, seed) & mask)
    return left << half_bits | right


def _mixed(value: int, turn: int, seed: int) -> int:
    text = f"{seed}:{turn}:{value}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=32).digest())
