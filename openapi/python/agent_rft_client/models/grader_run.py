from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.grader_choice import GraderChoice
  from ..models.grader_run_metadata import GraderRunMetadata
  from ..models.grader_run_model_grader_token_usage_per_model import GraderRunModelGraderTokenUsagePerModel
  from ..models.grader_run_sub_rewards import GraderRunSubRewards





T = TypeVar("T", bound="GraderRun")



@_attrs_define
class GraderRun:
    """ Result of a trial run; a grader's fault gives reward 0 and error flags, not an HTTP error.

        Attributes:
            reward (float): The score.
            metadata (GraderRunMetadata): The numbers of a trial run beside its reward.
            sub_rewards (GraderRunSubRewards): Scores of a multi grader's parts, by name.
            model_grader_token_usage_per_model (GraderRunModelGraderTokenUsagePerModel): Tokens that judges used, by model.
            grader_choice (GraderChoice | None | Unset): The grader that `auto` stood for (an extension).
     """

    reward: float
    metadata: GraderRunMetadata
    sub_rewards: GraderRunSubRewards
    model_grader_token_usage_per_model: GraderRunModelGraderTokenUsagePerModel
    grader_choice: GraderChoice | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.grader_choice import GraderChoice # noqa: PLC0415
        from ..models.grader_run_metadata import GraderRunMetadata # noqa: PLC0415
        from ..models.grader_run_model_grader_token_usage_per_model import GraderRunModelGraderTokenUsagePerModel # noqa: PLC0415
        from ..models.grader_run_sub_rewards import GraderRunSubRewards # noqa: PLC0415
        reward = self.reward

        metadata = self.metadata.to_dict()

        sub_rewards = self.sub_rewards.to_dict()

        model_grader_token_usage_per_model = self.model_grader_token_usage_per_model.to_dict()

        grader_choice: dict[str, Any] | None | Unset
        if isinstance(self.grader_choice, Unset):
            grader_choice = UNSET
        elif isinstance(self.grader_choice, GraderChoice):
            grader_choice = self.grader_choice.to_dict()
        else:
            grader_choice = self.grader_choice


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "reward": reward,
            "metadata": metadata,
            "sub_rewards": sub_rewards,
            "model_grader_token_usage_per_model": model_grader_token_usage_per_model,
        })
        if grader_choice is not UNSET:
            field_dict["grader_choice"] = grader_choice

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.grader_choice import GraderChoice # noqa: PLC0415
        from ..models.grader_run_metadata import GraderRunMetadata # noqa: PLC0415
        from ..models.grader_run_model_grader_token_usage_per_model import GraderRunModelGraderTokenUsagePerModel # noqa: PLC0415
        from ..models.grader_run_sub_rewards import GraderRunSubRewards # noqa: PLC0415
        d = dict(src_dict)
        reward = d.pop("reward")

        metadata = GraderRunMetadata.from_dict(d.pop("metadata"))




        sub_rewards = GraderRunSubRewards.from_dict(d.pop("sub_rewards"))




        model_grader_token_usage_per_model = GraderRunModelGraderTokenUsagePerModel.from_dict(d.pop("model_grader_token_usage_per_model"))




        def _parse_grader_choice(data: object) -> GraderChoice | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_choice_type_0 = GraderChoice.from_dict(data)



                return grader_choice_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(GraderChoice | None | Unset, data)

        grader_choice = _parse_grader_choice(d.pop("grader_choice", UNSET))


        grader_run = cls(
            reward=reward,
            metadata=metadata,
            sub_rewards=sub_rewards,
            model_grader_token_usage_per_model=model_grader_token_usage_per_model,
            grader_choice=grader_choice,
        )


        grader_run.additional_properties = d
        return grader_run

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
