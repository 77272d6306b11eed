from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.endpoint_check import EndpointCheck
  from ..models.estimate import Estimate
  from ..models.fault import Fault
  from ..models.file_summary import FileSummary
  from ..models.grader_choice import GraderChoice
  from ..models.overlap import Overlap





T = TypeVar("T", bound="FineTuningJobValidation")



@_attrs_define
class FineTuningJobValidation:
    """ Report on a create call that was checked but not made.

    `valid` means that there are no errors. Lengths are in tokens, `latency_ms` in milliseconds.

        Attributes:
            object_ (Literal['fine_tuning.job.validation']): Type of the object; each type has one constant value. Default:
                'fine_tuning.job.validation'.
            valid (bool): True if there are no errors.
            model (None | str): Name of the base model; `null` if it is unknown.
            method (str): `reinforcement`, `supervised` or `dpo`.
            errors (list[Fault]): Faults for which the job would be refused or fail.
            warnings (list[Fault]): Faults with which the job would run.
            training_file (FileSummary | None): Counts of the training file; `null` without a usable one.
            validation_file (FileSummary | None): Counts of the validation file; `null` without a usable one.
            overlap (None | Overlap): Rows that are in both files; `null` without both.
            endpoints (list[EndpointCheck]): Tools and graders, each probed once without a call.
            estimate (Estimate | None): Estimated cost of a reinforcement job; `null` for other methods and for a call that
                cannot be parsed.
            grader_choice (GraderChoice | None): The grader that `auto` stands for; `null` for a call that names its grader.
     """

    valid: bool
    model: None | str
    method: str
    errors: list[Fault]
    warnings: list[Fault]
    training_file: FileSummary | None
    validation_file: FileSummary | None
    overlap: None | Overlap
    endpoints: list[EndpointCheck]
    estimate: Estimate | None
    grader_choice: GraderChoice | None
    object_: Literal['fine_tuning.job.validation'] = 'fine_tuning.job.validation'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.endpoint_check import EndpointCheck # noqa: PLC0415
        from ..models.estimate import Estimate # noqa: PLC0415
        from ..models.fault import Fault # noqa: PLC0415
        from ..models.file_summary import FileSummary # noqa: PLC0415
        from ..models.grader_choice import GraderChoice # noqa: PLC0415
        from ..models.overlap import Overlap # noqa: PLC0415
        object_ = self.object_

        valid = self.valid

        model: None | str
        model = self.model

        method = self.method

        errors = []
        for errors_item_data in self.errors:
            errors_item = errors_item_data.to_dict()
            errors.append(errors_item)



        warnings = []
        for warnings_item_data in self.warnings:
            warnings_item = warnings_item_data.to_dict()
            warnings.append(warnings_item)



        training_file: dict[str, Any] | None
        if isinstance(self.training_file, FileSummary):
            training_file = self.training_file.to_dict()
        else:
            training_file = self.training_file

        validation_file: dict[str, Any] | None
        if isinstance(self.validation_file, FileSummary):
            validation_file = self.validation_file.to_dict()
        else:
            validation_file = self.validation_file

        overlap: dict[str, Any] | None
        if isinstance(self.overlap, Overlap):
            overlap = self.overlap.to_dict()
        else:
            overlap = self.overlap

        endpoints = []
        for endpoints_item_data in self.endpoints:
            endpoints_item = endpoints_item_data.to_dict()
            endpoints.append(endpoints_item)



        estimate: dict[str, Any] | None
        if isinstance(self.estimate, Estimate):
            estimate = self.estimate.to_dict()
        else:
            estimate = self.estimate

        grader_choice: dict[str, Any] | None
        if isinstance(self.grader_choice, GraderChoice):
            grader_choice = self.grader_choice.to_dict()
        else:
            grader_choice = self.grader_choice


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "valid": valid,
            "model": model,
            "method": method,
            "errors": errors,
            "warnings": warnings,
            "training_file": training_file,
            "validation_file": validation_file,
            "overlap": overlap,
            "endpoints": endpoints,
            "estimate": estimate,
            "grader_choice": grader_choice,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.endpoint_check import EndpointCheck # noqa: PLC0415
        from ..models.estimate import Estimate # noqa: PLC0415
        from ..models.fault import Fault # noqa: PLC0415
        from ..models.file_summary import FileSummary # noqa: PLC0415
        from ..models.grader_choice import GraderChoice # noqa: PLC0415
        from ..models.overlap import Overlap # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['fine_tuning.job.validation'] , d.pop("object"))
        if object_ != 'fine_tuning.job.validation':
            raise ValueError(f"object must match const 'fine_tuning.job.validation', got '{object_}'")

        valid = d.pop("valid")

        def _parse_model(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        model = _parse_model(d.pop("model"))


        method = d.pop("method")

        errors = []
        _errors = d.pop("errors")
        for errors_item_data in (_errors):
            errors_item = Fault.from_dict(errors_item_data)



            errors.append(errors_item)


        warnings = []
        _warnings = d.pop("warnings")
        for warnings_item_data in (_warnings):
            warnings_item = Fault.from_dict(warnings_item_data)



            warnings.append(warnings_item)


        def _parse_training_file(data: object) -> FileSummary | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                training_file_type_0 = FileSummary.from_dict(data)



                return training_file_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FileSummary | None, data)

        training_file = _parse_training_file(d.pop("training_file"))


        def _parse_validation_file(data: object) -> FileSummary | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                validation_file_type_0 = FileSummary.from_dict(data)



                return validation_file_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FileSummary | None, data)

        validation_file = _parse_validation_file(d.pop("validation_file"))


        def _parse_overlap(data: object) -> None | Overlap:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                overlap_type_0 = Overlap.from_dict(data)



                return overlap_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Overlap, data)

        overlap = _parse_overlap(d.pop("overlap"))


        endpoints = []
        _endpoints = d.pop("endpoints")
        for endpoints_item_data in (_endpoints):
            endpoints_item = EndpointCheck.from_dict(endpoints_item_data)



            endpoints.append(endpoints_item)


        def _parse_estimate(data: object) -> Estimate | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                estimate_type_0 = Estimate.from_dict(data)



                return estimate_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Estimate | None, data)

        estimate = _parse_estimate(d.pop("estimate"))


        def _parse_grader_choice(data: object) -> GraderChoice | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_choice_type_0 = GraderChoice.from_dict(data)



                return grader_choice_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(GraderChoice | None, data)

        grader_choice = _parse_grader_choice(d.pop("grader_choice"))


        fine_tuning_job_validation = cls(
            object_=object_,
            valid=valid,
            model=model,
            method=method,
            errors=errors,
            warnings=warnings,
            training_file=training_file,
            validation_file=validation_file,
            overlap=overlap,
            endpoints=endpoints,
            estimate=estimate,
            grader_choice=grader_choice,
        )


        fine_tuning_job_validation.additional_properties = d
        return fine_tuning_job_validation

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
