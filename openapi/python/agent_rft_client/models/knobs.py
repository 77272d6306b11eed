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
from typing import cast






T = TypeVar("T", bound="Knobs")



@_attrs_define
class Knobs:
    """ Positions of all knobs of a plan.

        Attributes:
            practice_mode (KnobsPracticeMode): Number of passes over the rows: `quick`, `balanced`, `thorough`, or `custom`
                with `n_epochs`. Default: 'balanced'.
            n_epochs (int | None): Times that the rows are used; for the practice mode `custom` only.
            drift_guard (int): Strength that holds the model near its start: 0 (free) to 100 (tight). Default: 50.
            effort (KnobsEffort): Compute spent on each row. Default: 'standard'.
            creativity (int | None): Variety of answers: 0 (strict) to 100; absent: 50. Only for reinforcement.
            auto_stop (KnobsAutoStop): Reaction when practice no longer helps: none, a warning, a pause, or the end with the
                best checkpoint. Default: 'stop'.
            target (float | None): Validation value at which the job ends; absent: none.
     """

    n_epochs: int | None
    creativity: int | None
    target: float | None
    practice_mode: KnobsPracticeMode = 'balanced'
    drift_guard: int = 50
    effort: KnobsEffort = 'standard'
    auto_stop: KnobsAutoStop = 'stop'





    def to_dict(self) -> dict[str, Any]:
        practice_mode: str = self.practice_mode

        n_epochs: int | None
        n_epochs = self.n_epochs

        drift_guard = self.drift_guard

        effort: str = self.effort

        creativity: int | None
        creativity = self.creativity

        auto_stop: str = self.auto_stop

        target: float | None
        target = self.target


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "practice_mode": practice_mode,
            "n_epochs": n_epochs,
            "drift_guard": drift_guard,
            "effort": effort,
            "creativity": creativity,
            "auto_stop": auto_stop,
            "target": target,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        practice_mode = check_knobs_practice_mode(d.pop("practice_mode"))




        def _parse_n_epochs(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        n_epochs = _parse_n_epochs(d.pop("n_epochs"))


        drift_guard = d.pop("drift_guard")

        effort = check_knobs_effort(d.pop("effort"))




        def _parse_creativity(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        creativity = _parse_creativity(d.pop("creativity"))


        auto_stop = check_knobs_auto_stop(d.pop("auto_stop"))




        def _parse_target(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        target = _parse_target(d.pop("target"))


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

