from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.length_bounds_grader_unit import check_length_bounds_grader_unit
from ..models.length_bounds_grader_unit import LengthBoundsGraderUnit
from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="LengthBoundsGrader")



@_attrs_define
class LengthBoundsGrader:
    """ 1 within the bounds; outside, the score falls to 0 over `slack`.

        Attributes:
            type_ (Literal['length_bounds']): Selects the kind of the object.
            pass_threshold (float | None | Unset): Lowest score that counts as passed in displayed results; it does not
                change the reward.
            name (str | Unset): Name for readers; it need not be unique. Default: 'length_bounds'.
            input_ (str | Unset): Template of the text; not used if `unit` is `tokens`. Default: '{{sample.output_text}}'.
            unit (LengthBoundsGraderUnit | Unset): `words` are separated by white space; `tokens` are the sampled tokens of
                all turns; `items` are the entries of a JSON list, such as `{{sample.tool_calls}}`. Default: 'characters'.
            min_ (int | None | Unset): Smallest length.
            max_ (int | None | Unset): Largest length.
            slack (int | Unset): Distance from a bound at which the score reaches 0. Default: 0.
     """

    type_: Literal['length_bounds']
    pass_threshold: float | None | Unset = UNSET
    name: str | Unset = 'length_bounds'
    input_: str | Unset = '{{sample.output_text}}'
    unit: LengthBoundsGraderUnit | Unset = 'characters'
    min_: int | None | Unset = UNSET
    max_: int | None | Unset = UNSET
    slack: int | Unset = 0
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        pass_threshold: float | None | Unset
        if isinstance(self.pass_threshold, Unset):
            pass_threshold = UNSET
        else:
            pass_threshold = self.pass_threshold

        name = self.name

        input_ = self.input_

        unit: str | Unset = UNSET
        if not isinstance(self.unit, Unset):
            unit = self.unit


        min_: int | None | Unset
        if isinstance(self.min_, Unset):
            min_ = UNSET
        else:
            min_ = self.min_

        max_: int | None | Unset
        if isinstance(self.max_, Unset):
            max_ = UNSET
        else:
            max_ = self.max_

        slack = self.slack


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
        })
        if pass_threshold is not UNSET:
            field_dict["pass_threshold"] = pass_threshold
        if name is not UNSET:
            field_dict["name"] = name
        if input_ is not UNSET:
            field_dict["input"] = input_
        if unit is not UNSET:
            field_dict["unit"] = unit
        if min_ is not UNSET:
            field_dict["min"] = min_
        if max_ is not UNSET:
            field_dict["max"] = max_
        if slack is not UNSET:
            field_dict["slack"] = slack

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['length_bounds'] , d.pop("type"))
        if type_ != 'length_bounds':
            raise ValueError(f"type must match const 'length_bounds', got '{type_}'")

        def _parse_pass_threshold(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        pass_threshold = _parse_pass_threshold(d.pop("pass_threshold", UNSET))


        name = d.pop("name", UNSET)

        input_ = d.pop("input", UNSET)

        _unit = d.pop("unit", UNSET)
        unit: LengthBoundsGraderUnit | Unset
        if isinstance(_unit,  Unset):
            unit = UNSET
        else:
            unit = check_length_bounds_grader_unit(_unit)




        def _parse_min_(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        min_ = _parse_min_(d.pop("min", UNSET))


        def _parse_max_(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_ = _parse_max_(d.pop("max", UNSET))


        slack = d.pop("slack", UNSET)

        length_bounds_grader = cls(
            type_=type_,
            pass_threshold=pass_threshold,
            name=name,
            input_=input_,
            unit=unit,
            min_=min_,
            max_=max_,
            slack=slack,
        )


        length_bounds_grader.additional_properties = d
        return length_bounds_grader

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
