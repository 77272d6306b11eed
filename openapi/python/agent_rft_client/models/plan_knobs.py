from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.plan_knobs_auto_stop_type_0 import check_plan_knobs_auto_stop_type_0
from ..models.plan_knobs_auto_stop_type_0 import PlanKnobsAutoStopType0
from ..models.plan_knobs_effort_type_0 import check_plan_knobs_effort_type_0
from ..models.plan_knobs_effort_type_0 import PlanKnobsEffortType0
from ..models.plan_knobs_practice_mode_type_0 import check_plan_knobs_practice_mode_type_0
from ..models.plan_knobs_practice_mode_type_0 import PlanKnobsPracticeModeType0
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="PlanKnobs")



@_attrs_define
class PlanKnobs:
    """ Knob positions of a plan; absent ones are the recipe's, or else the defaults.

        Attributes:
            practice_mode (None | PlanKnobsPracticeModeType0 | Unset): Number of passes over the rows: `quick`, `balanced`,
                `thorough`, or `custom` with `n_epochs`. Default: 'balanced'.
            n_epochs (int | None | Unset): Times that the rows are used; for the practice mode `custom` only.
            drift_guard (int | None | Unset): Strength that holds the model near its start: 0 (free) to 100 (tight).
                Default: 50.
            effort (None | PlanKnobsEffortType0 | Unset): Compute spent on each row. Default: 'standard'.
            creativity (int | None | Unset): Variety of answers: 0 (strict) to 100; absent: 50. Only for reinforcement.
            auto_stop (None | PlanKnobsAutoStopType0 | Unset): Reaction when practice no longer helps: none, a warning, a
                pause, or the end with the best checkpoint. Default: 'stop'.
            target (float | None | Unset): Validation value at which the job ends; absent: none.
     """

    practice_mode: None | PlanKnobsPracticeModeType0 | Unset = 'balanced'
    n_epochs: int | None | Unset = UNSET
    drift_guard: int | None | Unset = 50
    effort: None | PlanKnobsEffortType0 | Unset = 'standard'
    creativity: int | None | Unset = UNSET
    auto_stop: None | PlanKnobsAutoStopType0 | Unset = 'stop'
    target: float | None | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        practice_mode: None | str | Unset
        if isinstance(self.practice_mode, Unset):
            practice_mode = UNSET
        elif isinstance(self.practice_mode, str):
            practice_mode = self.practice_mode
        else:
            practice_mode = self.practice_mode

        n_epochs: int | None | Unset
        if isinstance(self.n_epochs, Unset):
            n_epochs = UNSET
        else:
            n_epochs = self.n_epochs

        drift_guard: int | None | Unset
        if isinstance(self.drift_guard, Unset):
            drift_guard = UNSET
        else:
            drift_guard = self.drift_guard

        effort: None | str | Unset
        if isinstance(self.effort, Unset):
            effort = UNSET
        elif isinstance(self.effort, str):
            effort = self.effort
        else:
            effort = self.effort

        creativity: int | None | Unset
        if isinstance(self.creativity, Unset):
            creativity = UNSET
        else:
            creativity = self.creativity

        auto_stop: None | str | Unset
        if isinstance(self.auto_stop, Unset):
            auto_stop = UNSET
        elif isinstance(self.auto_stop, str):
            auto_stop = self.auto_stop
        else:
            auto_stop = self.auto_stop

        target: float | None | Unset
        if isinstance(self.target, Unset):
            target = UNSET
        else:
            target = self.target


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if practice_mode is not UNSET:
            field_dict["practice_mode"] = practice_mode
        if n_epochs is not UNSET:
            field_dict["n_epochs"] = n_epochs
        if drift_guard is not UNSET:
            field_dict["drift_guard"] = drift_guard
        if effort is not UNSET:
            field_dict["effort"] = effort
        if creativity is not UNSET:
            field_dict["creativity"] = creativity
        if auto_stop is not UNSET:
            field_dict["auto_stop"] = auto_stop
        if target is not UNSET:
            field_dict["target"] = target

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_practice_mode(data: object) -> None | PlanKnobsPracticeModeType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                practice_mode_type_0 = check_plan_knobs_practice_mode_type_0(data)



                return practice_mode_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PlanKnobsPracticeModeType0 | Unset, data)

        practice_mode = _parse_practice_mode(d.pop("practice_mode", UNSET))


        def _parse_n_epochs(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        n_epochs = _parse_n_epochs(d.pop("n_epochs", UNSET))


        def _parse_drift_guard(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        drift_guard = _parse_drift_guard(d.pop("drift_guard", UNSET))


        def _parse_effort(data: object) -> None | PlanKnobsEffortType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                effort_type_0 = check_plan_knobs_effort_type_0(data)



                return effort_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PlanKnobsEffortType0 | Unset, data)

        effort = _parse_effort(d.pop("effort", UNSET))


        def _parse_creativity(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        creativity = _parse_creativity(d.pop("creativity", UNSET))


        def _parse_auto_stop(data: object) -> None | PlanKnobsAutoStopType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                auto_stop_type_0 = check_plan_knobs_auto_stop_type_0(data)



                return auto_stop_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PlanKnobsAutoStopType0 | Unset, data)

        auto_stop = _parse_auto_stop(d.pop("auto_stop", UNSET))


        def _parse_target(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        target = _parse_target(d.pop("target", UNSET))


        plan_knobs = cls(
            practice_mode=practice_mode,
            n_epochs=n_epochs,
            drift_guard=drift_guard,
            effort=effort,
            creativity=creativity,
            auto_stop=auto_stop,
            target=target,
        )

        return plan_knobs

