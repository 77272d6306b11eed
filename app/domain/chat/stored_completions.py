"""A chat completion that its caller asked to store, and the limits of what goes with it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.domain.documents.json_object import Json
from app.domain.errors import refused_value
from app.domain.ids import new_id

MOST_PAIRS: Final = 16
LONGEST_KEY: Final = 64
LONGEST_VALUE: Final = 512
LONGEST_END_USER: Final = 256


@dataclass(frozen=True, slots=True)
class StoredCompletion:
    id: str
    model: str
    end_user: str | None
    """The caller's id of the person who asked: `safety_identifier`, else `user`."""
    metadata: dict[str, str] | None
    messages: list[Json]
    tools: list[Json]
    reply: Json
    """The whole `chat.completion` object, as it was answered."""


def new_completion_id() -> str:
    """Returns the id of a completion that is stored; an engine may repeat its own."""
    return new_id("chatcmpl-")


def asks_to_store(body: Mapping[str, Any]) -> bool:
    return body.get("store") is True


def end_user_of(body: Mapping[str, Any]) -> str | None:
    return body.get("safety_identifier") or body.get("user")


def check_stored(body: Mapping[str, Any]) -> None:
    """Raises `InvalidRequest` for metadata or an end user that no stored completion may have. The
    body is checked by `app.domain.chat.parameters` already.
    """
    check_pairs(body.get("metadata") or {})
    for name in ("safety_identifier", "user"):
        if len(body.get(name) or "") > LONGEST_END_USER:
            raise refused_value(name, f"it must have at most {LONGEST_END_USER} characters")


def check_pairs(metadata: Mapping[str, str]) -> None:
    """Raises `InvalidRequest` for more or longer metadata than the hosted API takes."""
    if len(metadata) > MOST_PAIRS:
        raise refused_value("metadata", f"it must have at most {MOST_PAIRS} pairs")
    for key, value in metadata.items():
        if len(key) > LONGEST_KEY:
            raise refused_value("metadata", f"a key must have at most {LONGEST_KEY} characters")
        if len(value) > LONGEST_VALUE:
            name = f"metadata.{key}"
            raise refused_value(name, f"it must have at most {LONGEST_VALUE} characters")


def completion_of(body: Mapping[str, Any], reply: Json) -> StoredCompletion:
    """Returns what is stored of a checked call and its whole reply."""
    return StoredCompletion(
        id=reply["id"],
        model=reply["model"],
        end_user=end_user_of(body),
        metadata=body.get("metadata") or None,
        messages=body["messages"],
        tools=body.get("tools") or [],
        reply=reply,
    )
