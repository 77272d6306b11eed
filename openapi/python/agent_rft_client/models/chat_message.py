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
  from ..models.chat_tool_call import ChatToolCall
  from ..models.tool_call_error import ToolCallError





T = TypeVar("T", bound="ChatMessage")



@_attrs_define
class ChatMessage:
    """ The message of an answer; send it back unchanged to continue the conversation.

        Attributes:
            role (Literal['assistant']): Always `assistant`.
            content (None | str): The answer without reasoning and tool calls; `null` if there are only calls.
            reasoning (None | str | Unset): Reasoning in front of the answer (an extension).
            tool_calls (list[ChatToolCall] | Unset): Calls of the tools that were offered.
            tool_call_error (None | ToolCallError | Unset): Present if the model wrote a call that cannot be parsed (an
                extension).
     """

    role: Literal['assistant']
    content: None | str
    reasoning: None | str | Unset = UNSET
    tool_calls: list[ChatToolCall] | Unset = UNSET
    tool_call_error: None | ToolCallError | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.chat_tool_call import ChatToolCall # noqa: PLC0415
        from ..models.tool_call_error import ToolCallError # noqa: PLC0415
        role = self.role

        content: None | str
        content = self.content

        reasoning: None | str | Unset
        if isinstance(self.reasoning, Unset):
            reasoning = UNSET
        else:
            reasoning = self.reasoning

        tool_calls: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.tool_calls, Unset):
            tool_calls = []
            for tool_calls_item_data in self.tool_calls:
                tool_calls_item = tool_calls_item_data.to_dict()
                tool_calls.append(tool_calls_item)



        tool_call_error: dict[str, Any] | None | Unset
        if isinstance(self.tool_call_error, Unset):
            tool_call_error = UNSET
        elif isinstance(self.tool_call_error, ToolCallError):
            tool_call_error = self.tool_call_error.to_dict()
        else:
            tool_call_error = self.tool_call_error


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "role": role,
            "content": content,
        })
        if reasoning is not UNSET:
            field_dict["reasoning"] = reasoning
        if tool_calls is not UNSET:
            field_dict["tool_calls"] = tool_calls
        if tool_call_error is not UNSET:
            field_dict["tool_call_error"] = tool_call_error

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chat_tool_call import ChatToolCall # noqa: PLC0415
        from ..models.tool_call_error import ToolCallError # noqa: PLC0415
        d = dict(src_dict)
        role = cast(Literal['assistant'] , d.pop("role"))
        if role != 'assistant':
            raise ValueError(f"role must match const 'assistant', got '{role}'")

        def _parse_content(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        content = _parse_content(d.pop("content"))


        def _parse_reasoning(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reasoning = _parse_reasoning(d.pop("reasoning", UNSET))


        _tool_calls = d.pop("tool_calls", UNSET)
        tool_calls: list[ChatToolCall] | Unset = UNSET
        if _tool_calls is not UNSET:
            tool_calls = []
            for tool_calls_item_data in _tool_calls:
                tool_calls_item = ChatToolCall.from_dict(tool_calls_item_data)



                tool_calls.append(tool_calls_item)


        def _parse_tool_call_error(data: object) -> None | ToolCallError | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                tool_call_error_type_0 = ToolCallError.from_dict(data)



                return tool_call_error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ToolCallError | Unset, data)

        tool_call_error = _parse_tool_call_error(d.pop("tool_call_error", UNSET))


        chat_message = cls(
            role=role,
            content=content,
            reasoning=reasoning,
            tool_calls=tool_calls,
            tool_call_error=tool_call_error,
        )


        chat_message.additional_properties = d
        return chat_message

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
