from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.estimate_basis import check_estimate_basis
from ..models.estimate_basis import EstimateBasis
from typing import cast






T = TypeVar("T", bound="Estimate")



@_attrs_define
class Estimate:
    """ Estimated cost of the job if it runs to its last step.

        Attributes:
            total_steps (int): Optimizer steps.
            train_rollouts (int): Rollouts of training.
            validation_rollouts (int): Rollouts of all validations.
            prompt_tokens (int): Tokens of all prompts.
            completion_tokens (int): Tokens that the policy would sample.
            training_seconds (float | None): Wall time of one worker, `None` if the pace is unknown.
            basis (EstimateBasis): `history`: the pace and lengths of this project's finished jobs on the same base model.
            explanation (str): The basis of the numbers in a sentence.
     """

    total_steps: int
    train_rollouts: int
    validation_rollouts: int
    prompt_tokens: int
    completion_tokens: int
    training_seconds: float | None
    basis: EstimateBasis
    explanation: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        total_steps = self.total_steps

        train_rollouts = self.train_rollouts

        validation_rollouts = self.validation_rollouts

        prompt_tokens = self.prompt_tokens

        completion_tokens = self.completion_tokens

        training_seconds: float | None
        training_seconds = self.training_seconds

        basis: str = self.basis

        explanation = self.explanation


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "total_steps": total_steps,
            "train_rollouts": train_rollouts,
            "validation_rollouts": validation_rollouts,
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "training_seconds": training_seconds,
            "basis": basis,
            "explanation": explanation,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        total_steps = d.pop("total_steps")

        train_rollouts = d.pop("train_rollouts")

        validation_rollouts = d.pop("validation_rollouts")

        prompt_tokens = d.pop("prompt_tokens")

        completion_tokens = d.pop("completion_tokens")

        def _parse_training_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        training_seconds = _parse_training_seconds(d.pop("training_seconds"))


        basis = check_estimate_basis(d.pop("basis"))




        explanation = d.pop("explanation")

        estimate = cls(
            total_steps=total_steps,
            train_rollouts=train_rollouts,
            validation_rollouts=validation_rollouts,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            training_seconds=training_seconds,
            basis=basis,
            explanation=explanation,
        )


        estimate.additional_properties = d
        return estimate

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
