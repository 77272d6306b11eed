from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.chat_completion_request_messages_item import ChatCompletionRequestMessagesItem





T = TypeVar("T", bound="ChatCompletionRequest")



@_attrs_define
class ChatCompletionRequest:
    """ A call of a model. Further fields are those of the hosted API; one that the service cannot
    honour is refused by name.

        Attributes:
            model (str): Name of a base model, of a tuned model or of a checkpoint's.
            messages (list[ChatCompletionRequestMessagesItem]): The conversation so far.
            stream (bool | None | Unset): True sends the answer in chunks, as server-sent events.
     """

    model: str
    messages: list[ChatCompletionRequestMessagesItem]
    stream: bool | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.chat_completion_request_messages_item import ChatCompletionRequestMessagesItem # noqa: PLC0415
        model = self.model

        messages = []
        for messages_item_data in self.messages:
            messages_item = messages_item_data.to_dict()
            messages.append(messages_item)



        stream: bool | None | Unset
        if isinstance(self.stream, Unset):
            stream = UNSET
        else:
            stream = self.stream


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "model": model,
            "messages": messages,
        })
        if stream is not UNSET:
            field_dict["stream"] = stream

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chat_completion_request_messages_item import ChatCompletionRequestMessagesItem # noqa: PLC0415
        d = dict(src_dict)
        model = d.pop("model")

        messages = []
        _messages = d.pop("messages")
        for messages_item_data in (_messages):
            messages_item = ChatCompletionRequestMessagesItem.from_dict(messages_item_data)



            messages.append(messages_item)


        def _parse_stream(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        stream = _parse_stream(d.pop("stream", UNSET))


        chat_completion_request = cls(
            model=model,
            messages=messages,
            stream=stream,
        )


        chat_completion_request.additional_properties = d
        return chat_completion_request

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
