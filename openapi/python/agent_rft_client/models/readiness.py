from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.readiness_status import check_readiness_status
from ..models.readiness_status import ReadinessStatus
from typing import cast

if TYPE_CHECKING:
  from ..models.readiness_parts import ReadinessParts





T = TypeVar("T", bound="Readiness")



@_attrs_define
class Readiness:
    """ A service that can be called.

        Attributes:
            status (ReadinessStatus): `degraded` while the broker, the workers, the engine or the sandbox fail: requests are
                served, jobs wait, calls of a model and graders that run code may fail
            parts (ReadinessParts): The parts by name.
     """

    status: ReadinessStatus
    parts: ReadinessParts
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.readiness_parts import ReadinessParts # noqa: PLC0415
        status: str = self.status

        parts = self.parts.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "status": status,
            "parts": parts,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.readiness_parts import ReadinessParts # noqa: PLC0415
        d = dict(src_dict)
        status = check_readiness_status(d.pop("status"))




        parts = ReadinessParts.from_dict(d.pop("parts"))




        readiness = cls(
            status=status,
            parts=parts,
        )


        readiness.additional_properties = d
        return readiness

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
