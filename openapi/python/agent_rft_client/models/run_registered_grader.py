from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.run_registered_grader_item_type_0 import RunRegisteredGraderItemType0
  from ..models.sample_parts import SampleParts





T = TypeVar("T", bound="RunRegisteredGrader")



@_attrs_define
class RunRegisteredGrader:
    """ The sample that a registered grader scores in a trial run.

        Attributes:
            model_sample (str): The answer that is graded.
            item (None | RunRegisteredGraderItemType0 | Unset): The row, as templates and endpoints read it.
            sample (None | SampleParts | Unset): Further keys of `sample` besides the answer (an extension).
            trace_id (None | str | Unset): Id of the call, sent to an endpoint.
     """

    model_sample: str
    item: None | RunRegisteredGraderItemType0 | Unset = UNSET
    sample: None | SampleParts | Unset = UNSET
    trace_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.run_registered_grader_item_type_0 import RunRegisteredGraderItemType0 # noqa: PLC0415
        from ..models.sample_parts import SampleParts # noqa: PLC0415
        model_sample = self.model_sample

        item: dict[str, Any] | None | Unset
        if isinstance(self.item, Unset):
            item = UNSET
        elif isinstance(self.item, RunRegisteredGraderItemType0):
            item = self.item.to_dict()
        else:
            item = self.item

        sample: dict[str, Any] | None | Unset
        if isinstance(self.sample, Unset):
            sample = UNSET
        elif isinstance(self.sample, SampleParts):
            sample = self.sample.to_dict()
        else:
            sample = self.sample

        trace_id: None | str | Unset
        if isinstance(self.trace_id, Unset):
            trace_id = UNSET
        else:
            trace_id = self.trace_id


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "model_sample": model_sample,
        })
        if item is not UNSET:
            field_dict["item"] = item
        if sample is not UNSET:
            field_dict["sample"] = sample
        if trace_id is not UNSET:
            field_dict["trace_id"] = trace_id

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.run_registered_grader_item_type_0 import RunRegisteredGraderItemType0 # noqa: PLC0415
        from ..models.sample_parts import SampleParts # noqa: PLC0415
        d = dict(src_dict)
        model_sample = d.pop("model_sample")

        def _parse_item(data: object) -> None | RunRegisteredGraderItemType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                item_type_0 = RunRegisteredGraderItemType0.from_dict(data)



                return item_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RunRegisteredGraderItemType0 | Unset, data)

        item = _parse_item(d.pop("item", UNSET))


        def _parse_sample(data: object) -> None | SampleParts | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                sample_type_0 = SampleParts.from_dict(data)



                return sample_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SampleParts | Unset, data)

        sample = _parse_sample(d.pop("sample", UNSET))


        def _parse_trace_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        trace_id = _parse_trace_id(d.pop("trace_id", UNSET))


        run_registered_grader = cls(
            model_sample=model_sample,
            item=item,
            sample=sample,
            trace_id=trace_id,
        )


        run_registered_grader.additional_properties = d
        return run_registered_grader

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
