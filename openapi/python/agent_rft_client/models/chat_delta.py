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
  from ..models.chat_tool_call_delta import ChatToolCallDelta
  from ..models.tool_call_error import ToolCallError





T = TypeVar("T", bound="ChatDelta")



@_attrs_define
class ChatDelta:
    """ An addition to the message.

        Attributes:
            role (Literal['assistant'] | None | Unset): Always `assistant`; in the first chunk only.
            content (None | str | Unset): Text to append.
            reasoning (None | str | Unset): Reasoning to append (an extension).
            tool_calls (list[ChatToolCallDelta] | None | Unset): Calls to append.
            tool_call_error (None | ToolCallError | Unset): In the last chunk of an answer with a call that cannot be parsed
                (an extension).
     """

    role: Literal['assistant'] | None | Unset = UNSET
    content: None | str | Unset = UNSET
    reasoning: None | str | Unset = UNSET
    tool_calls: list[ChatToolCallDelta] | None | Unset = UNSET
    tool_call_error: None | ToolCallError | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.chat_tool_call_delta import ChatToolCallDelta # noqa: PLC0415
        from ..models.tool_call_error import ToolCallError # noqa: PLC0415
        role: Literal['assistant'] | None | Unset
        if isinstance(self.role, Unset):
            role = UNSET
        else:
            role = self.role

        content: None | str | Unset
        if isinstance(self.content, Unset):
            content = UNSET
        else:
            content = self.content

        reasoning: None | str | Unset
        if isinstance(self.reasoning, Unset):
            reasoning = UNSET
        else:
            reasoning = self.reasoning

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
        })
        if role is not UNSET:
            field_dict["role"] = role
        if content is not UNSET:
            field_dict["content"] = content
        if reasoning is not UNSET:
            field_dict["reasoning"] = reasoning
        if tool_calls is not UNSET:
            field_dict["tool_calls"] = tool_calls
        if tool_call_error is not UNSET:
            field_dict["tool_call_error"] = tool_call_error

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chat_tool_call_delta import ChatToolCallDelta # noqa: PLC0415
        from ..models.tool_call_error import ToolCallError # noqa: PLC0415
        d = dict(src_dict)
        def _parse_role(data: object) -> Literal['assistant'] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            role_type_0 = cast(Literal['assistant'] , data)
            if role_type_0 != 'assistant':
                raise ValueError(f"role_type_0 must match const 'assistant', got '{role_type_0}'")
            return role_type_0
            return cast(Literal['assistant'] | None | Unset, data)

        role = _parse_role(d.pop("role", UNSET))


        def _parse_content(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        content = _parse_content(d.pop("content", UNSET))


        def _parse_reasoning(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reasoning = _parse_reasoning(d.pop("reasoning", UNSET))


        def _parse_tool_calls(data: object) -> list[ChatToolCallDelta] | None | Unset:
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
                    tool_calls_type_0_item = ChatToolCallDelta.from_dict(tool_calls_type_0_item_data)



                    tool_calls_type_0.append(tool_calls_type_0_item)

                return tool_calls_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[ChatToolCallDelta] | None | Unset, data)

        tool_calls = _parse_tool_calls(d.pop("tool_calls", UNSET))


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


        chat_delta = cls(
            role=role,
            content=content,
            reasoning=reasoning,
            tool_calls=tool_calls,
            tool_call_error=tool_call_error,
        )


        chat_delta.additional_properties = d
        return chat_delta

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
