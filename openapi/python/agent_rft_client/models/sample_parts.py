from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.sample_parts_output_tools_type_0_item import SamplePartsOutputToolsType0Item
  from ..models.sample_parts_tool_calls_type_0_item import SamplePartsToolCallsType0Item
  from ..models.sample_parts_turns_type_0_item import SamplePartsTurnsType0Item





T = TypeVar("T", bound="SampleParts")



@_attrs_define
class SampleParts:
    """ Keys of `sample` as graders of jobs read them; they replace the values derived from the
    answer. Unknown keys, also of a call or a turn, are refused.

        Attributes:
            output_tools (list[SamplePartsOutputToolsType0Item] | None | Unset): Tool calls of the last turn, as in a chat
                message.
            output_reasoning_summary (None | str | Unset): Reasoning of the last turn.
            tool_calls (list[SamplePartsToolCallsType0Item] | None | Unset): Tool calls of the whole rollout; those of
                `output_tools` when absent. A call may be in chat form, with its name and arguments under `function`. Where it
                has no `arguments_json`, it is read from `arguments`.
            turns (list[SamplePartsTurnsType0Item] | None | Unset): Turns of the rollout.
            stop_reason (None | str | Unset): Reason why the rollout ended.
     """

    output_tools: list[SamplePartsOutputToolsType0Item] | None | Unset = UNSET
    output_reasoning_summary: None | str | Unset = UNSET
    tool_calls: list[SamplePartsToolCallsType0Item] | None | Unset = UNSET
    turns: list[SamplePartsTurnsType0Item] | None | Unset = UNSET
    stop_reason: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.sample_parts_output_tools_type_0_item import SamplePartsOutputToolsType0Item # noqa: PLC0415
        from ..models.sample_parts_tool_calls_type_0_item import SamplePartsToolCallsType0Item # noqa: PLC0415
        from ..models.sample_parts_turns_type_0_item import SamplePartsTurnsType0Item # noqa: PLC0415
        output_tools: list[dict[str, Any]] | None | Unset
        if isinstance(self.output_tools, Unset):
            output_tools = UNSET
        elif isinstance(self.output_tools, list):
            output_tools = []
            for output_tools_type_0_item_data in self.output_tools:
                output_tools_type_0_item = output_tools_type_0_item_data.to_dict()
                output_tools.append(output_tools_type_0_item)


        else:
            output_tools = self.output_tools

        output_reasoning_summary: None | str | Unset
        if isinstance(self.output_reasoning_summary, Unset):
            output_reasoning_summary = UNSET
        else:
            output_reasoning_summary = self.output_reasoning_summary

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

        turns: list[dict[str, Any]] | None | Unset
        if isinstance(self.turns, Unset):
            turns = UNSET
        elif isinstance(self.turns, list):
            turns = []
            for turns_type_0_item_data in self.turns:
                turns_type_0_item = turns_type_0_item_data.to_dict()
                turns.append(turns_type_0_item)


        else:
            turns = self.turns

        stop_reason: None | str | Unset
        if isinstance(self.stop_reason, Unset):
            stop_reason = UNSET
        else:
            stop_reason = self.stop_reason


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if output_tools is not UNSET:
            field_dict["output_tools"] = output_tools
        if output_reasoning_summary is not UNSET:
            field_dict["output_reasoning_summary"] = output_reasoning_summary
        if tool_calls is not UNSET:
            field_dict["tool_calls"] = tool_calls
        if turns is not UNSET:
            field_dict["turns"] = turns
        if stop_reason is not UNSET:
            field_dict["stop_reason"] = stop_reason

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.sample_parts_output_tools_type_0_item import SamplePartsOutputToolsType0Item # noqa: PLC0415
        from ..models.sample_parts_tool_calls_type_0_item import SamplePartsToolCallsType0Item # noqa: PLC0415
        from ..models.sample_parts_turns_type_0_item import SamplePartsTurnsType0Item # noqa: PLC0415
        d = dict(src_dict)
        def _parse_output_tools(data: object) -> list[SamplePartsOutputToolsType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                output_tools_type_0 = []
                _output_tools_type_0 = data
                for output_tools_type_0_item_data in (_output_tools_type_0):
                    output_tools_type_0_item = SamplePartsOutputToolsType0Item.from_dict(output_tools_type_0_item_data)



                    output_tools_type_0.append(output_tools_type_0_item)

                return output_tools_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[SamplePartsOutputToolsType0Item] | None | Unset, data)

        output_tools = _parse_output_tools(d.pop("output_tools", UNSET))


        def _parse_output_reasoning_summary(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        output_reasoning_summary = _parse_output_reasoning_summary(d.pop("output_reasoning_summary", UNSET))


        def _parse_tool_calls(data: object) -> list[SamplePartsToolCallsType0Item] | None | Unset:
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
                    tool_calls_type_0_item = SamplePartsToolCallsType0Item.from_dict(tool_calls_type_0_item_data)



                    tool_calls_type_0.append(tool_calls_type_0_item)

                return tool_calls_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[SamplePartsToolCallsType0Item] | None | Unset, data)

        tool_calls = _parse_tool_calls(d.pop("tool_calls", UNSET))


        def _parse_turns(data: object) -> list[SamplePartsTurnsType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                turns_type_0 = []
                _turns_type_0 = data
                for turns_type_0_item_data in (_turns_type_0):
                    turns_type_0_item = SamplePartsTurnsType0Item.from_dict(turns_type_0_item_data)



                    turns_type_0.append(turns_type_0_item)

                return turns_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[SamplePartsTurnsType0Item] | None | Unset, data)

        turns = _parse_turns(d.pop("turns", UNSET))


        def _parse_stop_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        stop_reason = _parse_stop_reason(d.pop("stop_reason", UNSET))


        sample_parts = cls(
            output_tools=output_tools,
            output_reasoning_summary=output_reasoning_summary,
            tool_calls=tool_calls,
            turns=turns,
            stop_reason=stop_reason,
        )


        sample_parts.additional_properties = d
        return sample_parts

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
