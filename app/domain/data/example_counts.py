"""Limits of the examples in a file of a job. Source: the hosted API."""

from typing import Final

MIN_EXAMPLES: Final = 10
"""Fewest examples of a file."""
MAX_TRAIN_EXAMPLES: Final = 100_000
MAX_VALID_EXAMPLES: Final = 1_000
