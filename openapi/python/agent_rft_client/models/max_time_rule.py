from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.max_time_rule_action import check_max_time_rule_action
from ..models.max_time_rule_action import MaxTimeRuleAction
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="MaxTimeRule")



@_attrs_define
class MaxTimeRule:
    """ Ends the job after a time of training.

        Attributes:
            seconds (float): Time of committed steps, with publishing and validation, without waiting and restarts.
            action (MaxTimeRuleAction | Unset): The effect of the rule: none, an event, a pause, or the end with the best
                checkpoint. Default: 'stop'.
     """

    seconds: float
    action: MaxTimeRuleAction | Unset = 'stop'





    def to_dict(self) -> dict[str, Any]:
        seconds = self.seconds

        action: str | Unset = UNSET
        if not isinstance(self.action, Unset):
            action = self.action



        field_dict: dict[str, Any] = {}

        field_dict.update({
            "seconds": seconds,
        })
        if action is not UNSET:
            field_dict["action"] = action

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        seconds = d.pop("seconds")

        _action = d.pop("action", UNSET)
        action: MaxTimeRuleAction | Unset
        if isinstance(_action,  Unset):
            action = UNSET
        else:
            action = check_max_time_rule_action(_action)




        max_time_rule = cls(
            seconds=seconds,
            action=action,
        )

        return max_time_rule

