"""Watches the thread of the event loop for functions of the service that get a long text."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import CO_COROUTINE
from types import FrameType
from typing import Any, Final

LONG: Final = 100_000
"""Number of characters or bytes from which a text is long."""
_READERS: Final = ("app.graders", "app.rollouts", "json")


@contextmanager
def watched_loop() -> Iterator[set[str]]:
    """Yields the names of the functions of graders, of rollouts and of `json` that this thread
    calls with a long text, or with an object that has one, on behalf of the service.
    """
    found = set[str]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        module = str(frame.f_globals.get("__name__"))
        if event != "call" or not module.startswith(_READERS) or not _of_the_service(frame):
            return
        code = frame.f_code
        arguments = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]
        # A dataclass, whose methods have no file, only keeps what it gets, and a coroutine passes
        # it on: the functions that it calls are counted.
        keeps = code.co_filename == "<string>" or code.co_flags & CO_COROUTINE
        if not keeps and any(map(_is_long, arguments)):
            found.add(f"{module}.{code.co_name}")

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)


def _of_the_service(frame: FrameType | None) -> bool:
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("json"):
        frame = frame.f_back
    return frame is not None and str(frame.f_globals.get("__name__")).startswith("app.")


def _is_long(value: Any) -> bool:
    match value:
        case str() | bytes():
            return len(value) >= LONG
        case dict():
            return any(map(_is_long, value.values()))
        case list() | tuple():
            return any(map(_is_long, value))
        case _:
            return False
