"""Chat completions on the wire. Source: the hosted API's `createChatCompletion`.

The types here are for the specification. `app.domain.chat` checks the values, because the hosted
API has a code of its own for each kind of fault.
"""

from typing import Annotated, Any

from pydantic import WithJsonSchema

from app.api.schemas.common import WireModel
from app.domain.chat.conversation import MAX_MESSAGES

_MODEL = {"type": "string", "minLength": 1, "maxLength": 256}
_MESSAGES = {
    "type": "array",
    "items": {"type": "object", "additionalProperties": True},
    "minItems": 1,
    "maxItems": MAX_MESSAGES,
}
_STREAM = {"anyOf": [{"type": "boolean"}, {"type": "null"}]}


class ChatCompletionRequest(WireModel):
    model: Annotated[Any, WithJsonSchema(_MODEL)]
    messages: Annotated[Any, WithJsonSchema(_MESSAGES)]
    stream: Annotated[Any, WithJsonSchema(_STREAM)] = None
