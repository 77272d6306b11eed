"""Holds the clock of the rate limits still, so that a test's requests fall into one window."""

import time
from types import SimpleNamespace

import pytest

from app.http import rate_limits
from tests.support.patience import PATIENCE_S

_RESET_S = 30.0


def hold_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stops the clock in the middle of a minute and gives the broker all the time it needs."""
    now = time.time()
    middle = now - now % rate_limits.WINDOW_S + _RESET_S
    still = SimpleNamespace(time=lambda: middle, monotonic=time.monotonic)
    monkeypatch.setattr(rate_limits, "time", still)
    monkeypatch.setattr(rate_limits, "_TIMEOUT_S", PATIENCE_S)
