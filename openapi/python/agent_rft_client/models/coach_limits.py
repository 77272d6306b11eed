from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast






T = TypeVar("T", bound="CoachLimits")



@_attrs_define
class CoachLimits:
    """ Limits of a session over all its jobs; `null` is none.

        Attributes:
            jobs (int | None): Jobs that measure, and jobs that train.
            rollouts (int | None): Rollouts of all jobs.
            tokens (int | None): Tokens of prompts and answers of all jobs.
            seconds (float | None): Time of all jobs.
     """

    jobs: int | None
    rollouts: int | None
    tokens: int | None
    seconds: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        jobs: int | None
        jobs = self.jobs

        rollouts: int | None
        rollouts = self.rollouts

        tokens: int | None
        tokens = self.tokens

        seconds: float | None
        seconds = self.seconds


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "jobs": jobs,
            "rollouts": rollouts,
            "tokens": tokens,
            "seconds": seconds,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_jobs(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        jobs = _parse_jobs(d.pop("jobs"))


        def _parse_rollouts(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        rollouts = _parse_rollouts(d.pop("rollouts"))


        def _parse_tokens(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        tokens = _parse_tokens(d.pop("tokens"))


        def _parse_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        seconds = _parse_seconds(d.pop("seconds"))


        coach_limits = cls(
            jobs=jobs,
            rollouts=rollouts,
            tokens=tokens,
            seconds=seconds,
        )


        coach_limits.additional_properties = d
        return coach_limits

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
