from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.fault_severity import check_fault_severity
from ..models.fault_severity import FaultSeverity
from typing import cast






T = TypeVar("T", bound="Fault")



@_attrs_define
class Fault:
    """ One fault. `line` counts from 1; `pointer` is a JSON pointer into that line.

        Attributes:
            severity (FaultSeverity): `error`: the job would be refused or fail. `warning`: it would run.
            code (str): The fault in a word that programs can compare.
            message (str): The fault in a sentence, with its cure.
            param (None | str): The parameter of the create call at fault.
            line (int | None): Line of the file, from 1.
            pointer (None | str): JSON pointer into that line.
     """

    severity: FaultSeverity
    code: str
    message: str
    param: None | str
    line: int | None
    pointer: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        severity: str = self.severity

        code = self.code

        message = self.message

        param: None | str
        param = self.param

        line: int | None
        line = self.line

        pointer: None | str
        pointer = self.pointer


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "severity": severity,
            "code": code,
            "message": message,
            "param": param,
            "line": line,
            "pointer": pointer,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        severity = check_fault_severity(d.pop("severity"))




        code = d.pop("code")

        message = d.pop("message")

        def _parse_param(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        param = _parse_param(d.pop("param"))


        def _parse_line(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        line = _parse_line(d.pop("line"))


        def _parse_pointer(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        pointer = _parse_pointer(d.pop("pointer"))


        fault = cls(
            severity=severity,
            code=code,
            message=message,
            param=param,
            line=line,
            pointer=pointer,
        )


        fault.additional_properties = d
        return fault

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
