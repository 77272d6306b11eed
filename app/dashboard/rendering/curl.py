"""A request as a command that a person can run. Pure."""

import shlex
from collections.abc import Mapping
from typing import Final

LONGEST: Final = 20_000
"""Characters of a body that a page repeats as a command."""


def curl(url: str, headers: Mapping[str, str], body: str) -> str:
    """Returns the command, or an empty text for a body that is too long for a page. Every part is
    quoted, so that a shell treats texts of models and tools as text.
    """
    if len(body) > LONGEST:
        return ""
    lines = [f"curl {shlex.quote(url)}"]
    lines += [f"  -H {shlex.quote(f'{name}: {value}')}" for name, value in headers.items()]
    lines.append(f"  --data-raw {shlex.quote(body)}")
    return " \\\n".join(lines)
