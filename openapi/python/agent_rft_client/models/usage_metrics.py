from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.usage_metrics_model_graders import UsageMetricsModelGraders





T = TypeVar("T", bound="UsageMetrics")



@_attrs_define
class UsageMetrics:
    """ Usage of the job up to its last committed step. Times in seconds.

        Attributes:
            training_time_s (float): Wall time of the run; the basis of `max_training_time_s` and of the price.
            sampling_time_s (float): Part of it in which rollouts were played.
            update_time_s (float): Part of it in which weights were trained.
            evaluation_time_s (float): Part of it in which validations ran.
            rollouts (int): Rollouts of training and validation; `max_rollouts` limits them.
            prompt_tokens (int): Tokens of prompts.
            completion_tokens (int): Tokens that were sampled.
            tool_calls (int): Calls of tools that were run.
            grader_calls (int): Scores that graders gave; each child of a `multi` grader counts.
            trained_tokens (int): Tokens with a weight in the loss.
            gpu_seconds (float): Wall time multiplied by the accelerators that the trainer uses; 0 on a CPU.
            estimated_cost (float | None): Cost in `currency`; null while the operator has set no price.
            currency (None | str): Currency of `estimated_cost`.
            model_graders (UsageMetricsModelGraders): Tokens that model graders used, by model.
     """

    training_time_s: float
    sampling_time_s: float
    update_time_s: float
    evaluation_time_s: float
    rollouts: int
    prompt_tokens: int
    completion_tokens: int
    tool_calls: int
    grader_calls: int
    trained_tokens: int
    gpu_seconds: float
    estimated_cost: float | None
    currency: None | str
    model_graders: UsageMetricsModelGraders
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.usage_metrics_model_graders import UsageMetricsModelGraders # noqa: PLC0415
        training_time_s = self.training_time_s

        sampling_time_s = self.sampling_time_s

        update_time_s = self.update_time_s

        evaluation_time_s = self.evaluation_time_s

        rollouts = self.rollouts

        prompt_tokens = self.prompt_tokens

        completion_tokens = self.completion_tokens

        tool_calls = self.tool_calls

        grader_calls = self.grader_calls

        trained_tokens = self.trained_tokens

        gpu_seconds = self.gpu_seconds

        estimated_cost: float | None
        estimated_cost = self.estimated_cost

        currency: None | str
        currency = self.currency

        model_graders = self.model_graders.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "training_time_s": training_time_s,
            "sampling_time_s": sampling_time_s,
            "update_time_s": update_time_s,
            "evaluation_time_s": evaluation_time_s,
            "rollouts": rollouts,
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "tool_calls": tool_calls,
            "grader_calls": grader_calls,
            "trained_tokens": trained_tokens,
            "gpu_seconds": gpu_seconds,
            "estimated_cost": estimated_cost,
            "currency": currency,
            "model_graders": model_graders,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.usage_metrics_model_graders import UsageMetricsModelGraders # noqa: PLC0415
        d = dict(src_dict)
        training_time_s = d.pop("training_time_s")

        sampling_time_s = d.pop("sampling_time_s")

        update_time_s = d.pop("update_time_s")

        evaluation_time_s = d.pop("evaluation_time_s")

        rollouts = d.pop("rollouts")

        prompt_tokens = d.pop("prompt_tokens")

        completion_tokens = d.pop("completion_tokens")

        tool_calls = d.pop("tool_calls")

        grader_calls = d.pop("grader_calls")

        trained_tokens = d.pop("trained_tokens")

        gpu_seconds = d.pop("gpu_seconds")

        def _parse_estimated_cost(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        estimated_cost = _parse_estimated_cost(d.pop("estimated_cost"))


        def _parse_currency(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        currency = _parse_currency(d.pop("currency"))


        model_graders = UsageMetricsModelGraders.from_dict(d.pop("model_graders"))




        usage_metrics = cls(
            training_time_s=training_time_s,
            sampling_time_s=sampling_time_s,
            update_time_s=update_time_s,
            evaluation_time_s=evaluation_time_s,
            rollouts=rollouts,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            tool_calls=tool_calls,
            grader_calls=grader_calls,
            trained_tokens=trained_tokens,
            gpu_seconds=gpu_seconds,
            estimated_cost=estimated_cost,
            currency=currency,
            model_graders=model_graders,
        )


        usage_metrics.additional_properties = d
        return usage_metrics

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
