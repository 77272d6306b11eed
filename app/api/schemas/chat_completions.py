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
    """A call of a model. Further fields are those of the hosted API; one that the service cannot
    honour is refused by name.
    """

    model: Annotated[Any, WithJsonSchema(_MODEL)]
    """Name of a base model, of a tuned model or of a checkpoint's."""
    messages: Annotated[Any, WithJsonSchema(_MESSAGES)]
    """The conversation so far."""
    stream: Annotated[Any, WithJsonSchema(_STREAM)] = None
    """True sends the answer in chunks, as server-sent events."""
