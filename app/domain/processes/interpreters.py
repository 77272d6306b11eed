"""Names the command lines of children that are Python interpreters."""

import sys


def interpreter(*arguments: str) -> tuple[str, ...]:
    """Returns the command line of an interpreter of its own, for all children of both planes.

    `-P` keeps the working directory off the path of imports: it is a user's folder, whose
    `queue.py` or `secrets.py` would run in the child.
    """
    return (sys.executable, "-P", *arguments)


def running_module(name: str, *arguments: str) -> tuple[str, ...]:
    """Returns the command line that runs a module in an interpreter of its own."""
    return interpreter("-m", name, *arguments)
