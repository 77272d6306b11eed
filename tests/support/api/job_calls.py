"""Builds create calls of jobs that differ from a valid one in a single place."""

import copy
from typing import Any

JOBS = "/v1/fine_tuning/jobs"


def changed(body: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """Returns the call with a value put below `method.reinforcement`."""
    copied = copy.deepcopy(body)
    holder: Any = copied["method"]["reinforcement"]
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = value
    return copied
