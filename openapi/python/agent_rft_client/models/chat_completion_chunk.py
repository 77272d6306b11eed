from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.chat_chunk_choice import ChatChunkChoice
  from ..models.chat_usage import ChatUsage





T = TypeVar("T", bound="ChatCompletionChunk")



@_attrs_define
class ChatCompletionChunk:
    """ A part of a streamed answer, the data of one server-sent event.

        Attributes:
            id (str): Id of the call, the same in all of its chunks.
            object_ (Literal['chat.completion.chunk']): Type of the object; each type has one constant value.
            created (int): Unix seconds, the same in all chunks.
            model (str): Full name of the model that answered.
            choices (list[ChatChunkChoice]): The addition; empty in the chunk with the usage.
            usage (ChatUsage | None | Unset): Tokens of the call, in a last chunk of its own with
                `stream_options.include_usage`.
     """

    id: str
    object_: Literal['chat.completion.chunk']
    created: int
    model: str
    choices: list[ChatChunkChoice]
    usage: ChatUsage | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.chat_chunk_choice import ChatChunkChoice # noqa: PLC0415
        from ..models.chat_usage import ChatUsage # noqa: PLC0415
        id = self.id

        object_ = self.object_

        created = self.created

        model = self.model

        choices = []
        for choices_item_data in self.choices:
            choices_item = choices_item_data.to_dict()
            choices.append(choices_item)



        usage: dict[str, Any] | None | Unset
        if isinstance(self.usage, Unset):
            usage = UNSET
        elif isinstance(self.usage, ChatUsage):
            usage = self.usage.to_dict()
        else:
            usage = self.usage


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "created": created,
            "model": model,
            "choices": choices,
        })
        if usage is not UNSET:
            field_dict["usage"] = usage

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chat_chunk_choice import ChatChunkChoice # noqa: PLC0415
        from ..models.chat_usage import ChatUsage # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['chat.completion.chunk'] , d.pop("object"))
        if object_ != 'chat.completion.chunk':
            raise ValueError(f"object must match const 'chat.completion.chunk', got '{object_}'")

        created = d.pop("created")

        model = d.pop("model")

        choices = []
        _choices = d.pop("choices")
        for choices_item_data in (_choices):
            choices_item = ChatChunkChoice.from_dict(choices_item_data)



            choices.append(choices_item)


        def _parse_usage(data: object) -> ChatUsage | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                usage_type_0 = ChatUsage.from_dict(data)



                return usage_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ChatUsage | None | Unset, data)

        usage = _parse_usage(d.pop("usage", UNSET))


        chat_completion_chunk = cls(
            id=id,
            object_=object_,
            created=created,
            model=model,
            choices=choices,
            usage=usage,
        )


        chat_completion_chunk.additional_properties = d
        return chat_completion_chunk

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
