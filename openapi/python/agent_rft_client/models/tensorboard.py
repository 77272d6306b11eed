from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset






T = TypeVar("T", bound="Tensorboard")



@_attrs_define
class Tensorboard:
    """ Options of the event files, which always have curves, settings and report.

        Attributes:
            traces_per_step (int | Unset): Rollouts of each training step whose messages are written: those of the highest
                and of the lowest rewards; 0 writes none. Default: 2.
     """

    traces_per_step: int | Unset = 2
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        traces_per_step = self.traces_per_step


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if traces_per_step is not UNSET:
            field_dict["traces_per_step"] = traces_per_step

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        traces_per_step = d.pop("traces_per_step", UNSET)

        tensorboard = cls(
            traces_per_step=traces_per_step,
        )


        tensorboard.additional_properties = d
        return tensorboard

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
