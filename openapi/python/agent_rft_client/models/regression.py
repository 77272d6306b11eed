from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast






T = TypeVar("T", bound="Regression")



@_attrs_define
class Regression:
    """ A held-out row that became worse.

        Attributes:
            row (int): Row number in the validation file, from 0.
            before (float | None): Its value under the model that training started from.
            after (float | None): Its value under the tuned model.
     """

    row: int
    before: float | None
    after: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        row = self.row

        before: float | None
        before = self.before

        after: float | None
        after = self.after


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "row": row,
            "before": before,
            "after": after,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        row = d.pop("row")

        def _parse_before(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        before = _parse_before(d.pop("before"))


        def _parse_after(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        after = _parse_after(d.pop("after"))


        regression = cls(
            row=row,
            before=before,
            after=after,
        )


        regression.additional_properties = d
        return regression

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
