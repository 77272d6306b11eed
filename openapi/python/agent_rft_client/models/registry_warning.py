from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.registry_warning_code import check_registry_warning_code
from ..models.registry_warning_code import RegistryWarningCode
from typing import cast






T = TypeVar("T", bound="RegistryWarning")



@_attrs_define
class RegistryWarning:
    """ A part of the request that is accepted and changes nothing: an unknown key, or a grader that
    reads no sample.

        Attributes:
            code (RegistryWarningCode): The fault in a word that programs can compare. Default: 'unknown_parameter'.
            message (str): The fault in a sentence, with the nearest known name.
            param (str): The part, as a path from the body.
     """

    message: str
    param: str
    code: RegistryWarningCode = 'unknown_parameter'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        code: str = self.code

        message = self.message

        param = self.param


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "code": code,
            "message": message,
            "param": param,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        code = check_registry_warning_code(d.pop("code"))




        message = d.pop("message")

        param = d.pop("param")

        registry_warning = cls(
            code=code,
            message=message,
            param=param,
        )


        registry_warning.additional_properties = d
        return registry_warning

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
