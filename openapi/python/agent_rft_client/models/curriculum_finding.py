from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.curriculum_finding_severity import check_curriculum_finding_severity
from ..models.curriculum_finding_severity import CurriculumFindingSeverity
from typing import cast






T = TypeVar("T", bound="CurriculumFinding")



@_attrs_define
class CurriculumFinding:
    """ Something that is worth knowing about the rows.

        Attributes:
            severity (CurriculumFindingSeverity): `error`: the curriculum would be refused.
            code (str): The finding in a word that programs can compare.
            message (str): The finding in a sentence; of a row, the first one.
            source (int | None): Position of the source in the call; `null` for all together.
            rows (int): Number of rows with it; 0 if it is not about rows.
            lines (list[int]): The first 20 of these rows by their line in the file, from 1.
     """

    severity: CurriculumFindingSeverity
    code: str
    message: str
    source: int | None
    rows: int
    lines: list[int]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        severity: str = self.severity

        code = self.code

        message = self.message

        source: int | None
        source = self.source

        rows = self.rows

        lines = self.lines




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "severity": severity,
            "code": code,
            "message": message,
            "source": source,
            "rows": rows,
            "lines": lines,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        severity = check_curriculum_finding_severity(d.pop("severity"))




        code = d.pop("code")

        message = d.pop("message")

        def _parse_source(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        source = _parse_source(d.pop("source"))


        rows = d.pop("rows")

        lines = cast(list[int], d.pop("lines"))


        curriculum_finding = cls(
            severity=severity,
            code=code,
            message=message,
            source=source,
            rows=rows,
            lines=lines,
        )


        curriculum_finding.additional_properties = d
        return curriculum_finding

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
