"""Names the command line of a child that runs one of our modules."""

import sys


def running_module(name: str, *arguments: str) -> tuple[str, ...]:
    """Returns the command line that runs a module in an interpreter of its own.

    `-P` keeps the working directory off the path of imports: it is a user's folder, whose
    `queue.py` or `secrets.py` would run in the child.
    """
    return (sys.executable, "-P", "-m", name, *arguments)
