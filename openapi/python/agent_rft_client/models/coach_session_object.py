from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.coach_session_object_outcome_type_0 import check_coach_session_object_outcome_type_0
from ..models.coach_session_object_outcome_type_0 import CoachSessionObjectOutcomeType0
from ..models.coach_session_object_promote import check_coach_session_object_promote
from ..models.coach_session_object_promote import CoachSessionObjectPromote
from ..models.coach_status import check_coach_status
from ..models.coach_status import CoachStatus
from ..models.phase import check_phase
from ..models.phase import Phase
from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.coach_child import CoachChild
  from ..models.coach_gain import CoachGain
  from ..models.coach_limits import CoachLimits
  from ..models.coach_measurement import CoachMeasurement
  from ..models.coach_prompt import CoachPrompt
  from ..models.coach_session_object_metadata_type_0 import CoachSessionObjectMetadataType0
  from ..models.coach_session_object_method import CoachSessionObjectMethod
  from ..models.coach_spent import CoachSpent
  from ..models.coach_weakness import CoachWeakness
  from ..models.fault import Fault





T = TypeVar("T", bound="CoachSessionObject")



@_attrs_define
class CoachSessionObject:
    """ A session of the Coach, with what it has found out so far.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['coach_session']): Type of the object; each type has one constant value. Default:
                'coach_session'.
            student (str): Name of the student.
            status (CoachStatus): State of a session; the last three are final.
            phase (Phase): The activity of a session; in all but `choosing` it waits for a job or a skill.
            outcome (CoachSessionObjectOutcomeType0 | None): The reason for which a completed session ended.
            reason (None | str): The last entry of the logbook, once the session is paused or has ended.
            promote (CoachSessionObjectPromote): `automatic` makes each skill current that passed the gate; `ask` pauses for
                a decision.
            samples (int): Attempts at each held-out row in a measurement.
            target (float | None): Mean score of the held-out rows at which the session ends; `null` is none.
            min_gain (float): Gain of the mean score that is too small to go on for.
            patience (int): Rounds in succession without such a gain after which the session ends.
            budget (CoachLimits): Limits of a session over all its jobs; `null` is none.
            spent (CoachSpent): Resources that the jobs of a session used; a job's are added at its end.
            training_file (str): Id of the file with the rows to practise.
            validation_file (str): Id of the file with the held-out rows.
            method (CoachSessionObjectMethod): Method of the session's jobs; secrets are redacted.
            round_ (int): Jobs that trained.
            job_id (None | str): The training job of this round.
            waiting_for (CoachChild | None): The job or skill that the session waits for; `null` for none.
            measured_in (CoachMeasurement | None): The rollouts that measured the student; `null` before the first
                measurement.
            first_mean (float | None): Mean score of the held-out rows at the start.
            mean (float | None): Mean score of the model that answers for the student.
            weaknesses (list[CoachWeakness]): Weaknesses of that model, the largest first.
            gains (list[CoachGain]): Expected gains, the largest first.
            prompts (list[CoachPrompt]): System prompts that were tried.
            promoted (int): Skills of the session that became current.
            metadata (CoachSessionObjectMetadataType0 | None): Up to 16 pairs of text of the user's own; the service does
                not read them.
            created_at (int): Unix seconds at which the object was made.
            finished_at (int | None): Unix time of the session's end.
            warnings (list[Fault] | None | Unset): Faults with which its jobs would run, as `validate` reports them; only in
                the reply to a create.
     """

    id: str
    student: str
    status: CoachStatus
    phase: Phase
    outcome: CoachSessionObjectOutcomeType0 | None
    reason: None | str
    promote: CoachSessionObjectPromote
    samples: int
    target: float | None
    min_gain: float
    patience: int
    budget: CoachLimits
    spent: CoachSpent
    training_file: str
    validation_file: str
    method: CoachSessionObjectMethod
    round_: int
    job_id: None | str
    waiting_for: CoachChild | None
    measured_in: CoachMeasurement | None
    first_mean: float | None
    mean: float | None
    weaknesses: list[CoachWeakness]
    gains: list[CoachGain]
    prompts: list[CoachPrompt]
    promoted: int
    metadata: CoachSessionObjectMetadataType0 | None
    created_at: int
    finished_at: int | None
    object_: Literal['coach_session'] = 'coach_session'
    warnings: list[Fault] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.coach_child import CoachChild # noqa: PLC0415
        from ..models.coach_gain import CoachGain # noqa: PLC0415
        from ..models.coach_limits import CoachLimits # noqa: PLC0415
        from ..models.coach_measurement import CoachMeasurement # noqa: PLC0415
        from ..models.coach_prompt import CoachPrompt # noqa: PLC0415
        from ..models.coach_session_object_metadata_type_0 import CoachSessionObjectMetadataType0 # noqa: PLC0415
        from ..models.coach_session_object_method import CoachSessionObjectMethod # noqa: PLC0415
        from ..models.coach_spent import CoachSpent # noqa: PLC0415
        from ..models.coach_weakness import CoachWeakness # noqa: PLC0415
        from ..models.fault import Fault # noqa: PLC0415
        id = self.id

        object_ = self.object_

        student = self.student

        status: str = self.status

        phase: str = self.phase

        outcome: None | str
        if isinstance(self.outcome, str):
            outcome = self.outcome
        else:
            outcome = self.outcome

        reason: None | str
        reason = self.reason

        promote: str = self.promote

        samples = self.samples

        target: float | None
        target = self.target

        min_gain = self.min_gain

        patience = self.patience

        budget = self.budget.to_dict()

        spent = self.spent.to_dict()

        training_file = self.training_file

        validation_file = self.validation_file

        method = self.method.to_dict()

        round_ = self.round_

        job_id: None | str
        job_id = self.job_id

        waiting_for: dict[str, Any] | None
        if isinstance(self.waiting_for, CoachChild):
            waiting_for = self.waiting_for.to_dict()
        else:
            waiting_for = self.waiting_for

        measured_in: dict[str, Any] | None
        if isinstance(self.measured_in, CoachMeasurement):
            measured_in = self.measured_in.to_dict()
        else:
            measured_in = self.measured_in

        first_mean: float | None
        first_mean = self.first_mean

        mean: float | None
        mean = self.mean

        weaknesses = []
        for weaknesses_item_data in self.weaknesses:
            weaknesses_item = weaknesses_item_data.to_dict()
            weaknesses.append(weaknesses_item)



        gains = []
        for gains_item_data in self.gains:
            gains_item = gains_item_data.to_dict()
            gains.append(gains_item)



        prompts = []
        for prompts_item_data in self.prompts:
            prompts_item = prompts_item_data.to_dict()
            prompts.append(prompts_item)



        promoted = self.promoted

        metadata: dict[str, Any] | None
        if isinstance(self.metadata, CoachSessionObjectMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        created_at = self.created_at

        finished_at: int | None
        finished_at = self.finished_at

        warnings: list[dict[str, Any]] | None | Unset
        if isinstance(self.warnings, Unset):
            warnings = UNSET
        elif isinstance(self.warnings, list):
            warnings = []
            for warnings_type_0_item_data in self.warnings:
                warnings_type_0_item = warnings_type_0_item_data.to_dict()
                warnings.append(warnings_type_0_item)


        else:
            warnings = self.warnings


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "student": student,
            "status": status,
            "phase": phase,
            "outcome": outcome,
            "reason": reason,
            "promote": promote,
            "samples": samples,
            "target": target,
            "min_gain": min_gain,
            "patience": patience,
            "budget": budget,
            "spent": spent,
            "training_file": training_file,
            "validation_file": validation_file,
            "method": method,
            "round": round_,
            "job_id": job_id,
            "waiting_for": waiting_for,
            "measured_in": measured_in,
            "first_mean": first_mean,
            "mean": mean,
            "weaknesses": weaknesses,
            "gains": gains,
            "prompts": prompts,
            "promoted": promoted,
            "metadata": metadata,
            "created_at": created_at,
            "finished_at": finished_at,
        })
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.coach_child import CoachChild # noqa: PLC0415
        from ..models.coach_gain import CoachGain # noqa: PLC0415
        from ..models.coach_limits import CoachLimits # noqa: PLC0415
        from ..models.coach_measurement import CoachMeasurement # noqa: PLC0415
        from ..models.coach_prompt import CoachPrompt # noqa: PLC0415
        from ..models.coach_session_object_metadata_type_0 import CoachSessionObjectMetadataType0 # noqa: PLC0415
        from ..models.coach_session_object_method import CoachSessionObjectMethod # noqa: PLC0415
        from ..models.coach_spent import CoachSpent # noqa: PLC0415
        from ..models.coach_weakness import CoachWeakness # noqa: PLC0415
        from ..models.fault import Fault # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['coach_session'] , d.pop("object"))
        if object_ != 'coach_session':
            raise ValueError(f"object must match const 'coach_session', got '{object_}'")

        student = d.pop("student")

        status = check_coach_status(d.pop("status"))




        phase = check_phase(d.pop("phase"))




        def _parse_outcome(data: object) -> CoachSessionObjectOutcomeType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                outcome_type_0 = check_coach_session_object_outcome_type_0(data)



                return outcome_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CoachSessionObjectOutcomeType0 | None, data)

        outcome = _parse_outcome(d.pop("outcome"))


        def _parse_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reason = _parse_reason(d.pop("reason"))


        promote = check_coach_session_object_promote(d.pop("promote"))




        samples = d.pop("samples")

        def _parse_target(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        target = _parse_target(d.pop("target"))


        min_gain = d.pop("min_gain")

        patience = d.pop("patience")

        budget = CoachLimits.from_dict(d.pop("budget"))




        spent = CoachSpent.from_dict(d.pop("spent"))




        training_file = d.pop("training_file")

        validation_file = d.pop("validation_file")

        method = CoachSessionObjectMethod.from_dict(d.pop("method"))




        round_ = d.pop("round")

        def _parse_job_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        job_id = _parse_job_id(d.pop("job_id"))


        def _parse_waiting_for(data: object) -> CoachChild | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                waiting_for_type_0 = CoachChild.from_dict(data)



                return waiting_for_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CoachChild | None, data)

        waiting_for = _parse_waiting_for(d.pop("waiting_for"))


        def _parse_measured_in(data: object) -> CoachMeasurement | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                measured_in_type_0 = CoachMeasurement.from_dict(data)



                return measured_in_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CoachMeasurement | None, data)

        measured_in = _parse_measured_in(d.pop("measured_in"))


        def _parse_first_mean(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        first_mean = _parse_first_mean(d.pop("first_mean"))


        def _parse_mean(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        mean = _parse_mean(d.pop("mean"))


        weaknesses = []
        _weaknesses = d.pop("weaknesses")
        for weaknesses_item_data in (_weaknesses):
            weaknesses_item = CoachWeakness.from_dict(weaknesses_item_data)



            weaknesses.append(weaknesses_item)


        gains = []
        _gains = d.pop("gains")
        for gains_item_data in (_gains):
            gains_item = CoachGain.from_dict(gains_item_data)



            gains.append(gains_item)


        prompts = []
        _prompts = d.pop("prompts")
        for prompts_item_data in (_prompts):
            prompts_item = CoachPrompt.from_dict(prompts_item_data)



            prompts.append(prompts_item)


        promoted = d.pop("promoted")

        def _parse_metadata(data: object) -> CoachSessionObjectMetadataType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = CoachSessionObjectMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CoachSessionObjectMetadataType0 | None, data)

        metadata = _parse_metadata(d.pop("metadata"))


        created_at = d.pop("created_at")

        def _parse_finished_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        finished_at = _parse_finished_at(d.pop("finished_at"))


        def _parse_warnings(data: object) -> list[Fault] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                warnings_type_0 = []
                _warnings_type_0 = data
                for warnings_type_0_item_data in (_warnings_type_0):
                    warnings_type_0_item = Fault.from_dict(warnings_type_0_item_data)



                    warnings_type_0.append(warnings_type_0_item)

                return warnings_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Fault] | None | Unset, data)

        warnings = _parse_warnings(d.pop("warnings", UNSET))


        coach_session_object = cls(
            id=id,
            object_=object_,
            student=student,
            status=status,
            phase=phase,
            outcome=outcome,
            reason=reason,
            promote=promote,
            samples=samples,
            target=target,
            min_gain=min_gain,
            patience=patience,
            budget=budget,
            spent=spent,
            training_file=training_file,
            validation_file=validation_file,
            method=method,
            round_=round_,
            job_id=job_id,
            waiting_for=waiting_for,
            measured_in=measured_in,
            first_mean=first_mean,
            mean=mean,
            weaknesses=weaknesses,
            gains=gains,
            prompts=prompts,
            promoted=promoted,
            metadata=metadata,
            created_at=created_at,
            finished_at=finished_at,
            warnings=warnings,
        )


        coach_session_object.additional_properties = d
        return coach_session_object

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
