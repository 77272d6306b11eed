"""Measures the time and cost between two commits of a run.

A commit takes a reading and, once it is durable, starts the next one. The reading of a killed
worker is lost with its work; the next claim repeats and measures the work again. Must not know how
a step was trained.
"""

import time
from typing import Final

from app.domain.jobs.usage import Usage
from app.settings.runs import PricingSettings

_HOUR_S: Final = 3600.0


class Meter:
    def __init__(self, pricing: PricingSettings) -> None:
        self._pricing = pricing
        self._since = time.monotonic()
        self.accelerators = 0
        """GPUs of the trainer; set once it is built."""

    def start(self) -> None:
        """Starts the clock: the run begins, or a commit is durable."""
        self._since = time.monotonic()

    def reading(self) -> Usage:
        """Returns time and cost since the last start."""
        elapsed_s = time.monotonic() - self._since
        price = self._pricing.per_hour
        return Usage(
            training_time_s=elapsed_s,
            gpu_seconds=elapsed_s * self.accelerators,
            estimated_cost=None if price is None else elapsed_s / _HOUR_S * price,
            currency=None if price is None else self._pricing.currency,
        )
