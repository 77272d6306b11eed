from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.coach_numbers_gains import CoachNumbersGains





T = TypeVar("T", bound="CoachNumbers")



@_attrs_define
class CoachNumbers:
    """ The numbers of an entry; each kind of entry has those that its text is about.

        Attributes:
            mean (float | None): Mean score of the held-out rows.
            first_mean (float | None): Mean score at the start.
            rows (int): Held-out rows that were measured.
            lost (int): Attempts that failures lost.
            prompt (int): Number of the system prompt, from 1.
            gain (float | None): Gain of the mean score.
            interval (list[float] | None): 95 % interval of the gain; `null` for too few rows.
            gains (CoachNumbersGains): Expected gain of each group that is practised.
            job (None | str): Id of the training job.
            skill (str): Id of the skill.
            status (str): State of the skill after the gate.
     """

    mean: float | None
    first_mean: float | None
    rows: int
    lost: int
    prompt: int
    gain: float | None
    interval: list[float] | None
    gains: CoachNumbersGains
    job: None | str
    skill: str
    status: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.coach_numbers_gains import CoachNumbersGains # noqa: PLC0415
        mean: float | None
        mean = self.mean

        first_mean: float | None
        first_mean = self.first_mean

        rows = self.rows

        lost = self.lost

        prompt = self.prompt

        gain: float | None
        gain = self.gain

        interval: list[float] | None
        if isinstance(self.interval, list):
            interval = self.interval


        else:
            interval = self.interval

        gains = self.gains.to_dict()

        job: None | str
        job = self.job

        skill = self.skill

        status = self.status


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "mean": mean,
            "first_mean": first_mean,
            "rows": rows,
            "lost": lost,
            "prompt": prompt,
            "gain": gain,
            "interval": interval,
            "gains": gains,
            "job": job,
            "skill": skill,
            "status": status,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.coach_numbers_gains import CoachNumbersGains # noqa: PLC0415
        d = dict(src_dict)
        def _parse_mean(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        mean = _parse_mean(d.pop("mean"))


        def _parse_first_mean(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        first_mean = _parse_first_mean(d.pop("first_mean"))


        rows = d.pop("rows")

        lost = d.pop("lost")

        prompt = d.pop("prompt")

        def _parse_gain(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        gain = _parse_gain(d.pop("gain"))


        def _parse_interval(data: object) -> list[float] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                interval_type_0 = cast(list[float], data)

                return interval_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[float] | None, data)

        interval = _parse_interval(d.pop("interval"))


        gains = CoachNumbersGains.from_dict(d.pop("gains"))




        def _parse_job(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        job = _parse_job(d.pop("job"))


        skill = d.pop("skill")

        status = d.pop("status")

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
