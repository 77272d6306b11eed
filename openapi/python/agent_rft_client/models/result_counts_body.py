from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="ResultCountsBody")



@_attrs_define
class ResultCountsBody:
    """ The items of an eval run by outcome.

        Attributes:
            total (int): All items.
            errored (int): Items that could not be sampled or graded.
            failed (int): Items that failed a criterion.
            passed (int): Items that passed every criterion.
     """

    total: int
    errored: int
    failed: int
    passed: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        total = self.total

        errored = self.errored

        failed = self.failed

        passed = self.passed


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "total": total,
            "errored": errored,
            "failed": failed,
            "passed": passed,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        total = d.pop("total")

        errored = d.pop("errored")

        failed = d.pop("failed")

        passed = d.pop("passed")

        result_counts_body = cls(
            total=total,
            errored=errored,
            failed=failed,
            passed=passed,
        )


        result_counts_body.additional_properties = d
        return result_counts_body

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
