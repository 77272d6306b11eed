from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.file_summary_tools import FileSummaryTools
  from ..models.token_lengths import TokenLengths





T = TypeVar("T", bound="FileSummary")



@_attrs_define
class FileSummary:
    """ Summary of one file. Faulty rows are counted too.

        Attributes:
            rows (int): Lines that are not blank.
            faulty_rows (int): Rows with at least one fault.
            duplicate_rows (int): Rows whose messages are on an earlier line as well.
            duplicate_lines (list[list[int]]): The first of them: (earlier line, repeated line).
            tokens (None | TokenLengths): Lengths of its prompts; `null` without a known base model.
            tools (FileSummaryTools): Rows that offer each tool.
     """

    rows: int
    faulty_rows: int
    duplicate_rows: int
    duplicate_lines: list[list[int]]
    tokens: None | TokenLengths
    tools: FileSummaryTools
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.file_summary_tools import FileSummaryTools # noqa: PLC0415
        from ..models.token_lengths import TokenLengths # noqa: PLC0415
        rows = self.rows

        faulty_rows = self.faulty_rows

        duplicate_rows = self.duplicate_rows

        duplicate_lines = []
        for duplicate_lines_item_data in self.duplicate_lines:
            duplicate_lines_item = []
            for duplicate_lines_item_item_data in duplicate_lines_item_data:
                duplicate_lines_item_item: int
                duplicate_lines_item_item = duplicate_lines_item_item_data
                duplicate_lines_item.append(duplicate_lines_item_item)


            duplicate_lines.append(duplicate_lines_item)



        tokens: dict[str, Any] | None
        if isinstance(self.tokens, TokenLengths):
            tokens = self.tokens.to_dict()
        else:
            tokens = self.tokens

        tools = self.tools.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "rows": rows,
            "faulty_rows": faulty_rows,
            "duplicate_rows": duplicate_rows,
            "duplicate_lines": duplicate_lines,
            "tokens": tokens,
            "tools": tools,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.file_summary_tools import FileSummaryTools # noqa: PLC0415
        from ..models.token_lengths import TokenLengths # noqa: PLC0415
        d = dict(src_dict)
        rows = d.pop("rows")

        faulty_rows = d.pop("faulty_rows")

        duplicate_rows = d.pop("duplicate_rows")

        duplicate_lines = []
        _duplicate_lines = d.pop("duplicate_lines")
        for duplicate_lines_item_data in (_duplicate_lines):
            duplicate_lines_item = []
            _duplicate_lines_item = duplicate_lines_item_data
            for duplicate_lines_item_item_data in (_duplicate_lines_item):
                def _parse_duplicate_lines_item_item(data: object) -> int:
                    return cast(int, data)

                duplicate_lines_item_item = _parse_duplicate_lines_item_item(duplicate_lines_item_item_data)

                duplicate_lines_item.append(duplicate_lines_item_item)

            duplicate_lines.append(duplicate_lines_item)


        def _parse_tokens(data: object) -> None | TokenLengths:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                tokens_type_0 = TokenLengths.from_dict(data)



                return tokens_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | TokenLengths, data)

        tokens = _parse_tokens(d.pop("tokens"))


        tools = FileSummaryTools.from_dict(d.pop("tools"))




        file_summary = cls(
            rows=rows,
            faulty_rows=faulty_rows,
            duplicate_rows=duplicate_rows,
            duplicate_lines=duplicate_lines,
            tokens=tokens,
            tools=tools,
        )


        file_summary.additional_properties = d
        return file_summary

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
