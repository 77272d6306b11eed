from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="RegressionRows")



@_attrs_define
class RegressionRows:
    """ A regression set of a student: an eval, and the run whose rows the gate samples.

        Attributes:
            eval_id (str): Id of the eval, whose criteria score the answers.
            run_id (str): Id of the run whose data source has the rows. A later run of the eval changes nothing.
     """

    eval_id: str
    run_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        eval_id = self.eval_id

        run_id = self.run_id


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "eval_id": eval_id,
            "run_id": run_id,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        eval_id = d.pop("eval_id")

        run_id = d.pop("run_id")

        regression_rows = cls(
            eval_id=eval_id,
            run_id=run_id,
        )


        regression_rows.additional_properties = d
        return regression_rows

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
