from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.nothing_to_learn_options_action import check_nothing_to_learn_options_action
from ..models.nothing_to_learn_options_action import NothingToLearnOptionsAction
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="NothingToLearnOptions")



@_attrs_define
class NothingToLearnOptions:
    """ Limits of the check of the base model's validation and of the first steps.

    A job in which nothing can be learned ends early with the reason.

        Attributes:
            action (NothingToLearnOptionsAction | Unset): `fail` ends the job with the reason and the correction in `error`;
                `warn` writes an event and continues; `off` disables the check. A job that trained nothing at all fails in any
                case. Default: 'fail'.
            error_share (float | Unset): Share of graded rollouts with the same grader error, or without any token to
                answer, from which the job ends. Default: 0.95.
            equal_rewards (int | Unset): Number of rollouts with equal reward from which the job ends. Fewer give a warning,
                unless the reward is the highest that the grader gives: then the job ends, since no report could show a gain.
                Default: 64.
            untrained_groups (int | Unset): Groups in succession from the first step on, none with different rewards, from
                which the job ends. Default: 60.
     """

    action: NothingToLearnOptionsAction | Unset = 'fail'
    error_share: float | Unset = 0.95
    equal_rewards: int | Unset = 64
    untrained_groups: int | Unset = 60





    def to_dict(self) -> dict[str, Any]:
        action: str | Unset = UNSET
        if not isinstance(self.action, Unset):
            action = self.action


        error_share = self.error_share

        equal_rewards = self.equal_rewards

        untrained_groups = self.untrained_groups


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if action is not UNSET:
            field_dict["action"] = action
        if error_share is not UNSET:
            field_dict["error_share"] = error_share
        if equal_rewards is not UNSET:
            field_dict["equal_rewards"] = equal_rewards
        if untrained_groups is not UNSET:
            field_dict["untrained_groups"] = untrained_groups

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        _action = d.pop("action", UNSET)
        action: NothingToLearnOptionsAction | Unset
        if isinstance(_action,  Unset):
            action = UNSET
        else:
            action = check_nothing_to_learn_options_action(_action)




        error_share = d.pop("error_share", UNSET)

        equal_rewards = d.pop("equal_rewards", UNSET)

        untrained_groups = d.pop("untrained_groups", UNSET)

        nothing_to_learn_options = cls(
            action=action,
            error_share=error_share,
            equal_rewards=equal_rewards,
            untrained_groups=untrained_groups,
        )

        return nothing_to_learn_options

