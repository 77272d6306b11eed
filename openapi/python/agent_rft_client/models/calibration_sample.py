from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.calibration_sample_item_type_0 import CalibrationSampleItemType0





T = TypeVar("T", bound="CalibrationSample")



@_attrs_define
class CalibrationSample:
    """ An answer to score, with its row.

        Attributes:
            model_sample (str): An answer of a base model.
            item (CalibrationSampleItemType0 | None | Unset): The row that it answers; several answers may have the same
                one.
     """

    model_sample: str
    item: CalibrationSampleItemType0 | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.calibration_sample_item_type_0 import CalibrationSampleItemType0 # noqa: PLC0415
        model_sample = self.model_sample

        item: dict[str, Any] | None | Unset
        if isinstance(self.item, Unset):
            item = UNSET
        elif isinstance(self.item, CalibrationSampleItemType0):
            item = self.item.to_dict()
        else:
            item = self.item


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "model_sample": model_sample,
        })
        if item is not UNSET:
            field_dict["item"] = item

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.calibration_sample_item_type_0 import CalibrationSampleItemType0 # noqa: PLC0415
        d = dict(src_dict)
        model_sample = d.pop("model_sample")

        def _parse_item(data: object) -> CalibrationSampleItemType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                item_type_0 = CalibrationSampleItemType0.from_dict(data)



                return item_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CalibrationSampleItemType0 | None | Unset, data)

        item = _parse_item(d.pop("item", UNSET))


        calibration_sample = cls(
            model_sample=model_sample,
            item=item,
        )


        calibration_sample.additional_properties = d
        return calibration_sample

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
