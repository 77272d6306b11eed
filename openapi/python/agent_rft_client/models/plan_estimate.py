from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast






T = TypeVar("T", bound="PlanEstimate")



@_attrs_define
class PlanEstimate:
    """ Estimated cost of a plan's job if no rule stops it early.

        Attributes:
            training_rows (int): Rows of the training file.
            validation_rows (int | None): Rows of the validation file; `null` without one.
            total_steps (int): Optimizer steps of the whole job.
            rollouts (int): Rollouts of training and all validations; 0 for methods that sample none.
            prompt_tokens (int | None): Tokens of the prompts of all rollouts; `null` if they are unknown.
            completion_tokens (int | None): Tokens that the model would sample; `null` if they are unknown.
            training_seconds (float | None): Seconds on one worker by the measured pace of finished jobs; `null` without
                one.
            explanation (str): The basis of the numbers, and the reason for each `null`.
     """

    training_rows: int
    validation_rows: int | None
    total_steps: int
    rollouts: int
    prompt_tokens: int | None
    completion_tokens: int | None
    training_seconds: float | None
    explanation: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        training_rows = self.training_rows

        validation_rows: int | None
        validation_rows = self.validation_rows

        total_steps = self.total_steps

        rollouts = self.rollouts

        prompt_tokens: int | None
        prompt_tokens = self.prompt_tokens

        completion_tokens: int | None
        completion_tokens = self.completion_tokens

        training_seconds: float | None
        training_seconds = self.training_seconds

        explanation = self.explanation


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "training_rows": training_rows,
            "validation_rows": validation_rows,
            "total_steps": total_steps,
            "rollouts": rollouts,
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "training_seconds": training_seconds,
            "explanation": explanation,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        training_rows = d.pop("training_rows")

        def _parse_validation_rows(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        validation_rows = _parse_validation_rows(d.pop("validation_rows"))


        total_steps = d.pop("total_steps")

        rollouts = d.pop("rollouts")

        def _parse_prompt_tokens(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        prompt_tokens = _parse_prompt_tokens(d.pop("prompt_tokens"))


        def _parse_completion_tokens(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        completion_tokens = _parse_completion_tokens(d.pop("completion_tokens"))


        def _parse_training_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        training_seconds = _parse_training_seconds(d.pop("training_seconds"))


        explanation = d.pop("explanation")

        plan_estimate = cls(
            training_rows=training_rows,
            validation_rows=validation_rows,
            total_steps=total_steps,
            rollouts=rollouts,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            training_seconds=training_seconds,
            explanation=explanation,
        )


        plan_estimate.additional_properties = d
        return plan_estimate

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
