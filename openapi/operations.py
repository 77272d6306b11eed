"""Finds the operations of a specification by method and path, without names or version prefix."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from openapi.shapes import Reader, Schema

_METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Operation:
    key: str
    """`POST /fine_tuning/jobs/{}/cancel`"""
    id: str
    tags: tuple[str, ...]
    query: Mapping[str, tuple[bool, Schema]]
    """Query parameters and headers: whether required, and their schema."""
    body: Mapping[str, Schema]
    """By media type."""
    body_required: bool
    replies: Mapping[str, Mapping[str, Schema]]
    """Successful statuses, then media types."""


def operations(document: Mapping[str, Any]) -> dict[str, Operation]:
    return {operation.key: operation for operation in _operations(document)}


def _operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    reader = Reader(document)
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if method in methods:
                bare = re.sub(r"{[^}]*}", "{}", path.removeprefix("/v1"))
                yield _operation(reader, f"{method.upper()} {bare}", methods[method])


def _operation(reader: Reader, key: str, node: Mapping[str, Any]) -> Operation:
    parameters = [reader.resolved(parameter) for parameter in node.get("parameters", ())]
    body = reader.resolved(node.get("requestBody", {}))
    return Operation(
        key=key,
        id=node.get("operationId", key),
        tags=tuple(node.get("tags", ())),
        query={
            parameter["name"]: (parameter.get("required", False), parameter.get("schema", {}))
            for parameter in parameters
            if parameter["in"] == "query"
        },
        body=_content(body),
        body_required=body.get("required", False),
        replies={
            status: _content(reader.resolved(reply))
            for status, reply in node["responses"].items()
            if status.startswith("2")
        },
    )


def _content(node: Mapping[str, Any]) -> dict[str, Schema]:
    return {kind: media.get("schema", {}) for kind, media in node.get("content", {}).items()}
