from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="ToolRun")



@_attrs_define
class ToolRun:
    """ The endpoint's answer to a trial call, as the model would read it.

        Attributes:
            type_ (Literal['function_call_output']): As in the replies of tools. Default: 'function_call_output'.
            id (str): Id of the reply's message.
            call_id (str): Id of the call.
            output (str): Text that a model would read: the tool's `output`, or its 4xx reply as text.
            error (None | str): Class of the failure: `http_404`, `too_large`, `tool_reported`, … (an extension).
            attempts (int): Requests that were sent.
            latency_s (float): Seconds until the last answer.
     """

    id: str
    call_id: str
    output: str
    error: None | str
    attempts: int
    latency_s: float
    type_: Literal['function_call_output'] = 'function_call_output'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        id = self.id

        call_id = self.call_id

        output = self.output

        error: None | str
        error = self.error

        attempts = self.attempts

        latency_s = self.latency_s


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
            "id": id,
            "call_id": call_id,
            "output": output,
            "error": error,
            "attempts": attempts,
            "latency_s": latency_s,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['function_call_output'] , d.pop("type"))
        if type_ != 'function_call_output':
            raise ValueError(f"type must match const 'function_call_output', got '{type_}'")

        id = d.pop("id")

        call_id = d.pop("call_id")

        output = d.pop("output")

        def _parse_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error = _parse_error(d.pop("error"))


        attempts = d.pop("attempts")

        latency_s = d.pop("latency_s")

        tool_run = cls(
            type_=type_,
            id=id,
            call_id=call_id,
            output=output,
            error=error,
            attempts=attempts,
            latency_s=latency_s,
        )


        tool_run.additional_properties = d
        return tool_run

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
