from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.plateau_rule_action import check_plateau_rule_action
from ..models.plateau_rule_action import PlateauRuleAction
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="PlateauRule")



@_attrs_define
class PlateauRule:
    """ Validation has not improved for a while; the base model's validation counts too.

        Attributes:
            action (PlateauRuleAction | Unset): The effect of the rule: none, an event, a pause, or the end with the best
                checkpoint. Default: 'warn'.
            evaluations (int | Unset): Validations in succession without a new best. Default: 3.
            min_improvement (float | Unset): Smallest improvement that counts as a new best, in the metric's own unit.
                Default: 0.01.
     """

    action: PlateauRuleAction | Unset = 'warn'
    evaluations: int | Unset = 3
    min_improvement: float | Unset = 0.01





    def to_dict(self) -> dict[str, Any]:
        action: str | Unset = UNSET
        if not isinstance(self.action, Unset):
            action = self.action


        evaluations = self.evaluations

        min_improvement = self.min_improvement


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if action is not UNSET:
            field_dict["action"] = action
        if evaluations is not UNSET:
            field_dict["evaluations"] = evaluations
        if min_improvement is not UNSET:
            field_dict["min_improvement"] = min_improvement

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        _action = d.pop("action", UNSET)
        action: PlateauRuleAction | Unset
        if isinstance(_action,  Unset):
            action = UNSET
        else:
            action = check_plateau_rule_action(_action)




        evaluations = d.pop("evaluations", UNSET)

        min_improvement = d.pop("min_improvement", UNSET)

        plateau_rule = cls(
            action=action,
            evaluations=evaluations,
            min_improvement=min_improvement,
        )

        return plateau_rule

