"""Ids of traces and spans by W3C Trace Context, as functions of what they are about.

A rollout is a trace, and so is a job with its steps. Both planes and every claim of a job derive
the same ids, so a span can name its parent, and a call its span, before either has ended.
"""

import hashlib
import re
from typing import Final

_HEX_DIGITS: Final = re.compile(r"[0-9a-f]")
_TRACE_DIGITS: Final = 32
_SPAN_DIGITS: Final = 16


def trace_of(trace_id: str) -> str:
    """Returns the trace of a rollout's `trace_…` id, or of any other text."""
    digits = "".join(_HEX_DIGITS.findall(trace_id.removeprefix("trace_")))
    if len(digits) == _TRACE_DIGITS:
        return digits
    return hashlib.sha256(trace_id.encode()).hexdigest()[:_TRACE_DIGITS]


def trace_of_job(job_id: str) -> str:
    return hashlib.sha256(f"job/{job_id}".encode()).hexdigest()[:_TRACE_DIGITS]


def span_of(*position: str | int) -> str:
    """Returns the span of a position in its trace, such as a call's id and its attempt."""
    text = "/".join(str(part) for part in position)
    return hashlib.sha256(text.encode()).hexdigest()[:_SPAN_DIGITS]
