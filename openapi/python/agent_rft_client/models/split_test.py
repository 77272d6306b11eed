from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.line_pair import LinePair
  from ..models.split_test_tools import SplitTestTools





T = TypeVar("T", bound="SplitTest")



@_attrs_define
class SplitTest:
    """ Contents of one file of a curriculum.

        Attributes:
            file_id (str): Id of the file.
            rows (int): Lines that are not blank.
            faulty_rows (int): Rows with at least one fault.
            duplicate_rows (int): Rows whose messages are on an earlier line as well.
            duplicate_lines (list[LinePair]): The first of them: earlier line, repeated line.
            tools (SplitTestTools): Number of rows that offer each tool, by name.
     """

    file_id: str
    rows: int
    faulty_rows: int
    duplicate_rows: int
    duplicate_lines: list[LinePair]
    tools: SplitTestTools
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.line_pair import LinePair # noqa: PLC0415
        from ..models.split_test_tools import SplitTestTools # noqa: PLC0415
        file_id = self.file_id

        rows = self.rows

        faulty_rows = self.faulty_rows

        duplicate_rows = self.duplicate_rows

        duplicate_lines = []
        for duplicate_lines_item_data in self.duplicate_lines:
            duplicate_lines_item = duplicate_lines_item_data.to_dict()
            duplicate_lines.append(duplicate_lines_item)



        tools = self.tools.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "file_id": file_id,
            "rows": rows,
            "faulty_rows": faulty_rows,
            "duplicate_rows": duplicate_rows,
            "duplicate_lines": duplicate_lines,
            "tools": tools,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.line_pair import LinePair # noqa: PLC0415
        from ..models.split_test_tools import SplitTestTools # noqa: PLC0415
        d = dict(src_dict)
        file_id = d.pop("file_id")

        rows = d.pop("rows")

        faulty_rows = d.pop("faulty_rows")

        duplicate_rows = d.pop("duplicate_rows")

        duplicate_lines = []
        _duplicate_lines = d.pop("duplicate_lines")
        for duplicate_lines_item_data in (_duplicate_lines):
            duplicate_lines_item = LinePair.from_dict(duplicate_lines_item_data)



            duplicate_lines.append(duplicate_lines_item)


        tools = SplitTestTools.from_dict(d.pop("tools"))




        split_test = cls(
            file_id=file_id,
            rows=rows,
            faulty_rows=faulty_rows,
            duplicate_rows=duplicate_rows,
            duplicate_lines=duplicate_lines,
            tools=tools,
        )


        split_test.additional_properties = d
        return split_test

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
