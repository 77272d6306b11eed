from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.eval_run_status import check_eval_run_status
from ..models.eval_run_status import EvalRunStatus
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.criterion_result import CriterionResult
  from ..models.eval_run_object_data_source import EvalRunObjectDataSource
  from ..models.eval_run_object_error_type_0 import EvalRunObjectErrorType0
  from ..models.eval_run_object_metadata_type_0 import EvalRunObjectMetadataType0
  from ..models.model_usage import ModelUsage
  from ..models.result_counts_body import ResultCountsBody





T = TypeVar("T", bound="EvalRunObject")



@_attrs_define
class EvalRunObject:
    """ A run of an eval over its data source, with counts and usage.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['eval.run']): Type of the object; each type has one constant value. Default: 'eval.run'.
            eval_id (str): Id of the eval.
            name (str): Name for readers; it need not be unique.
            status (EvalRunStatus): State of an eval run; the last three are final.
            model (None | str): The model that is measured; `null` where items hold their samples.
            data_source (EvalRunObjectDataSource): As sent, with secrets redacted.
            created_at (int): Unix seconds at which the object was made.
            error (EvalRunObjectErrorType0 | None): Code and message of a run that failed.
            metadata (EvalRunObjectMetadataType0 | None): Up to 16 pairs of text of the user's own; the service does not
                read them.
            report_url (str): Address of this run; there is no other report.
            result_counts (ResultCountsBody): The items of an eval run by outcome.
            per_model_usage (list[ModelUsage]): Calls and tokens of each model.
            per_testing_criteria_results (list[CriterionResult]): Results by criterion.
            shared_with_openai (bool): Always false. Default: False.
     """

    id: str
    eval_id: str
    name: str
    status: EvalRunStatus
    model: None | str
    data_source: EvalRunObjectDataSource
    created_at: int
    error: EvalRunObjectErrorType0 | None
    metadata: EvalRunObjectMetadataType0 | None
    report_url: str
    result_counts: ResultCountsBody
    per_model_usage: list[ModelUsage]
    per_testing_criteria_results: list[CriterionResult]
    object_: Literal['eval.run'] = 'eval.run'
    shared_with_openai: bool = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.criterion_result import CriterionResult # noqa: PLC0415
        from ..models.eval_run_object_data_source import EvalRunObjectDataSource # noqa: PLC0415
        from ..models.eval_run_object_error_type_0 import EvalRunObjectErrorType0 # noqa: PLC0415
        from ..models.eval_run_object_metadata_type_0 import EvalRunObjectMetadataType0 # noqa: PLC0415
        from ..models.model_usage import ModelUsage # noqa: PLC0415
        from ..models.result_counts_body import ResultCountsBody # noqa: PLC0415
        id = self.id

        object_ = self.object_

        eval_id = self.eval_id

        name = self.name

        status: str = self.status

        model: None | str
        model = self.model

        data_source = self.data_source.to_dict()

        created_at = self.created_at

        error: dict[str, Any] | None
        if isinstance(self.error, EvalRunObjectErrorType0):
            error = self.error.to_dict()
        else:
            error = self.error

        metadata: dict[str, Any] | None
        if isinstance(self.metadata, EvalRunObjectMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        report_url = self.report_url

        result_counts = self.result_counts.to_dict()

        per_model_usage = []
        for per_model_usage_item_data in self.per_model_usage:
            per_model_usage_item = per_model_usage_item_data.to_dict()
            per_model_usage.append(per_model_usage_item)



        per_testing_criteria_results = []
        for per_testing_criteria_results_item_data in self.per_testing_criteria_results:
            per_testing_criteria_results_item = per_testing_criteria_results_item_data.to_dict()
            per_testing_criteria_results.append(per_testing_criteria_results_item)



        shared_with_openai = self.shared_with_openai


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "eval_id": eval_id,
            "name": name,
            "status": status,
            "model": model,
            "data_source": data_source,
            "created_at": created_at,
            "error": error,
            "metadata": metadata,
            "report_url": report_url,
            "result_counts": result_counts,
            "per_model_usage": per_model_usage,
            "per_testing_criteria_results": per_testing_criteria_results,
            "shared_with_openai": shared_with_openai,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.criterion_result import CriterionResult # noqa: PLC0415
        from ..models.eval_run_object_data_source import EvalRunObjectDataSource # noqa: PLC0415
        from ..models.eval_run_object_error_type_0 import EvalRunObjectErrorType0 # noqa: PLC0415
        from ..models.eval_run_object_metadata_type_0 import EvalRunObjectMetadataType0 # noqa: PLC0415
        from ..models.model_usage import ModelUsage # noqa: PLC0415
        from ..models.result_counts_body import ResultCountsBody # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['eval.run'] , d.pop("object"))
        if object_ != 'eval.run':
            raise ValueError(f"object must match const 'eval.run', got '{object_}'")

        eval_id = d.pop("eval_id")

        name = d.pop("name")

        status = check_eval_run_status(d.pop("status"))




        def _parse_model(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        model = _parse_model(d.pop("model"))


        data_source = EvalRunObjectDataSource.from_dict(d.pop("data_source"))




        created_at = d.pop("created_at")

        def _parse_error(data: object) -> EvalRunObjectErrorType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = EvalRunObjectErrorType0.from_dict(data)



                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EvalRunObjectErrorType0 | None, data)

        error = _parse_error(d.pop("error"))


        def _parse_metadata(data: object) -> EvalRunObjectMetadataType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = EvalRunObjectMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EvalRunObjectMetadataType0 | None, data)

        metadata = _parse_metadata(d.pop("metadata"))


        report_url = d.pop("report_url")

        result_counts = ResultCountsBody.from_dict(d.pop("result_counts"))




        per_model_usage = []
        _per_model_usage = d.pop("per_model_usage")
        for per_model_usage_item_data in (_per_model_usage):
            per_model_usage_item = ModelUsage.from_dict(per_model_usage_item_data)



            per_model_usage.append(per_model_usage_item)


        per_testing_criteria_results = []
        _per_testing_criteria_results = d.pop("per_testing_criteria_results")
        for per_testing_criteria_results_item_data in (_per_testing_criteria_results):
            per_testing_criteria_results_item = CriterionResult.from_dict(per_testing_criteria_results_item_data)



            per_testing_criteria_results.append(per_testing_criteria_results_item)


        shared_with_openai = d.pop("shared_with_openai")

        eval_run_object = cls(
            id=id,
            object_=object_,
            eval_id=eval_id,
            name=name,
            status=status,
            model=model,
            data_source=data_source,
            created_at=created_at,
            error=error,
            metadata=metadata,
            report_url=report_url,
            result_counts=result_counts,
            per_model_usage=per_model_usage,
            per_testing_criteria_results=per_testing_criteria_results,
            shared_with_openai=shared_with_openai,
        )


        eval_run_object.additional_properties = d
        return eval_run_object

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
