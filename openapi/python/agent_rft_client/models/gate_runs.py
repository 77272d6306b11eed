from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="GateRuns")



@_attrs_define
class GateRuns:
    """ The runs of one eval, on the same rows.

        Attributes:
            eval_id (str): Id of the eval.
            before (str): Id of the run of the model that the skill would replace.
            after (str): Id of the run of the skill's model.
     """

    eval_id: str
    before: str
    after: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        eval_id = self.eval_id

        before = self.before

        after = self.after


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "eval_id": eval_id,
            "before": before,
            "after": after,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        eval_id = d.pop("eval_id")

        before = d.pop("before")

        after = d.pop("after")

        gate_runs = cls(
            eval_id=eval_id,
            before=before,
            after=after,
        )


        gate_runs.additional_properties = d
        return gate_runs

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
