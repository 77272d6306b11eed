"""A request as a command that a person can run. Pure."""

import shlex
from collections.abc import Mapping

from app.dashboard.rendering.formats import LONG_CUT_AT


def curl(url: str, headers: Mapping[str, str], body: str) -> str:
    """Returns the command, or an empty text for a body that is too long for a page. Every part is
    quoted, so that a shell treats texts of models and tools as text.
    """
    if len(body) > LONG_CUT_AT:
        return ""
    lines = [f"curl {shlex.quote(url)}"]
    lines += [f"  -H {shlex.quote(f'{name}: {value}')}" for name, value in headers.items()]
    lines.append(f"  --data-raw {shlex.quote(body)}")
    return " \\\n".join(lines)
