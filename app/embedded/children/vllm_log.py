"""Finds the reason for a failed start in vLLM's log.

vLLM starts nested processes, each of which ends with its own error: the log of a failed start ends
with "See root cause above", a hundred lines after that cause.
"""

import re
from typing import Final

_PREFIX: Final = re.compile(r"\((?:APIServer|EngineCore|Worker)\w* pid=\d+\) (?:ERROR [^\]]*\] )?")
_ERROR: Final = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception): \S.*")
_REPEATED: Final = "root cause"


def root_cause(log: str) -> str | None:
    """Returns the last error that does not refer to another one, with its continuation line; `None`
    if the log has none.
    """
    lines = [_PREFIX.sub("", line, count=1) for line in log.splitlines()]
    for index in range(len(lines) - 1, -1, -1):
        if _ERROR.match(lines[index]) and _REPEATED not in lines[index]:
            more = lines[index + 1 : index + 2]
            return " ".join(line.strip() for line in [lines[index], *filter(_continues, more)])
    return None


def _continues(line: str) -> bool:
    """Returns whether a line continues an error: pydantic's errors have their reason in the second
    line.
    """
    return line.startswith("  ")
