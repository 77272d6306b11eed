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


def redact_grader(grader: dict[str, Any]) -> dict[str, Any]:
    """A copy of one grader, its children included, whose header values read `[redacted]`."""
    redacted: dict[str, Any] = redact({"reinforcement": {"grader": grader}})["reinforcement"]
    copy: dict[str, Any] = redacted["grader"]
    return copy


def collect_headers(method: dict[str, Any]) -> dict[str, Headers]:
    """`{"tool:<name>": …, "grader:<name>": …, "grader:<name>/<child>": …}` of those with any."""
    return {label: dict(owner["headers"]) for label, owner in _owners(method)}


def restore_headers(method: dict[str, Any], headers: dict[str, Headers]) -> dict[str, Any]:
    """The inverse of `redact`. Raises `KeyError` when the headers of an owner are not there."""
    copy = deepcopy(method)
    for label, owner in _owners(copy):
        owner["headers"] = dict(headers[label])
    return copy


def _owners(method: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tools and graders that carry headers, each with a label of its own.

    A tool's name is unique in its job, a grader's only among its siblings: a child's label holds
    its parent's, and there is one parent.
    """
    reinforcement = method.get("reinforcement") or {}
    labelled = [(f"tool:{tool['name']}", tool) for tool in reinforcement.get("tools") or ()]
    labelled += _graders(reinforcement.get("grader"))
    return ((label, owner) for label, owner in labelled if _has_headers(owner))


def _has_headers(owner: dict[str, Any]) -> bool:
    """Of keys that a client made up, any value may come."""
    headers = owner.get("headers")
    return isinstance(headers, dict) and bool(headers)


def _graders(grader: dict[str, Any] | None) -> list[tuple[str, dict[str, Any]]]:
    if not grader:
        return []
    label = f"grader:{grader.get('name', grader.get('type'))}"
    sent = grader.get("graders")
    children = sent.items() if isinstance(sent, dict) else ()
    return [
        (label, grader),
        *((f"{label}/{name}", child) for name, child in children if isinstance(child, dict)),
    ]
