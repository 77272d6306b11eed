from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.calibration_probe_name import CalibrationProbeName
from ..models.calibration_probe_name import check_calibration_probe_name
from typing import cast






T = TypeVar("T", bound="CalibrationProbe")



@_attrs_define
class CalibrationProbe:
    """ The scores of one kind of adversarial answer.

        Attributes:
            name (CalibrationProbeName): Kind of the adversarial answer.
            mean (float): Mean score over up to 20 rows.
            highest (float): Highest score.
            hacks (bool): True if such answers score as high as the real ones, or above the middle of the range.
     """

    name: CalibrationProbeName
    mean: float
    highest: float
    hacks: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        name: str = self.name

        mean = self.mean

        highest = self.highest

        hacks = self.hacks


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "name": name,
            "mean": mean,
            "highest": highest,
            "hacks": hacks,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = check_calibration_probe_name(d.pop("name"))




        mean = d.pop("mean")

        highest = d.pop("highest")

        hacks = d.pop("hacks")

        calibration_probe = cls(
            name=name,
            mean=mean,
            highest=highest,
            hacks=hacks,
        )


        calibration_probe.additional_properties = d
        return calibration_probe

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
