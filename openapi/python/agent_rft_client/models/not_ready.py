from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.error_body import ErrorBody
  from ..models.not_ready_parts import NotReadyParts





T = TypeVar("T", bound="NotReady")



@_attrs_define
class NotReady:
    """ A service that cannot be called: its database fails, or its disk is full.

        Attributes:
            error (ErrorBody): The fault: a sentence, its class, the parameter at fault and a code.
            parts (NotReadyParts): The parts by name.
     """

    error: ErrorBody
    parts: NotReadyParts
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.error_body import ErrorBody # noqa: PLC0415
        from ..models.not_ready_parts import NotReadyParts # noqa: PLC0415
        error = self.error.to_dict()

        parts = self.parts.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "error": error,
            "parts": parts,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.error_body import ErrorBody # noqa: PLC0415
        from ..models.not_ready_parts import NotReadyParts # noqa: PLC0415
        d = dict(src_dict)
        error = ErrorBody.from_dict(d.pop("error"))




        parts = NotReadyParts.from_dict(d.pop("parts"))




        not_ready = cls(
            error=error,
            parts=parts,
        )


        not_ready.additional_properties = d
        return not_ready

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
