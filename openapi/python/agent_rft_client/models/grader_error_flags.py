from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast






T = TypeVar("T", bound="GraderErrorFlags")



@_attrs_define
class GraderErrorFlags:
    """ Flags of what went wrong in a trial run.

        Attributes:
            formula_parse_error (bool): The formula of a multi grader has no finite value.
            sample_parse_error (bool): The sample is not in the form that the grader reads.
            truncated_observation_error (bool): The sample was cut before it was graded.
            unresponsive_reward_error (bool): The grader did not answer in time.
            invalid_variable_error (bool): A template names a path that `item` or `sample` lacks.
            other_error (bool): Any other fault; `details` names it.
            python_grader_server_error (bool): The sandbox did not run the program.
            python_grader_server_error_type (None | str): `sandbox_unavailable`, or `null` without this fault.
            python_grader_runtime_error (bool): The function raised, passed a limit of the sandbox, or returned no number.
            python_grader_runtime_error_details (None | str): The error, the returned value or the limit; `null` without
                this fault.
            model_grader_server_error (bool): The judge did not answer.
            model_grader_refusal_error (bool): The judge refused to answer.
            model_grader_parse_error (bool): The judge's answer contains no score.
            model_grader_server_error_details (None | str): Answer of the judge's server.
            details (None | str): Reason of a raised flag (an extension).
     """

    formula_parse_error: bool
    sample_parse_error: bool
    truncated_observation_error: bool
    unresponsive_reward_error: bool
    invalid_variable_error: bool
    other_error: bool
    python_grader_server_error: bool
    python_grader_server_error_type: None | str
    python_grader_runtime_error: bool
    python_grader_runtime_error_details: None | str
    model_grader_server_error: bool
    model_grader_refusal_error: bool
    model_grader_parse_error: bool
    model_grader_server_error_details: None | str
    details: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        formula_parse_error = self.formula_parse_error

        sample_parse_error = self.sample_parse_error

        truncated_observation_error = self.truncated_observation_error

        unresponsive_reward_error = self.unresponsive_reward_error

        invalid_variable_error = self.invalid_variable_error

        other_error = self.other_error

        python_grader_server_error = self.python_grader_server_error

        python_grader_server_error_type: None | str
        python_grader_server_error_type = self.python_grader_server_error_type

        python_grader_runtime_error = self.python_grader_runtime_error

        python_grader_runtime_error_details: None | str
        python_grader_runtime_error_details = self.python_grader_runtime_error_details

        model_grader_server_error = self.model_grader_server_error

        model_grader_refusal_error = self.model_grader_refusal_error

        model_grader_parse_error = self.model_grader_parse_error

        model_grader_server_error_details: None | str
        model_grader_server_error_details = self.model_grader_server_error_details

        details: None | str
        details = self.details


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "formula_parse_error": formula_parse_error,
            "sample_parse_error": sample_parse_error,
            "truncated_observation_error": truncated_observation_error,
            "unresponsive_reward_error": unresponsive_reward_error,
            "invalid_variable_error": invalid_variable_error,
            "other_error": other_error,
            "python_grader_server_error": python_grader_server_error,
            "python_grader_server_error_type": python_grader_server_error_type,
            "python_grader_runtime_error": python_grader_runtime_error,
            "python_grader_runtime_error_details": python_grader_runtime_error_details,
            "model_grader_server_error": model_grader_server_error,
            "model_grader_refusal_error": model_grader_refusal_error,
            "model_grader_parse_error": model_grader_parse_error,
            "model_grader_server_error_details": model_grader_server_error_details,
            "details": details,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        formula_parse_error = d.pop("formula_parse_error")

        sample_parse_error = d.pop("sample_parse_error")

        truncated_observation_error = d.pop("truncated_observation_error")

        unresponsive_reward_error = d.pop("unresponsive_reward_error")

        invalid_variable_error = d.pop("invalid_variable_error")

        other_error = d.pop("other_error")

        python_grader_server_error = d.pop("python_grader_server_error")

        def _parse_python_grader_server_error_type(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        python_grader_server_error_type = _parse_python_grader_server_error_type(d.pop("python_grader_server_error_type"))


        python_grader_runtime_error = d.pop("python_grader_runtime_error")

        def _parse_python_grader_runtime_error_details(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        python_grader_runtime_error_details = _parse_python_grader_runtime_error_details(d.pop("python_grader_runtime_error_details"))


        model_grader_server_error = d.pop("model_grader_server_error")

        model_grader_refusal_error = d.pop("model_grader_refusal_error")

        model_grader_parse_error = d.pop("model_grader_parse_error")

        def _parse_model_grader_server_error_details(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        model_grader_server_error_details = _parse_model_grader_server_error_details(d.pop("model_grader_server_error_details"))


        def _parse_details(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        details = _parse_details(d.pop("details"))


        grader_error_flags = cls(
            formula_parse_error=formula_parse_error,
            sample_parse_error=sample_parse_error,
            truncated_observation_error=truncated_observation_error,
            unresponsive_reward_error=unresponsive_reward_error,
            invalid_variable_error=invalid_variable_error,
            other_error=other_error,
            python_grader_server_error=python_grader_server_error,
            python_grader_server_error_type=python_grader_server_error_type,
            python_grader_runtime_error=python_grader_runtime_error,
            python_grader_runtime_error_details=python_grader_runtime_error_details,
            model_grader_server_error=model_grader_server_error,
            model_grader_refusal_error=model_grader_refusal_error,
            model_grader_parse_error=model_grader_parse_error,
            model_grader_server_error_details=model_grader_server_error_details,
            details=details,
        )


        grader_error_flags.additional_properties = d
        return grader_error_flags

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
