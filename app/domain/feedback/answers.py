"""Checks an answer that jobs will learn from feedback: a correction, or the better of two texts.
Pure. A rejected answer may be wrong in any way.
"""

from collections.abc import Sequence

from app.domain.chat.messages import check_message
from app.domain.documents.json_object import Json
from app.domain.errors import refused_value


def check_better(param: str, message: Json) -> None:
    """Raises `InvalidRequest` for a message that no chat takes, and for a blank one."""
    check_message(message, param)
    if not message.get("tool_calls") and not _text(message).strip():
        raise refused_value(param, "its text is blank: a job would learn an empty answer")


def check_offered(param: str, message: Json, tools: Sequence[Json]) -> None:
    """Raises `InvalidRequest` for a call of a function that the prompt did not offer."""
    offered = [tool.get("function", {}).get("name") for tool in tools]
    for position, call in enumerate(message.get("tool_calls") or ()):
        if call["function"]["name"] not in offered:
            shown = ", ".join(f"'{name}'" for name in offered[:20]) or "none"
            raise refused_value(
                f"{param}.tool_calls[{position}].function.name",
                f"the prompt does not offer this function; it offers {shown}",
            )


def _text(message: Json) -> str:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    return "".join(part.get("text") or part.get("refusal") or "" for part in parts)
