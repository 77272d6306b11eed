from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="FineTuningUsage")



@_attrs_define
class FineTuningUsage:
    """ The usage of training runs, up to their last committed step.

        Attributes:
            project_id (None | str): The project, when results are grouped by it.
            api_key_id (None | str): The API key that called, or that created the job, when results are grouped by it.
            object_ (Literal['organization.usage.fine_tuning.result']): Type of the object; each type has one constant
                value. Default: 'organization.usage.fine_tuning.result'.
            input_tokens (int): Tokens of the prompts of rollouts.
            output_tokens (int): Tokens that were sampled in rollouts.
            trained_tokens (int): Tokens with a weight in the loss.
            num_rollouts (int): Rollouts of training and validation, discarded ones included.
            num_tool_calls (int): Calls of tools that rollouts made, refused ones included.
            num_grader_calls (int): Scores that graders gave; each child of a `multi` grader counts.
            judge_input_tokens (int): Tokens that model graders read.
            judge_output_tokens (int): Tokens that model graders sampled.
            training_seconds (float): Wall time of runs.
            gpu_seconds (float): Wall time multiplied by the accelerators that trainers use; 0 on a CPU.
            model (None | str): The model that training started from, when results are grouped by it.
            fine_tuning_job_id (None | str): The job, when results are grouped by `job_id`.
     """

    project_id: None | str
    api_key_id: None | str
    input_tokens: int
    output_tokens: int
    trained_tokens: int
    num_rollouts: int
    num_tool_calls: int
    num_grader_calls: int
    judge_input_tokens: int
    judge_output_tokens: int
    training_seconds: float
    gpu_seconds: float
    model: None | str
    fine_tuning_job_id: None | str
    object_: Literal['organization.usage.fine_tuning.result'] = 'organization.usage.fine_tuning.result'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        project_id: None | str
        project_id = self.project_id

        api_key_id: None | str
        api_key_id = self.api_key_id

        object_ = self.object_

        input_tokens = self.input_tokens

        output_tokens = self.output_tokens

        trained_tokens = self.trained_tokens

        num_rollouts = self.num_rollouts

        num_tool_calls = self.num_tool_calls

        num_grader_calls = self.num_grader_calls

        judge_input_tokens = self.judge_input_tokens

        judge_output_tokens = self.judge_output_tokens

        training_seconds = self.training_seconds

        gpu_seconds = self.gpu_seconds

        model: None | str
        model = self.model

        fine_tuning_job_id: None | str
        fine_tuning_job_id = self.fine_tuning_job_id


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "project_id": project_id,
            "api_key_id": api_key_id,
            "object": object_,
            "input_tokens": input_tokens,
            "output_tokens": output_tokens,
            "trained_tokens": trained_tokens,
            "num_rollouts": num_rollouts,
            "num_tool_calls": num_tool_calls,
            "num_grader_calls": num_grader_calls,
            "judge_input_tokens": judge_input_tokens,
            "judge_output_tokens": judge_output_tokens,
            "training_seconds": training_seconds,
            "gpu_seconds": gpu_seconds,
            "model": model,
            "fine_tuning_job_id": fine_tuning_job_id,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_project_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        project_id = _parse_project_id(d.pop("project_id"))


        def _parse_api_key_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        api_key_id = _parse_api_key_id(d.pop("api_key_id"))


        object_ = cast(Literal['organization.usage.fine_tuning.result'] , d.pop("object"))
        if object_ != 'organization.usage.fine_tuning.result':
            raise ValueError(f"object must match const 'organization.usage.fine_tuning.result', got '{object_}'")

        input_tokens = d.pop("input_tokens")

        output_tokens = d.pop("output_tokens")

        trained_tokens = d.pop("trained_tokens")

        num_rollouts = d.pop("num_rollouts")

        num_tool_calls = d.pop("num_tool_calls")

        num_grader_calls = d.pop("num_grader_calls")

        judge_input_tokens = d.pop("judge_input_tokens")

        judge_output_tokens = d.pop("judge_output_tokens")

        training_seconds = d.pop("training_seconds")

        gpu_seconds = d.pop("gpu_seconds")

        def _parse_model(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        model = _parse_model(d.pop("model"))


        def _parse_fine_tuning_job_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        fine_tuning_job_id = _parse_fine_tuning_job_id(d.pop("fine_tuning_job_id"))


        fine_tuning_usage = cls(
            project_id=project_id,
            api_key_id=api_key_id,
            object_=object_,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            trained_tokens=trained_tokens,
            num_rollouts=num_rollouts,
            num_tool_calls=num_tool_calls,
            num_grader_calls=num_grader_calls,
            judge_input_tokens=judge_input_tokens,
            judge_output_tokens=judge_output_tokens,
            training_seconds=training_seconds,
            gpu_seconds=gpu_seconds,
            model=model,
            fine_tuning_job_id=fine_tuning_job_id,
        )


        fine_tuning_usage.additional_properties = d
        return fine_tuning_usage

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
