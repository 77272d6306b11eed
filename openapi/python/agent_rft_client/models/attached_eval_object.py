from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.attached_eval_object_data_source import AttachedEvalObjectDataSource





T = TypeVar("T", bound="AttachedEvalObject")



@_attrs_define
class AttachedEvalObject:
    """ An attached eval of a job, with its runs.

        Attributes:
            eval_id (str): Id of the eval.
            data_source (AttachedEvalObjectDataSource): As sent.
            start_run_id (None | str): The run on the model that training started from; `null` before the job has succeeded.
            tuned_run_id (None | str): The run on the tuned model; `null` before the job has succeeded.
            error (None | str): The reason why a job that has succeeded started no run.
     """

    eval_id: str
    data_source: AttachedEvalObjectDataSource
    start_run_id: None | str
    tuned_run_id: None | str
    error: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.attached_eval_object_data_source import AttachedEvalObjectDataSource # noqa: PLC0415
        eval_id = self.eval_id

        data_source = self.data_source.to_dict()

        start_run_id: None | str
        start_run_id = self.start_run_id

        tuned_run_id: None | str
        tuned_run_id = self.tuned_run_id

        error: None | str
        error = self.error


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "eval_id": eval_id,
            "data_source": data_source,
            "start_run_id": start_run_id,
            "tuned_run_id": tuned_run_id,
            "error": error,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.attached_eval_object_data_source import AttachedEvalObjectDataSource # noqa: PLC0415
        d = dict(src_dict)
        eval_id = d.pop("eval_id")

        data_source = AttachedEvalObjectDataSource.from_dict(d.pop("data_source"))




        def _parse_start_run_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        start_run_id = _parse_start_run_id(d.pop("start_run_id"))


        def _parse_tuned_run_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        tuned_run_id = _parse_tuned_run_id(d.pop("tuned_run_id"))


        def _parse_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error = _parse_error(d.pop("error"))


        attached_eval_object = cls(
            eval_id=eval_id,
            data_source=data_source,
            start_run_id=start_run_id,
            tuned_run_id=tuned_run_id,
            error=error,
        )


        attached_eval_object.additional_properties = d
        return attached_eval_object

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
