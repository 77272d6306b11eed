from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.rollout_split import check_rollout_split
from ..models.rollout_split import RolloutSplit
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.rollout_components import RolloutComponents
  from ..models.rollout_trace import RolloutTrace





T = TypeVar("T", bound="Rollout")



@_attrs_define
class Rollout:
    """ One rollout of a job: its messages, calls and grades.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['fine_tuning.job.rollout']): Type of the object; each type has one constant value. Default:
                'fine_tuning.job.rollout'.
            fine_tuning_job_id (str): Id of the job.
            split (RolloutSplit): `train`, `valid`, `valid_greedy` (temperature 0), `valid_base` or `report`.
            step (int): The step that it belongs to; 0 is before training.
            prompt_index (int): Row number in the split's file, from 0.
            sample_index (int): Number of the rollout in its group, from 0.
            trace_id (str): Id sent to tools and graders with the calls of this rollout.
            reward (float | None): `null` when the rollout was discarded: a failure is never a reward.
            shaped_reward (float | None): The reward less all terms of the job's objective; of graded rollouts of a trained
                step.
            advantage (float | None): The advantage that its tokens were trained with, before a KL penalty, which changes
                that of each token by its own distance. `null` where it trained nothing: it belongs to no trained step, was
                lost, or its group is masked or has equal rewards.
            failure_class (None | str): Class of the infrastructure failure, if the rollout was lost.
            failure_message (None | str): The failure in a sentence.
            stop_reason (None | str): `final_answer`, or the limit that it reached.
            policy_version (int): The last version of the policy that sampled it.
            prompt_tokens (int): Tokens of the prompt.
            completion_tokens (int): Tokens that the policy sampled.
            reasoning_tokens (int): The sampled tokens that are reasoning.
            tool_calls (int): Tool calls that were run.
            components (RolloutComponents): Numbers besides the reward, such as the scores of a multi grader's parts, by
                name.
            trace (RolloutTrace): Messages, turns, tool calls and grades.
            started_at (float): Unix seconds.
            finished_at (float): Unix seconds.
     """

    id: str
    fine_tuning_job_id: str
    split: RolloutSplit
    step: int
    prompt_index: int
    sample_index: int
    trace_id: str
    reward: float | None
    shaped_reward: float | None
    advantage: float | None
    failure_class: None | str
    failure_message: None | str
    stop_reason: None | str
    policy_version: int
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    tool_calls: int
    components: RolloutComponents
    trace: RolloutTrace
    started_at: float
    finished_at: float
    object_: Literal['fine_tuning.job.rollout'] = 'fine_tuning.job.rollout'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.rollout_components import RolloutComponents # noqa: PLC0415
        from ..models.rollout_trace import RolloutTrace # noqa: PLC0415
        id = self.id

        object_ = self.object_

        fine_tuning_job_id = self.fine_tuning_job_id

        split: str = self.split

        step = self.step

        prompt_index = self.prompt_index

        sample_index = self.sample_index

        trace_id = self.trace_id

        reward: float | None
        reward = self.reward

        shaped_reward: float | None
        shaped_reward = self.shaped_reward

        advantage: float | None
        advantage = self.advantage

        failure_class: None | str
        failure_class = self.failure_class

        failure_message: None | str
        failure_message = self.failure_message

        stop_reason: None | str
        stop_reason = self.stop_reason

        policy_version = self.policy_version

        prompt_tokens = self.prompt_tokens

        completion_tokens = self.completion_tokens

        reasoning_tokens = self.reasoning_tokens

        tool_calls = self.tool_calls

        components = self.components.to_dict()

        trace = self.trace.to_dict()

        started_at = self.started_at

        finished_at = self.finished_at


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "fine_tuning_job_id": fine_tuning_job_id,
            "split": split,
            "step": step,
            "prompt_index": prompt_index,
            "sample_index": sample_index,
            "trace_id": trace_id,
            "reward": reward,
            "shaped_reward": shaped_reward,
            "advantage": advantage,
            "failure_class": failure_class,
            "failure_message": failure_message,
            "stop_reason": stop_reason,
            "policy_version": policy_version,
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "reasoning_tokens": reasoning_tokens,
            "tool_calls": tool_calls,
            "components": components,
            "trace": trace,
            "started_at": started_at,
            "finished_at": finished_at,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.rollout_components import RolloutComponents # noqa: PLC0415
        from ..models.rollout_trace import RolloutTrace # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['fine_tuning.job.rollout'] , d.pop("object"))
        if object_ != 'fine_tuning.job.rollout':
            raise ValueError(f"object must match const 'fine_tuning.job.rollout', got '{object_}'")

        fine_tuning_job_id = d.pop("fine_tuning_job_id")

        split = check_rollout_split(d.pop("split"))




        step = d.pop("step")

        prompt_index = d.pop("prompt_index")

        sample_index = d.pop("sample_index")

        trace_id = d.pop("trace_id")

        def _parse_reward(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        reward = _parse_reward(d.pop("reward"))


        def _parse_shaped_reward(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        shaped_reward = _parse_shaped_reward(d.pop("shaped_reward"))


        def _parse_advantage(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        advantage = _parse_advantage(d.pop("advantage"))


        def _parse_failure_class(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        failure_class = _parse_failure_class(d.pop("failure_class"))


        def _parse_failure_message(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        failure_message = _parse_failure_message(d.pop("failure_message"))


        def _parse_stop_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        stop_reason = _parse_stop_reason(d.pop("stop_reason"))


        policy_version = d.pop("policy_version")

        prompt_tokens = d.pop("prompt_tokens")

        completion_tokens = d.pop("completion_tokens")

        reasoning_tokens = d.pop("reasoning_tokens")

        tool_calls = d.pop("tool_calls")

        components = RolloutComponents.from_dict(d.pop("components"))




        trace = RolloutTrace.from_dict(d.pop("trace"))




        started_at = d.pop("started_at")

        finished_at = d.pop("finished_at")

        rollout = cls(
            id=id,
            object_=object_,
            fine_tuning_job_id=fine_tuning_job_id,
            split=split,
            step=step,
            prompt_index=prompt_index,
            sample_index=sample_index,
            trace_id=trace_id,
            reward=reward,
            shaped_reward=shaped_reward,
            advantage=advantage,
            failure_class=failure_class,
            failure_message=failure_message,
            stop_reason=stop_reason,
            policy_version=policy_version,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            reasoning_tokens=reasoning_tokens,
            tool_calls=tool_calls,
            components=components,
            trace=trace,
            started_at=started_at,
            finished_at=finished_at,
        )


        rollout.additional_properties = d
        return rollout

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
