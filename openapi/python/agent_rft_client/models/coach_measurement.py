from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.coach_measurement_split import check_coach_measurement_split
from ..models.coach_measurement_split import CoachMeasurementSplit
from typing import cast






T = TypeVar("T", bound="CoachMeasurement")



@_attrs_define
class CoachMeasurement:
    """ The rollouts that measured the student.

        Attributes:
            job_id (str): Id of their job.
            split (CoachMeasurementSplit): Their part of the job.
            step (int): Step of the job at which they were sampled.
     """

    job_id: str
    split: CoachMeasurementSplit
    step: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        job_id = self.job_id

        split: str = self.split

        step = self.step


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "job_id": job_id,
            "split": split,
            "step": step,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        job_id = d.pop("job_id")

        split = check_coach_measurement_split(d.pop("split"))




        step = d.pop("step")

        coach_measurement = cls(
            job_id=job_id,
            split=split,
            step=step,
        )


        coach_measurement.additional_properties = d
        return coach_measurement

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
