from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.coach_numbers_gains import CoachNumbersGains





T = TypeVar("T", bound="CoachNumbers")



@_attrs_define
class CoachNumbers:
    """ The numbers of an entry; each kind of entry has those that its text is about.

        Attributes:
            mean (float | None | Unset): Mean score of the held-out rows.
            first_mean (float | None | Unset): Mean score at the start.
            rows (int | Unset): Held-out rows that were measured.
            lost (int | Unset): Attempts that failures lost.
            prompt (int | Unset): Number of the system prompt, from 1.
            gain (float | None | Unset): Gain of the mean score.
            interval (list[float] | None | Unset): 95 % interval of the gain; `null` for too few rows.
            gains (CoachNumbersGains | Unset): Expected gain of each group that is practised.
            job (None | str | Unset): Id of the training job.
            skill (str | Unset): Id of the skill.
            status (str | Unset): State of the skill after the gate.
     """

    mean: float | None | Unset = UNSET
    first_mean: float | None | Unset = UNSET
    rows: int | Unset = UNSET
    lost: int | Unset = UNSET
    prompt: int | Unset = UNSET
    gain: float | None | Unset = UNSET
    interval: list[float] | None | Unset = UNSET
    gains: CoachNumbersGains | Unset = UNSET
    job: None | str | Unset = UNSET
    skill: str | Unset = UNSET
    status: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.coach_numbers_gains import CoachNumbersGains # noqa: PLC0415
        mean: float | None | Unset
        if isinstance(self.mean, Unset):
            mean = UNSET
        else:
            mean = self.mean

        first_mean: float | None | Unset
        if isinstance(self.first_mean, Unset):
            first_mean = UNSET
        else:
            first_mean = self.first_mean

        rows = self.rows

        lost = self.lost

        prompt = self.prompt

        gain: float | None | Unset
        if isinstance(self.gain, Unset):
            gain = UNSET
        else:
            gain = self.gain

        interval: list[float] | None | Unset
        if isinstance(self.interval, Unset):
            interval = UNSET
        elif isinstance(self.interval, list):
            interval = self.interval


        else:
            interval = self.interval

        gains: dict[str, Any] | Unset = UNSET
        if not isinstance(self.gains, Unset):
            gains = self.gains.to_dict()

        job: None | str | Unset
        if isinstance(self.job, Unset):
            job = UNSET
        else:
            job = self.job

        skill = self.skill

        status = self.status


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if mean is not UNSET:
            field_dict["mean"] = mean
        if first_mean is not UNSET:
            field_dict["first_mean"] = first_mean
        if rows is not UNSET:
            field_dict["rows"] = rows
        if lost is not UNSET:
            field_dict["lost"] = lost
        if prompt is not UNSET:
            field_dict["prompt"] = prompt
        if gain is not UNSET:
            field_dict["gain"] = gain
        if interval is not UNSET:
            field_dict["interval"] = interval
        if gains is not UNSET:
            field_dict["gains"] = gains
        if job is not UNSET:
            field_dict["job"] = job
        if skill is not UNSET:
            field_dict["skill"] = skill
        if status is not UNSET:
            field_dict["status"] = status

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.coach_numbers_gains import CoachNumbersGains # noqa: PLC0415
        d = dict(src_dict)
        def _parse_mean(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        mean = _parse_mean(d.pop("mean", UNSET))


        def _parse_first_mean(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        first_mean = _parse_first_mean(d.pop("first_mean", UNSET))


        rows = d.pop("rows", UNSET)

        lost = d.pop("lost", UNSET)

        prompt = d.pop("prompt", UNSET)

        def _parse_gain(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        gain = _parse_gain(d.pop("gain", UNSET))


        def _parse_interval(data: object) -> list[float] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                interval_type_0 = cast(list[float], data)

                return interval_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[float] | None | Unset, data)

        interval = _parse_interval(d.pop("interval", UNSET))


        _gains = d.pop("gains", UNSET)
        gains: CoachNumbersGains | Unset
        if isinstance(_gains,  Unset):
            gains = UNSET
        else:
            gains = CoachNumbersGains.from_dict(_gains)




        def _parse_job(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        job = _parse_job(d.pop("job", UNSET))


        skill = d.pop("skill", UNSET)

        status = d.pop("status", UNSET)

        coach_numbers = cls(
            mean=mean,
            first_mean=first_mean,
            rows=rows,
            lost=lost,
            prompt=prompt,
            gain=gain,
            interval=interval,
            gains=gains,
            job=job,
            skill=skill,
            status=status,
        )


        coach_numbers.additional_properties = d
        return coach_numbers

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
