from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast






T = TypeVar("T", bound="CoachPrompt")



@_attrs_define
class CoachPrompt:
    """ A system prompt that was tried before training.

        Attributes:
            prompt (str): The text of the system prompt.
            mean (float | None): Mean score with the prompt; `null` if nothing was scored.
            gain (float | None): Paired difference to the rows as they are.
            interval (list[float] | None): 95 % interval of the difference, which allows for the prompts before; `null` for
                too few rows.
            enough (bool): True if the prompt is clearly better, and reaches the target or leaves nothing to gain.
     """

    prompt: str
    mean: float | None
    gain: float | None
    interval: list[float] | None
    enough: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        prompt = self.prompt

        mean: float | None
        mean = self.mean

        gain: float | None
        gain = self.gain

        interval: list[float] | None
        if isinstance(self.interval, list):
            interval = self.interval


        else:
            interval = self.interval

        enough = self.enough


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "prompt": prompt,
            "mean": mean,
            "gain": gain,
            "interval": interval,
            "enough": enough,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        prompt = d.pop("prompt")

        def _parse_mean(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        mean = _parse_mean(d.pop("mean"))


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


        enough = d.pop("enough")

        coach_prompt = cls(
            prompt=prompt,
            mean=mean,
            gain=gain,
            interval=interval,
            enough=enough,
        )


        coach_prompt.additional_properties = d
        return coach_prompt

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
