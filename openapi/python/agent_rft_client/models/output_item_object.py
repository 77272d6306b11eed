from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.output_item_object_status import check_output_item_object_status
from ..models.output_item_object_status import OutputItemObjectStatus
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.output_item_object_datasource_item import OutputItemObjectDatasourceItem
  from ..models.output_item_object_results_item import OutputItemObjectResultsItem
  from ..models.output_item_object_sample import OutputItemObjectSample





T = TypeVar("T", bound="OutputItemObject")



@_attrs_define
class OutputItemObject:
    """ One graded item of an eval run.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['eval.run.output_item']): Type of the object; each type has one constant value. Default:
                'eval.run.output_item'.
            eval_id (str): Id of the eval.
            run_id (str): Id of the eval run.
            created_at (int): Unix seconds at which the object was made.
            datasource_item_id (int): Number of the item, from 0.
            sample_index (int): Number of the sample among those of its item, from 0 (an extension).
            datasource_item (OutputItemObjectDatasourceItem): The item.
            status (OutputItemObjectStatus): Result of the item.
            results (list[OutputItemObjectResultsItem]): Score and verdict of each criterion.
            sample (OutputItemObjectSample): The graded sample: input, output, usage and error.
     """

    id: str
    eval_id: str
    run_id: str
    created_at: int
    datasource_item_id: int
    sample_index: int
    datasource_item: OutputItemObjectDatasourceItem
    status: OutputItemObjectStatus
    results: list[OutputItemObjectResultsItem]
    sample: OutputItemObjectSample
    object_: Literal['eval.run.output_item'] = 'eval.run.output_item'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.output_item_object_datasource_item import OutputItemObjectDatasourceItem # noqa: PLC0415
        from ..models.output_item_object_results_item import OutputItemObjectResultsItem # noqa: PLC0415
        from ..models.output_item_object_sample import OutputItemObjectSample # noqa: PLC0415
        id = self.id

        object_ = self.object_

        eval_id = self.eval_id

        run_id = self.run_id

        created_at = self.created_at

        datasource_item_id = self.datasource_item_id

        sample_index = self.sample_index

        datasource_item = self.datasource_item.to_dict()

        status: str = self.status

        results = []
        for results_item_data in self.results:
            results_item = results_item_data.to_dict()
            results.append(results_item)



        sample = self.sample.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "eval_id": eval_id,
            "run_id": run_id,
            "created_at": created_at,
            "datasource_item_id": datasource_item_id,
            "sample_index": sample_index,
            "datasource_item": datasource_item,
            "status": status,
            "results": results,
            "sample": sample,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.output_item_object_datasource_item import OutputItemObjectDatasourceItem # noqa: PLC0415
        from ..models.output_item_object_results_item import OutputItemObjectResultsItem # noqa: PLC0415
        from ..models.output_item_object_sample import OutputItemObjectSample # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['eval.run.output_item'] , d.pop("object"))
        if object_ != 'eval.run.output_item':
            raise ValueError(f"object must match const 'eval.run.output_item', got '{object_}'")

        eval_id = d.pop("eval_id")

        run_id = d.pop("run_id")

        created_at = d.pop("created_at")

        datasource_item_id = d.pop("datasource_item_id")

        sample_index = d.pop("sample_index")

        datasource_item = OutputItemObjectDatasourceItem.from_dict(d.pop("datasource_item"))




        status = check_output_item_object_status(d.pop("status"))




        results = []
        _results = d.pop("results")
        for results_item_data in (_results):
            results_item = OutputItemObjectResultsItem.from_dict(results_item_data)



            results.append(results_item)


        sample = OutputItemObjectSample.from_dict(d.pop("sample"))




        output_item_object = cls(
            id=id,
            object_=object_,
            eval_id=eval_id,
            run_id=run_id,
            created_at=created_at,
            datasource_item_id=datasource_item_id,
            sample_index=sample_index,
            datasource_item=datasource_item,
            status=status,
            results=results,
            sample=sample,
        )


        output_item_object.additional_properties = d
        return output_item_object

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
