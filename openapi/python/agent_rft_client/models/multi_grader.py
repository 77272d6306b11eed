from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.multi_grader_graders import MultiGraderGraders





T = TypeVar("T", bound="MultiGrader")



@_attrs_define
class MultiGrader:
    """ Several graders and the formula that combines their scores. Not nestable.

        Attributes:
            type_ (Literal['multi']): Selects the kind of the object.
            graders (MultiGraderGraders): The parts by name.
            calculate_output (str): Formula of the reward over the names of the parts, such as `0.5 * exact + judge`.
            pass_threshold (float | None | Unset): Lowest score that counts as passed in displayed results; it does not
                change the reward.
            name (str | Unset): Name for readers; it need not be unique. Default: 'multi'.
            invalid_grade (float | None | Unset): The score when the formula has no finite value; without it the rollout
                leaves the batch.
     """

    type_: Literal['multi']
    graders: MultiGraderGraders
    calculate_output: str
    pass_threshold: float | None | Unset = UNSET
    name: str | Unset = 'multi'
    invalid_grade: float | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.multi_grader_graders import MultiGraderGraders # noqa: PLC0415
        type_ = self.type_

        graders = self.graders.to_dict()

        calculate_output = self.calculate_output

        pass_threshold: float | None | Unset
        if isinstance(self.pass_threshold, Unset):
            pass_threshold = UNSET
        else:
            pass_threshold = self.pass_threshold

        name = self.name

        invalid_grade: float | None | Unset
        if isinstance(self.invalid_grade, Unset):
            invalid_grade = UNSET
        else:
            invalid_grade = self.invalid_grade


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
            "graders": graders,
            "calculate_output": calculate_output,
        })
        if pass_threshold is not UNSET:
            field_dict["pass_threshold"] = pass_threshold
        if name is not UNSET:
            field_dict["name"] = name
        if invalid_grade is not UNSET:
            field_dict["invalid_grade"] = invalid_grade

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.multi_grader_graders import MultiGraderGraders # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['multi'] , d.pop("type"))
        if type_ != 'multi':
            raise ValueError(f"type must match const 'multi', got '{type_}'")

        graders = MultiGraderGraders.from_dict(d.pop("graders"))




        calculate_output = d.pop("calculate_output")

        def _parse_pass_threshold(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        pass_threshold = _parse_pass_threshold(d.pop("pass_threshold", UNSET))


        name = d.pop("name", UNSET)

        def _parse_invalid_grade(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        invalid_grade = _parse_invalid_grade(d.pop("invalid_grade", UNSET))


        multi_grader = cls(
            type_=type_,
            graders=graders,
            calculate_output=calculate_output,
            pass_threshold=pass_threshold,
            name=name,
            invalid_grade=invalid_grade,
        )


        multi_grader.additional_properties = d
        return multi_grader

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
