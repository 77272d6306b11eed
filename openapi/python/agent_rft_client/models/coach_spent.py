from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="CoachSpent")



@_attrs_define
class CoachSpent:
    """ Resources that the jobs of a session used; a job's are added at its end.

        Attributes:
            jobs (int): Jobs that measured, and jobs that trained.
            rollouts (int): Rollouts of all jobs.
            tokens (int): Tokens of prompts and answers of all jobs.
            seconds (float): Time of all jobs.
     """

    jobs: int
    rollouts: int
    tokens: int
    seconds: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        jobs = self.jobs

        rollouts = self.rollouts

        tokens = self.tokens

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
        jobs = d.pop("jobs")

        rollouts = d.pop("rollouts")

        tokens = d.pop("tokens")

        seconds = d.pop("seconds")

        coach_spent = cls(
            jobs=jobs,
            rollouts=rollouts,
            tokens=tokens,
            seconds=seconds,
        )


        coach_spent.additional_properties = d
        return coach_spent

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
