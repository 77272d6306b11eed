from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.run_curriculum_test_method_type_0 import check_run_curriculum_test_method_type_0
from ..models.run_curriculum_test_method_type_0 import RunCurriculumTestMethodType0
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="RunCurriculumTest")



@_attrs_define
class RunCurriculumTest:
    """ Options of a test of a curriculum.

        Attributes:
            tools (list[str] | None | Unset): Names of the job's tools; without them, rows may offer any tool.
            method (None | RunCurriculumTestMethodType0 | Unset): The kind of job that reads the rows; absent: that of its
                sources, else the one that its first row fits.
     """

    tools: list[str] | None | Unset = UNSET
    method: None | RunCurriculumTestMethodType0 | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        tools: list[str] | None | Unset
        if isinstance(self.tools, Unset):
            tools = UNSET
        elif isinstance(self.tools, list):
            tools = self.tools


        else:
            tools = self.tools

        method: None | str | Unset
        if isinstance(self.method, Unset):
            method = UNSET
        elif isinstance(self.method, str):
            method = self.method
        else:
            method = self.method


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if tools is not UNSET:
            field_dict["tools"] = tools
        if method is not UNSET:
            field_dict["method"] = method

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_tools(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tools_type_0 = cast(list[str], data)

                return tools_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        tools = _parse_tools(d.pop("tools", UNSET))


        def _parse_method(data: object) -> None | RunCurriculumTestMethodType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                method_type_0 = check_run_curriculum_test_method_type_0(data)



                return method_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RunCurriculumTestMethodType0 | Unset, data)

        method = _parse_method(d.pop("method", UNSET))


        run_curriculum_test = cls(
            tools=tools,
            method=method,
        )


        run_curriculum_test.additional_properties = d
        return run_curriculum_test

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
