"""The reply of a student, as text and whole."""

from collections.abc import Mapping

from typing_extensions import override

from agent_rft.presentation import Presentation
from agent_rft_client.models.chat_completion import ChatCompletion
from agent_rft_client.models.chat_message import ChatMessage


class Reply(Presentation):
    """Shows the answer of a chat.

    `completion` is the whole reply, `model` the model that answered, `stored` whether feedback can
    name it.
    """

    def __init__(self, completion: ChatCompletion, *, stored: bool) -> None:
        self.completion, self.stored = completion, stored
        self.id, self.model = completion.id, completion.model

    @property
    def message(self) -> ChatMessage:
        return self.completion.choices[0].message

    @property
    def text(self) -> str:
        """Text of the answer; empty when it calls tools alone."""
        return self.message.content or ""

    @override
    def facts(self) -> Mapping[str, object]:
        return {"text": self.text, "model": self.model, "id": self.id, "stored": self.stored}
