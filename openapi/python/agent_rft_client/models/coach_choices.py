from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.coach_choices_promote import check_coach_choices_promote
from ..models.coach_choices_promote import CoachChoicesPromote
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.coach_budget import CoachBudget





T = TypeVar("T", bound="CoachChoices")



@_attrs_define
class CoachChoices:
    """ Options of a session besides the improvement plan of its jobs: what it may do, and when it
    stops.

        Attributes:
            promote (CoachChoicesPromote | Unset): `automatic` makes each skill current that passed the gate; `ask` pauses
                for your decision. Default: 'automatic'.
            prompts (list[str] | Unset): System prompts to try before training; the rubric of the recipe is tried after
                them.
            samples (int | Unset): Attempts at each held-out row in a measurement. Default: 4.
            target (float | None | Unset): Mean score of the held-out rows at which the session ends; absent: none.
            min_gain (float | Unset): Gain of the mean score that is too small to go on for. Default: 0.02.
            patience (int | Unset): Rounds in succession without such a gain after which the session ends. Default: 2.
            budget (CoachBudget | Unset): Limits of a session over all its jobs. The session ends at the first that is
                reached.
     """

    promote: CoachChoicesPromote | Unset = 'automatic'
    prompts: list[str] | Unset = UNSET
    samples: int | Unset = 4
    target: float | None | Unset = UNSET
    min_gain: float | Unset = 0.02
    patience: int | Unset = 2
    budget: CoachBudget | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.coach_budget import CoachBudget # noqa: PLC0415
        promote: str | Unset = UNSET
        if not isinstance(self.promote, Unset):
            promote = self.promote


        prompts: list[str] | Unset = UNSET
        if not isinstance(self.prompts, Unset):
            prompts = self.prompts



        samples = self.samples

        target: float | None | Unset
        if isinstance(self.target, Unset):
            target = UNSET
        else:
            target = self.target

        min_gain = self.min_gain

        patience = self.patience

        budget: dict[str, Any] | Unset = UNSET
        if not isinstance(self.budget, Unset):
            budget = self.budget.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if promote is not UNSET:
            field_dict["promote"] = promote
        if prompts is not UNSET:
            field_dict["prompts"] = prompts
        if samples is not UNSET:
            field_dict["samples"] = samples
        if target is not UNSET:
            field_dict["target"] = target
        if min_gain is not UNSET:
            field_dict["min_gain"] = min_gain
        if patience is not UNSET:
            field_dict["patience"] = patience
        if budget is not UNSET:
            field_dict["budget"] = budget

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.coach_budget import CoachBudget # noqa: PLC0415
        d = dict(src_dict)
        _promote = d.pop("promote", UNSET)
        promote: CoachChoicesPromote | Unset
        if isinstance(_promote,  Unset):
            promote = UNSET
        else:
            promote = check_coach_choices_promote(_promote)




        prompts = cast(list[str], d.pop("prompts", UNSET))


        samples = d.pop("samples", UNSET)

        def _parse_target(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        target = _parse_target(d.pop("target", UNSET))


        min_gain = d.pop("min_gain", UNSET)

        patience = d.pop("patience", UNSET)

        _budget = d.pop("budget", UNSET)
        budget: CoachBudget | Unset
        if isinstance(_budget,  Unset):
            budget = UNSET
        else:
            budget = CoachBudget.from_dict(_budget)




        coach_choices = cls(
            promote=promote,
            prompts=prompts,
            samples=samples,
            target=target,
            min_gain=min_gain,
            patience=patience,
            budget=budget,
        )


        coach_choices.additional_properties = d
        return coach_choices

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
