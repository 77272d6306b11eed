from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.knobs_auto_stop import check_knobs_auto_stop
from ..models.knobs_auto_stop import KnobsAutoStop
from ..models.knobs_effort import check_knobs_effort
from ..models.knobs_effort import KnobsEffort
from ..models.knobs_practice_mode import check_knobs_practice_mode
from ..models.knobs_practice_mode import KnobsPracticeMode
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="Knobs")



@_attrs_define
class Knobs:
    """ Positions of all knobs of a plan.

        Attributes:
            practice_mode (KnobsPracticeMode | Unset): Number of passes over the rows: `quick`, `balanced`, `thorough`, or
                `custom` with `n_epochs`. Default: 'balanced'.
            n_epochs (int | None | Unset): Times that the rows are used; for the practice mode `custom` only.
            drift_guard (int | Unset): Strength that holds the model near its start: 0 (free) to 100 (tight). Default: 50.
            effort (KnobsEffort | Unset): Compute spent on each row. Default: 'standard'.
            creativity (int | None | Unset): Variety of answers: 0 (strict) to 100; absent: 50. Only for reinforcement.
            auto_stop (KnobsAutoStop | Unset): Reaction when practice no longer helps: none, a warning, a pause, or the end
                with the best checkpoint. Default: 'stop'.
            target (float | None | Unset): Validation value at which the job ends; absent: none.
     """

    practice_mode: KnobsPracticeMode | Unset = 'balanced'
    n_epochs: int | None | Unset = UNSET
    drift_guard: int | Unset = 50
    effort: KnobsEffort | Unset = 'standard'
    creativity: int | None | Unset = UNSET
    auto_stop: KnobsAutoStop | Unset = 'stop'
    target: float | None | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        practice_mode: str | Unset = UNSET
        if not isinstance(self.practice_mode, Unset):
            practice_mode = self.practice_mode


        n_epochs: int | None | Unset
        if isinstance(self.n_epochs, Unset):
            n_epochs = UNSET
        else:
            n_epochs = self.n_epochs

        drift_guard = self.drift_guard

        effort: str | Unset = UNSET
        if not isinstance(self.effort, Unset):
            effort = self.effort


        creativity: int | None | Unset
        if isinstance(self.creativity, Unset):
            creativity = UNSET
        else:
            creativity = self.creativity

        auto_stop: str | Unset = UNSET
        if not isinstance(self.auto_stop, Unset):
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
        _practice_mode = d.pop("practice_mode", UNSET)
        practice_mode: KnobsPracticeMode | Unset
        if isinstance(_practice_mode,  Unset):
            practice_mode = UNSET
        else:
            practice_mode = check_knobs_practice_mode(_practice_mode)




        def _parse_n_epochs(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        n_epochs = _parse_n_epochs(d.pop("n_epochs", UNSET))


        drift_guard = d.pop("drift_guard", UNSET)

        _effort = d.pop("effort", UNSET)
        effort: KnobsEffort | Unset
        if isinstance(_effort,  Unset):
            effort = UNSET
        else:
            effort = check_knobs_effort(_effort)




        def _parse_creativity(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        creativity = _parse_creativity(d.pop("creativity", UNSET))


        _auto_stop = d.pop("auto_stop", UNSET)
        auto_stop: KnobsAutoStop | Unset
        if isinstance(_auto_stop,  Unset):
            auto_stop = UNSET
        else:
            auto_stop = check_knobs_auto_stop(_auto_stop)




        def _parse_target(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        target = _parse_target(d.pop("target", UNSET))


        knobs = cls(
            practice_mode=practice_mode,
            n_epochs=n_epochs,
            drift_guard=drift_guard,
            effort=effort,
            creativity=creativity,
            auto_stop=auto_stop,
            target=target,
        )

        return knobs

