from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.chosen_reward_rule import ChosenRewardRule
  from ..models.gap_rule import GapRule
  from ..models.max_steps_rule import MaxStepsRule
  from ..models.max_time_rule import MaxTimeRule
  from ..models.nothing_trained_rule import NothingTrainedRule
  from ..models.plateau_rule import PlateauRule
  from ..models.target_rule import TargetRule





T = TypeVar("T", bound="PreferenceStopOptions")



@_attrs_define
class PreferenceStopOptions:
    """ Stop rules of a preference job: those of every method, and those that read pairs.

        Attributes:
            plateau (PlateauRule | Unset): Validation has not improved for a while; the base model's validation counts too.
            target (None | TargetRule | Unset): Validation has reached a target; `null` is off.
            max_steps (MaxStepsRule | None | Unset): A number of steps; `null` is off.
            max_time (MaxTimeRule | None | Unset): A time of training; `null` is off.
            gap (GapRule | Unset): Training has diverged from validation: the policy has memorised rows, or exploits the
                grader.
            nothing_trained (NothingTrainedRule | Unset): No step of the job has changed a weight so far.
            chosen_reward (ChosenRewardRule | Unset): Training makes the preferred answers less probable than the model that
                it started from.
     """

    plateau: PlateauRule | Unset = UNSET
    target: None | TargetRule | Unset = UNSET
    max_steps: MaxStepsRule | None | Unset = UNSET
    max_time: MaxTimeRule | None | Unset = UNSET
    gap: GapRule | Unset = UNSET
    nothing_trained: NothingTrainedRule | Unset = UNSET
    chosen_reward: ChosenRewardRule | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.chosen_reward_rule import ChosenRewardRule # noqa: PLC0415
        from ..models.gap_rule import GapRule # noqa: PLC0415
        from ..models.max_steps_rule import MaxStepsRule # noqa: PLC0415
        from ..models.max_time_rule import MaxTimeRule # noqa: PLC0415
        from ..models.nothing_trained_rule import NothingTrainedRule # noqa: PLC0415
        from ..models.plateau_rule import PlateauRule # noqa: PLC0415
        from ..models.target_rule import TargetRule # noqa: PLC0415
        plateau: dict[str, Any] | Unset = UNSET
        if not isinstance(self.plateau, Unset):
            plateau = self.plateau.to_dict()

        target: dict[str, Any] | None | Unset
        if isinstance(self.target, Unset):
            target = UNSET
        elif isinstance(self.target, TargetRule):
            target = self.target.to_dict()
        else:
            target = self.target

        max_steps: dict[str, Any] | None | Unset
        if isinstance(self.max_steps, Unset):
            max_steps = UNSET
        elif isinstance(self.max_steps, MaxStepsRule):
            max_steps = self.max_steps.to_dict()
        else:
            max_steps = self.max_steps

        max_time: dict[str, Any] | None | Unset
        if isinstance(self.max_time, Unset):
            max_time = UNSET
        elif isinstance(self.max_time, MaxTimeRule):
            max_time = self.max_time.to_dict()
        else:
            max_time = self.max_time

        gap: dict[str, Any] | Unset = UNSET
        if not isinstance(self.gap, Unset):
            gap = self.gap.to_dict()

        nothing_trained: dict[str, Any] | Unset = UNSET
        if not isinstance(self.nothing_trained, Unset):
            nothing_trained = self.nothing_trained.to_dict()

        chosen_reward: dict[str, Any] | Unset = UNSET
        if not isinstance(self.chosen_reward, Unset):
            chosen_reward = self.chosen_reward.to_dict()


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if plateau is not UNSET:
            field_dict["plateau"] = plateau
        if target is not UNSET:
            field_dict["target"] = target
        if max_steps is not UNSET:
            field_dict["max_steps"] = max_steps
        if max_time is not UNSET:
            field_dict["max_time"] = max_time
        if gap is not UNSET:
            field_dict["gap"] = gap
        if nothing_trained is not UNSET:
            field_dict["nothing_trained"] = nothing_trained
        if chosen_reward is not UNSET:
            field_dict["chosen_reward"] = chosen_reward

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chosen_reward_rule import ChosenRewardRule # noqa: PLC0415
        from ..models.gap_rule import GapRule # noqa: PLC0415
        from ..models.max_steps_rule import MaxStepsRule # noqa: PLC0415
        from ..models.max_time_rule import MaxTimeRule # noqa: PLC0415
        from ..models.nothing_trained_rule import NothingTrainedRule # noqa: PLC0415
        from ..models.plateau_rule import PlateauRule # noqa: PLC0415
        from ..models.target_rule import TargetRule # noqa: PLC0415
        d = dict(src_dict)
        _plateau = d.pop("plateau", UNSET)
        plateau: PlateauRule | Unset
        if isinstance(_plateau,  Unset):
            plateau = UNSET
        else:
            plateau = PlateauRule.from_dict(_plateau)




        def _parse_target(data: object) -> None | TargetRule | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                target_type_0 = TargetRule.from_dict(data)



                return target_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | TargetRule | Unset, data)

        target = _parse_target(d.pop("target", UNSET))


        def _parse_max_steps(data: object) -> MaxStepsRule | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                max_steps_type_0 = MaxStepsRule.from_dict(data)



                return max_steps_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MaxStepsRule | None | Unset, data)

        max_steps = _parse_max_steps(d.pop("max_steps", UNSET))


        def _parse_max_time(data: object) -> MaxTimeRule | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                max_time_type_0 = MaxTimeRule.from_dict(data)



                return max_time_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MaxTimeRule | None | Unset, data)

        max_time = _parse_max_time(d.pop("max_time", UNSET))


        _gap = d.pop("gap", UNSET)
        gap: GapRule | Unset
        if isinstance(_gap,  Unset):
            gap = UNSET
        else:
            gap = GapRule.from_dict(_gap)




        _nothing_trained = d.pop("nothing_trained", UNSET)
        nothing_trained: NothingTrainedRule | Unset
        if isinstance(_nothing_trained,  Unset):
            nothing_trained = UNSET
        else:
            nothing_trained = NothingTrainedRule.from_dict(_nothing_trained)




        _chosen_reward = d.pop("chosen_reward", UNSET)
        chosen_reward: ChosenRewardRule | Unset
        if isinstance(_chosen_reward,  Unset):
            chosen_reward = UNSET
        else:
            chosen_reward = ChosenRewardRule.from_dict(_chosen_reward)




        preference_stop_options = cls(
            plateau=plateau,
            target=target,
            max_steps=max_steps,
            max_time=max_time,
            gap=gap,
            nothing_trained=nothing_trained,
            chosen_reward=chosen_reward,
        )

        return preference_stop_options

