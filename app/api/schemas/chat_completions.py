"""Chat completions on the wire. Source: the hosted API's `createChatCompletion`.

The engine checks the other fields; this model checks only those that the service reads.
"""

from typing import Annotated

from pydantic import Field, StringConstraints

from app.api.schemas.common import Json, WireModel


class ChatCompletionRequest(WireModel):
    model: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    messages: Annotated[list[Json], Field(min_length=1, max_length=2048)]
    stream: bool | None = None
