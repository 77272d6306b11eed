from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="CriterionResult")



@_attrs_define
class CriterionResult:
    """ The counts of one criterion of an eval run.

        Attributes:
            testing_criteria (str): Name of the criterion.
            passed (int): Items that passed it.
            failed (int): Items that failed it.
     """

    testing_criteria: str
    passed: int
    failed: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        testing_criteria = self.testing_criteria

        passed = self.passed

        failed = self.failed


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "testing_criteria": testing_criteria,
            "passed": passed,
            "failed": failed,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        testing_criteria = d.pop("testing_criteria")

        passed = d.pop("passed")

        failed = d.pop("failed")

        criterion_result = cls(
            testing_criteria=testing_criteria,
            passed=passed,
            failed=failed,
        )


        criterion_result.additional_properties = d
        return criterion_result

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
