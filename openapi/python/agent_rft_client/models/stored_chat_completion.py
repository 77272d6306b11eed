from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.chat_choice import ChatChoice
  from ..models.chat_usage import ChatUsage
  from ..models.stored_chat_completion_metadata_type_0 import StoredChatCompletionMetadataType0
  from ..models.stored_chat_completion_tools_type_0_item import StoredChatCompletionToolsType0Item





T = TypeVar("T", bound="StoredChatCompletion")



@_attrs_define
class StoredChatCompletion:
    """ A completion that was stored, as it was answered, with what the caller noted about it.

        Attributes:
            id (str): Id of the call.
            object_ (Literal['chat.completion']): Type of the object; each type has one constant value.
            created (int): Unix seconds.
            model (str): Full name of the model that answered.
            choices (list[ChatChoice]): The answers: one, unless the engine takes a higher `n`.
            usage (ChatUsage): The tokens that a call took.
            metadata (None | StoredChatCompletionMetadataType0): Up to 16 pairs of text of the user's own; the service does
                not read them.
            input_user (None | str): The end user: `safety_identifier` of the call, else its `user`.
            tools (list[StoredChatCompletionToolsType0Item] | None): Tools that the call offered; `null` without.
     """

    id: str
    object_: Literal['chat.completion']
    created: int
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage
    metadata: None | StoredChatCompletionMetadataType0
    input_user: None | str
    tools: list[StoredChatCompletionToolsType0Item] | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.chat_choice import ChatChoice # noqa: PLC0415
        from ..models.chat_usage import ChatUsage # noqa: PLC0415
        from ..models.stored_chat_completion_metadata_type_0 import StoredChatCompletionMetadataType0 # noqa: PLC0415
        from ..models.stored_chat_completion_tools_type_0_item import StoredChatCompletionToolsType0Item # noqa: PLC0415
        id = self.id

        object_ = self.object_

        created = self.created

        model = self.model

        choices = []
        for choices_item_data in self.choices:
            choices_item = choices_item_data.to_dict()
            choices.append(choices_item)



        usage = self.usage.to_dict()

        metadata: dict[str, Any] | None
        if isinstance(self.metadata, StoredChatCompletionMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        input_user: None | str
        input_user = self.input_user

        tools: list[dict[str, Any]] | None
        if isinstance(self.tools, list):
            tools = []
            for tools_type_0_item_data in self.tools:
                tools_type_0_item = tools_type_0_item_data.to_dict()
                tools.append(tools_type_0_item)


        else:
            tools = self.tools


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "created": created,
            "model": model,
            "choices": choices,
            "usage": usage,
            "metadata": metadata,
            "input_user": input_user,
            "tools": tools,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chat_choice import ChatChoice # noqa: PLC0415
        from ..models.chat_usage import ChatUsage # noqa: PLC0415
        from ..models.stored_chat_completion_metadata_type_0 import StoredChatCompletionMetadataType0 # noqa: PLC0415
        from ..models.stored_chat_completion_tools_type_0_item import StoredChatCompletionToolsType0Item # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['chat.completion'] , d.pop("object"))
        if object_ != 'chat.completion':
            raise ValueError(f"object must match const 'chat.completion', got '{object_}'")

        created = d.pop("created")

        model = d.pop("model")

        choices = []
        _choices = d.pop("choices")
        for choices_item_data in (_choices):
            choices_item = ChatChoice.from_dict(choices_item_data)



            choices.append(choices_item)


        usage = ChatUsage.from_dict(d.pop("usage"))




        def _parse_metadata(data: object) -> None | StoredChatCompletionMetadataType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = StoredChatCompletionMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StoredChatCompletionMetadataType0, data)

        metadata = _parse_metadata(d.pop("metadata"))


        def _parse_input_user(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        input_user = _parse_input_user(d.pop("input_user"))


        def _parse_tools(data: object) -> list[StoredChatCompletionToolsType0Item] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tools_type_0 = []
                _tools_type_0 = data
                for tools_type_0_item_data in (_tools_type_0):
                    tools_type_0_item = StoredChatCompletionToolsType0Item.from_dict(tools_type_0_item_data)



                    tools_type_0.append(tools_type_0_item)

                return tools_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[StoredChatCompletionToolsType0Item] | None, data)

        tools = _parse_tools(d.pop("tools"))


        stored_chat_completion = cls(
            id=id,
            object_=object_,
            created=created,
            model=model,
            choices=choices,
            usage=usage,
            metadata=metadata,
            input_user=input_user,
            tools=tools,
        )


        stored_chat_completion.additional_properties = d
        return stored_chat_completion

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
