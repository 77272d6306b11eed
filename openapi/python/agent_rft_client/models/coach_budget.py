from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="CoachBudget")



@_attrs_define
class CoachBudget:
    """ Limits of a session over all its jobs. The session ends at the first that is reached.

        Attributes:
            jobs (int | None | Unset): Jobs that measure, and jobs that train; `null` sets no limit. Default: 8.
            rollouts (int | None | Unset): Rollouts of all jobs; absent: no limit.
            tokens (int | None | Unset): Tokens of prompts and answers of all jobs; absent: no limit.
            seconds (float | None | Unset): Time of all jobs; absent: no limit.
     """

    jobs: int | None | Unset = 8
    rollouts: int | None | Unset = UNSET
    tokens: int | None | Unset = UNSET
    seconds: float | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        jobs: int | None | Unset
        if isinstance(self.jobs, Unset):
            jobs = UNSET
        else:
            jobs = self.jobs

        rollouts: int | None | Unset
        if isinstance(self.rollouts, Unset):
            rollouts = UNSET
        else:
            rollouts = self.rollouts

        tokens: int | None | Unset
        if isinstance(self.tokens, Unset):
            tokens = UNSET
        else:
            tokens = self.tokens

        seconds: float | None | Unset
        if isinstance(self.seconds, Unset):
            seconds = UNSET
        else:
            seconds = self.seconds


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if jobs is not UNSET:
            field_dict["jobs"] = jobs
        if rollouts is not UNSET:
            field_dict["rollouts"] = rollouts
        if tokens is not UNSET:
            field_dict["tokens"] = tokens
        if seconds is not UNSET:
            field_dict["seconds"] = seconds

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_jobs(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        jobs = _parse_jobs(d.pop("jobs", UNSET))


        def _parse_rollouts(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        rollouts = _parse_rollouts(d.pop("rollouts", UNSET))


        def _parse_tokens(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        tokens = _parse_tokens(d.pop("tokens", UNSET))


        def _parse_seconds(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        seconds = _parse_seconds(d.pop("seconds", UNSET))


        coach_budget = cls(
            jobs=jobs,
            rollouts=rollouts,
            tokens=tokens,
            seconds=seconds,
        )


        coach_budget.additional_properties = d
        return coach_budget

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
