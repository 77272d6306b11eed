from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast






T = TypeVar("T", bound="SkillComparison")



@_attrs_define
class SkillComparison:
    """ A paired comparison of the skill's model with the one that it would replace.

        Attributes:
            subject (str): `target` for the held-out rows of the skill's job, or the id of an eval.
            difference (float | None): Mean over rows of the new score less the old one; `null` if they cannot be compared.
            interval (list[float] | None): 95 % interval of the paired difference; `null` for fewer than 6 rows.
            rows (int): Rows that both models answered.
            fault (None | str): The reason for which the models cannot be compared; `null` if they can.
     """

    subject: str
    difference: float | None
    interval: list[float] | None
    rows: int
    fault: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        subject = self.subject

        difference: float | None
        difference = self.difference

        interval: list[float] | None
        if isinstance(self.interval, list):
            interval = self.interval


        else:
            interval = self.interval

        rows = self.rows

        fault: None | str
        fault = self.fault


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "subject": subject,
            "difference": difference,
            "interval": interval,
            "rows": rows,
            "fault": fault,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        subject = d.pop("subject")

        def _parse_difference(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        difference = _parse_difference(d.pop("difference"))


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


        rows = d.pop("rows")

        def _parse_fault(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        fault = _parse_fault(d.pop("fault"))


        skill_comparison = cls(
            subject=subject,
            difference=difference,
            interval=interval,
            rows=rows,
            fault=fault,
        )


        skill_comparison.additional_properties = d
        return skill_comparison

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
