from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.streamed_point_split import check_streamed_point_split
from ..models.streamed_point_split import StreamedPointSplit
from typing import cast






T = TypeVar("T", bound="StreamedPoint")



@_attrs_define
class StreamedPoint:
    """ One point of a curve, committed with the event that it comes with.

        Attributes:
            name (str): Name of the curve, such as `reward/mean`.
            split (StreamedPointSplit): The rollouts or rows that it measures.
            step (int): The committed step; 0 is before training.
            value (float): The value at that step.
     """

    name: str
    split: StreamedPointSplit
    step: int
    value: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        name = self.name

        split: str = self.split

        step = self.step

        value = self.value


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "name": name,
            "split": split,
            "step": step,
            "value": value,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        split = check_streamed_point_split(d.pop("split"))




        step = d.pop("step")

        value = d.pop("value")

        streamed_point = cls(
            name=name,
            split=split,
            step=step,
            value=value,
        )


        streamed_point.additional_properties = d
        return streamed_point

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
