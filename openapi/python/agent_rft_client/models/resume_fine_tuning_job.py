from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="ResumeFineTuningJob")



@_attrs_define
class ResumeFineTuningJob:
    """ New caps of a paused job; those that are absent or null do not change.

        Attributes:
            max_training_time_s (float | None | Unset): Cap in seconds of wall time: the job pauses at the step that reaches
                it (an extension).
            max_rollouts (int | None | Unset): Cap on rollouts of training and validation: the job pauses at the step that
                reaches it (an extension).
     """

    max_training_time_s: float | None | Unset = UNSET
    max_rollouts: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        max_training_time_s: float | None | Unset
        if isinstance(self.max_training_time_s, Unset):
            max_training_time_s = UNSET
        else:
            max_training_time_s = self.max_training_time_s

        max_rollouts: int | None | Unset
        if isinstance(self.max_rollouts, Unset):
            max_rollouts = UNSET
        else:
            max_rollouts = self.max_rollouts


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if max_training_time_s is not UNSET:
            field_dict["max_training_time_s"] = max_training_time_s
        if max_rollouts is not UNSET:
            field_dict["max_rollouts"] = max_rollouts

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_max_training_time_s(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        max_training_time_s = _parse_max_training_time_s(d.pop("max_training_time_s", UNSET))


        def _parse_max_rollouts(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_rollouts = _parse_max_rollouts(d.pop("max_rollouts", UNSET))


        resume_fine_tuning_job = cls(
            max_training_time_s=max_training_time_s,
            max_rollouts=max_rollouts,
        )


        resume_fine_tuning_job.additional_properties = d
        return resume_fine_tuning_job

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
