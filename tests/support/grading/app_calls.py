"""Counts the calls of the service's functions."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def counted_calls() -> Iterator[Counter[str]]:
    """Yields the number of calls, by the name of the function, on this thread."""
    calls = Counter[str]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and str(frame.f_globals.get("__name__")).startswith("app."):
            calls[frame.f_code.co_name] += 1

    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(None)
