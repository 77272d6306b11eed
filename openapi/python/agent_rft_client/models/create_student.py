from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="CreateStudent")



@_attrs_define
class CreateStudent:
    """ A new student: a name for a base model that is to improve.

        Attributes:
            name (str): Name of the student, unique in the project.
            base_model (str): Name of the base model that the student begins with.
            regression_evals (list[str] | Unset): Ids of evals in which a new skill must lose nothing. The rows are those of
                the run of each eval that is the newest one now and samples a model. Without any, the gate holds every skill.
     """

    name: str
    base_model: str
    regression_evals: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        name = self.name

        base_model = self.base_model

        regression_evals: list[str] | Unset = UNSET
        if not isinstance(self.regression_evals, Unset):
            regression_evals = self.regression_evals




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "name": name,
            "base_model": base_model,
        })
        if regression_evals is not UNSET:
            field_dict["regression_evals"] = regression_evals

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        base_model = d.pop("base_model")

        regression_evals = cast(list[str], d.pop("regression_evals", UNSET))


        create_student = cls(
            name=name,
            base_model=base_model,
            regression_evals=regression_evals,
        )


        create_student.additional_properties = d
        return create_student

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
