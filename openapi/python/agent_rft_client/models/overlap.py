from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast






T = TypeVar("T", bound="Overlap")



@_attrs_define
class Overlap:
    """ Validation rows whose messages are in the training file too, so that they measure
    memorisation.

        Attributes:
            rows (int): Number of such rows.
            lines (list[list[int]]): The first of them: (training line, validation line).
     """

    rows: int
    lines: list[list[int]]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        rows = self.rows

        lines = []
        for lines_item_data in self.lines:
            lines_item = []
            for lines_item_item_data in lines_item_data:
                lines_item_item: int
                lines_item_item = lines_item_item_data
                lines_item.append(lines_item_item)


            lines.append(lines_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "rows": rows,
            "lines": lines,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        rows = d.pop("rows")

        lines = []
        _lines = d.pop("lines")
        for lines_item_data in (_lines):
            lines_item = []
            _lines_item = lines_item_data
            for lines_item_item_data in (_lines_item):
                def _parse_lines_item_item(data: object) -> int:
                    return cast(int, data)

                lines_item_item = _parse_lines_item_item(lines_item_item_data)

                lines_item.append(lines_item_item)

            lines.append(lines_item)


        overlap = cls(
            rows=rows,
            lines=lines,
        )


        overlap.additional_properties = d
        return overlap

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
