from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.regression_rows import RegressionRows





T = TypeVar("T", bound="StudentObject")



@_attrs_define
class StudentObject:
    """ A student: a base model and the skills that it learned.

        Attributes:
            id (str): The name, for `after`.
            object_ (Literal['student']): Type of the object; each type has one constant value. Default: 'student'.
            name (str): Name for readers; it need not be unique.
            base_model (str): Name of the base model, which answers while there is no current skill.
            regression_sets (list[RegressionRows]): Rows in which a new skill must lose nothing.
            current_skill (None | str): Id of the skill that answers for `student:NAME`; `null` while the base model does.
            created_at (int): Unix seconds at which the object was made.
     """

    id: str
    name: str
    base_model: str
    regression_sets: list[RegressionRows]
    current_skill: None | str
    created_at: int
    object_: Literal['student'] = 'student'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.regression_rows import RegressionRows # noqa: PLC0415
        id = self.id

        object_ = self.object_

        name = self.name

        base_model = self.base_model

        regression_sets = []
        for regression_sets_item_data in self.regression_sets:
            regression_sets_item = regression_sets_item_data.to_dict()
            regression_sets.append(regression_sets_item)



        current_skill: None | str
        current_skill = self.current_skill

        created_at = self.created_at


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "name": name,
            "base_model": base_model,
            "regression_sets": regression_sets,
            "current_skill": current_skill,
            "created_at": created_at,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.regression_rows import RegressionRows # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['student'] , d.pop("object"))
        if object_ != 'student':
            raise ValueError(f"object must match const 'student', got '{object_}'")

        name = d.pop("name")

        base_model = d.pop("base_model")

        regression_sets = []
        _regression_sets = d.pop("regression_sets")
        for regression_sets_item_data in (_regression_sets):
            regression_sets_item = RegressionRows.from_dict(regression_sets_item_data)



            regression_sets.append(regression_sets_item)


        def _parse_current_skill(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        current_skill = _parse_current_skill(d.pop("current_skill"))


        created_at = d.pop("created_at")

        student_object = cls(
            id=id,
            object_=object_,
            name=name,
            base_model=base_model,
            regression_sets=regression_sets,
            current_skill=current_skill,
            created_at=created_at,
        )


        student_object.additional_properties = d
        return student_object

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
