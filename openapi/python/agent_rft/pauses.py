"""Types of the functions that a client sleeps with."""

from collections.abc import Awaitable, Callable
from typing import Any

Pause = Callable[[float], None]
AsyncPause = Callable[[float], Awaitable[Any]]
