from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.curve_split import check_curve_split
from ..models.curve_split import CurveSplit
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.point import Point





T = TypeVar("T", bound="Curve")



@_attrs_define
class Curve:
    """ The points of one curve of a job.

        Attributes:
            id (str): `<split>:<name>`
            object_ (Literal['fine_tuning.job.metric']): Type of the object; each type has one constant value. Default:
                'fine_tuning.job.metric'.
            name (str): Name of the curve, such as `reward/mean`.
            split (CurveSplit): The rollouts or rows that it measures.
            points (list[Point]): Points by step, thinned to `max_points`.
     """

    id: str
    name: str
    split: CurveSplit
    points: list[Point]
    object_: Literal['fine_tuning.job.metric'] = 'fine_tuning.job.metric'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.point import Point # noqa: PLC0415
        id = self.id

        object_ = self.object_

        name = self.name

        split: str = self.split

        points = []
        for points_item_data in self.points:
            points_item = points_item_data.to_dict()
            points.append(points_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "name": name,
            "split": split,
            "points": points,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.point import Point # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['fine_tuning.job.metric'] , d.pop("object"))
        if object_ != 'fine_tuning.job.metric':
            raise ValueError(f"object must match const 'fine_tuning.job.metric', got '{object_}'")

        name = d.pop("name")

        split = check_curve_split(d.pop("split"))




        points = []
        _points = d.pop("points")
        for points_item_data in (_points):
            points_item = Point.from_dict(points_item_data)



            points.append(points_item)


        curve = cls(
            id=id,
            object_=object_,
            name=name,
            split=split,
            points=points,
        )


        curve.additional_properties = d
        return curve

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
