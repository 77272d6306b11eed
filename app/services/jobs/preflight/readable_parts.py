"""Parses the valid parts of a call; a part that cannot be parsed stays as sent.

Must not know how a reference is resolved.
"""

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from app.domain.documents.walk import value_of
from app.domain.errors import InvalidRequest
from app.domain.jobs.creation.requests import JobRequest
from app.domain.registry.curricula import CURRICULUM_SPLITS
from app.domain.registry.references import (
    RegisteredReference,
    SentCurriculum,
    read_curriculum,
)
from app.domain.tools.served_tools import by_server, label_clashes
from app.domain.tools.tools import LABEL


def reference_or(sent: Any, read: Callable[[Any], RegisteredReference | None]) -> Any:
    """Returns a part as a reference if it is a valid one; definitions and faulty parts are
    unchanged.
    """
    try:
        return read(sent) or sent
    except ValidationError:
        return sent


def with_servers(inner: dict[str, Any], tools: list[Any], root: str) -> dict[str, Any]:
    """Returns the JSON of a method with these tools, whose parameter is `root`; tools of MCP
    servers become entries of `mcp_servers`. Raises `InvalidRequest` for servers that share a label.
    """
    own, served = by_server(tools)
    if not served:
        return {**inner, "tools": tools}
    sent = inner.get("mcp_servers")
    before = sent if isinstance(sent, list) else []
    labels = [value_of(server, LABEL) for server in before]
    for fault in label_clashes(tools, root, beside=labels):
        raise fault
    return {**inner, "tools": own, "mcp_servers": [*before, *served]}


def missing_file(request: JobRequest | None, resolved: dict[str, Any]) -> InvalidRequest | None:
    """Returns the fault of a curriculum that lacks a file which the method needs."""
    if request is None or request.curriculum is None:
        return None
    training, validation = (resolved.get(f"{split}_file") for split in CURRICULUM_SPLITS)
    try:
        request.required_files(training, validation)
    except InvalidRequest as error:
        return error
    return None


def readable_source(sent: Any) -> SentCurriculum | None:
    if sent is None:
        return None
    try:
        return read_curriculum(sent)
    except ValidationError:
        return None
