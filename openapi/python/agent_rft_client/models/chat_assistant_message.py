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
  from ..models.chat_refusal_part import ChatRefusalPart
  from ..models.chat_request_tool_call import ChatRequestToolCall
  from ..models.chat_text_part import ChatTextPart
  from ..models.chat_tool_call_error import ChatToolCallError





T = TypeVar("T", bound="ChatAssistantMessage")



@_attrs_define
class ChatAssistantMessage:
    """ An earlier answer of the model. Send a reply's message back unchanged.

        Attributes:
            role (Literal['assistant']): Role of the speaker.
            content (list[ChatRefusalPart | ChatTextPart] | None | str | Unset): The text; may be absent in an answer that
                has only calls, a refusal or reasoning.
            refusal (None | str | Unset): A refusal instead of content; the model reads it as text.
            tool_calls (list[ChatRequestToolCall] | None | Unset): Calls; the messages that follow answer each of them once.
            reasoning (None | str | Unset): Reasoning in front of the answer (an extension); the chat template decides on
                its use.
            reasoning_content (None | str | Unset): Another name of `reasoning` (an extension).
            tool_call_error (ChatToolCallError | None | Unset): The mark of a call that cannot be parsed, as in the reply
                (an extension).
            name (None | str | Unset): Name of the speaker; few chat templates show it.
     """

    role: Literal['assistant']
    content: list[ChatRefusalPart | ChatTextPart] | None | str | Unset = UNSET
    refusal: None | str | Unset = UNSET
    tool_calls: list[ChatRequestToolCall] | None | Unset = UNSET
    reasoning: None | str | Unset = UNSET
    reasoning_content: None | str | Unset = UNSET
    tool_call_error: ChatToolCallError | None | Unset = UNSET
    name: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.chat_refusal_part import ChatRefusalPart # noqa: PLC0415
        from ..models.chat_request_tool_call import ChatRequestToolCall # noqa: PLC0415
        from ..models.chat_text_part import ChatTextPart # noqa: PLC0415
        from ..models.chat_tool_call_error import ChatToolCallError # noqa: PLC0415
        role = self.role

        content: list[dict[str, Any]] | None | str | Unset
        if isinstance(self.content, Unset):
            content = UNSET
        elif isinstance(self.content, list):
            content = []
            for content_type_1_item_data in self.content:
                content_type_1_item: dict[str, Any]
                if isinstance(content_type_1_item_data, ChatTextPart):
                    content_type_1_item = content_type_1_item_data.to_dict()
                else:
                    content_type_1_item = content_type_1_item_data.to_dict()

                content.append(content_type_1_item)


        else:
            content = self.content

        refusal: None | str | Unset
        if isinstance(self.refusal, Unset):
            refusal = UNSET
        else:
            refusal = self.refusal

        tool_calls: list[dict[str, Any]] | None | Unset
        if isinstance(self.tool_calls, Unset):
            tool_calls = UNSET
        elif isinstance(self.tool_calls, list):
            tool_calls = []
            for tool_calls_type_0_item_data in self.tool_calls:
                tool_calls_type_0_item = tool_calls_type_0_item_data.to_dict()
                tool_calls.append(tool_calls_type_0_item)


        else:
            tool_calls = self.tool_calls

        reasoning: None | str | Unset
        if isinstance(self.reasoning, Unset):
            reasoning = UNSET
        else:
            reasoning = self.reasoning

        reasoning_content: None | str | Unset
        if isinstance(self.reasoning_content, Unset):
            reasoning_content = UNSET
        else:
            reasoning_content = self.reasoning_content

        tool_call_error: dict[str, Any] | None | Unset
        if isinstance(self.tool_call_error, Unset):
            tool_call_error = UNSET
        elif isinstance(self.tool_call_error, ChatToolCallError):
            tool_call_error = self.tool_call_error.to_dict()
        else:
            tool_call_error = self.tool_call_error

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "role": role,
        })
        if content is not UNSET:
            field_dict["content"] = content
        if refusal is not UNSET:
            field_dict["refusal"] = refusal
        if tool_calls is not UNSET:
            field_dict["tool_calls"] = tool_calls
        if reasoning is not UNSET:
            field_dict["reasoning"] = reasoning
        if reasoning_content is not UNSET:
            field_dict["reasoning_content"] = reasoning_content
        if tool_call_error is not UNSET:
            field_dict["tool_call_error"] = tool_call_error
        if name is not UNSET:
            field_dict["name"] = name

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chat_refusal_part import ChatRefusalPart # noqa: PLC0415
        from ..models.chat_request_tool_call import ChatRequestToolCall # noqa: PLC0415
        from ..models.chat_text_part import ChatTextPart # noqa: PLC0415
        from ..models.chat_tool_call_error import ChatToolCallError # noqa: PLC0415
        d = dict(src_dict)
        role = cast(Literal['assistant'] , d.pop("role"))
        if role != 'assistant':
            raise ValueError(f"role must match const 'assistant', got '{role}'")

        def _parse_content(data: object) -> list[ChatRefusalPart | ChatTextPart] | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                content_type_1 = []
                _content_type_1 = data
                for content_type_1_item_data in (_content_type_1):
                    def _parse_content_type_1_item(data: object) -> ChatRefusalPart | ChatTextPart:
                        try:
                            if not isinstance(data, dict):
                                raise TypeError()
                            content_type_1_item_type_0 = ChatTextPart.from_dict(data)



                            return content_type_1_item_type_0
                        except (TypeError, ValueError, AttributeError, KeyError):
                            pass
                        if not isinstance(data, dict):
                            raise TypeError()
                        content_type_1_item_type_1 = ChatRefusalPart.from_dict(data)



                        return content_type_1_item_type_1

                    content_type_1_item = _parse_content_type_1_item(content_type_1_item_data)

                    content_type_1.append(content_type_1_item)

                return content_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[ChatRefusalPart | ChatTextPart] | None | str | Unset, data)

        content = _parse_content(d.pop("content", UNSET))


        def _parse_refusal(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        refusal = _parse_refusal(d.pop("refusal", UNSET))


        def _parse_tool_calls(data: object) -> list[ChatRequestToolCall] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tool_calls_type_0 = []
                _tool_calls_type_0 = data
                for tool_calls_type_0_item_data in (_tool_calls_type_0):
                    tool_calls_type_0_item = ChatRequestToolCall.from_dict(tool_calls_type_0_item_data)



                    tool_calls_type_0.append(tool_calls_type_0_item)

                return tool_calls_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[ChatRequestToolCall] | None | Unset, data)

        tool_calls = _parse_tool_calls(d.pop("tool_calls", UNSET))


        def _parse_reasoning(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reasoning = _parse_reasoning(d.pop("reasoning", UNSET))


        def _parse_reasoning_content(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reasoning_content = _parse_reasoning_content(d.pop("reasoning_content", UNSET))


        def _parse_tool_call_error(data: object) -> ChatToolCallError | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                tool_call_error_type_0 = ChatToolCallError.from_dict(data)



                return tool_call_error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ChatToolCallError | None | Unset, data)

        tool_call_error = _parse_tool_call_error(d.pop("tool_call_error", UNSET))


        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))


        chat_assistant_message = cls(
            role=role,
            content=content,
            refusal=refusal,
            tool_calls=tool_calls,
            reasoning=reasoning,
            reasoning_content=reasoning_content,
            tool_call_error=tool_call_error,
            name=name,
        )


        chat_assistant_message.additional_properties = d
        return chat_assistant_message

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
