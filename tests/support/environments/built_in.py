"""Reads built-in environments, which provide the tasks of a job."""

from typing import Any

from app.tools.environments import BuiltIn, built_in, read_environment


def read_built_in(sent: Any) -> BuiltIn:
    """Reads an environment that provides tasks."""
    environment = built_in(read_environment(sent))
    assert environment is not None, "the tasks do not come from this environment"
    return environment
