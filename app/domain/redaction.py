"""Customer headers and where they may stand: taken out of a method before it is stored or echoed.

Owns the split of a job's `method` into a redacted copy and its headers, and the way back. Pure.
Must not know how headers are sealed or where they are kept.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

REDACTED: Final = "[redacted]"

Headers = dict[str, str]


def redact(method: dict[str, Any]) -> dict[str, Any]:
    """A copy of `{"type": …, "reinforcement": {…}}` whose header values read `[redacted]`.

    Header names stay, so that a customer sees what is set.
    """
    copy = deepcopy(method)
    for _, owner in _owners(copy):
        owner["headers"] = dict.fromkeys(owner["headers"], REDACTED)
    return copy


def collect_headers(method: dict[str, Any]) -> dict[str, Headers]:
    """`{"tool:<name>": headers, "grader:<name>": headers}` of those that have any."""
    return {label: dict(owner["headers"]) for label, owner in _owners(method)}


def restore_headers(method: dict[str, Any], headers: dict[str, Headers]) -> dict[str, Any]:
    """The inverse of `redact`. Raises `KeyError` when the headers of an owner are not there."""
    copy = deepcopy(method)
    for label, owner in _owners(copy):
        owner["headers"] = dict(headers[label])
    return copy


def _owners(method: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tools and grader that carry headers, each with its label."""
    reinforcement = method.get("reinforcement") or {}
    labelled = [(f"tool:{tool['name']}", tool) for tool in reinforcement.get("tools") or ()]
    grader = reinforcement.get("grader")
    if grader:
        labelled.append((f"grader:{grader.get('name', grader.get('type'))}", grader))
    return ((label, owner) for label, owner in labelled if owner.get("headers"))
