"""The numbers that are written as words. Pure."""

from typing import Final

NUMBER_WORDS: Final = {
    word: float(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
} | {"hundred": 100.0}
