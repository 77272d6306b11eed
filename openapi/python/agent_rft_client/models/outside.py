from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.outside_knob_type_0 import check_outside_knob_type_0
from ..models.outside_knob_type_0 import OutsideKnobType0
from typing import cast






T = TypeVar("T", bound="Outside")



@_attrs_define
class Outside:
    """ A setting of a job that no position of a knob expresses.

        Attributes:
            parameter (str): Path of the setting in the job's body.
            value (Any): The job's value; `null` is an absent one.
            nearest (Any): The value that the nearest position sets; `null` if no knob sets this parameter.
            knob (None | OutsideKnobType0): The knob that sets this parameter; `null` if none does.
            message (str): The difference in a sentence.
     """

    parameter: str
    value: Any
    nearest: Any
    knob: None | OutsideKnobType0
    message: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        parameter = self.parameter

        value = self.value

        nearest = self.nearest

        knob: None | str
        if isinstance(self.knob, str):
            knob = self.knob
        else:
            knob = self.knob

        message = self.message


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "parameter": parameter,
            "value": value,
            "nearest": nearest,
            "knob": knob,
            "message": message,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        parameter = d.pop("parameter")

        value = d.pop("value")

        nearest = d.pop("nearest")

        def _parse_knob(data: object) -> None | OutsideKnobType0:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                knob_type_0 = check_outside_knob_type_0(data)



                return knob_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OutsideKnobType0, data)

        knob = _parse_knob(d.pop("knob"))


        message = d.pop("message")

        outside = cls(
            parameter=parameter,
            value=value,
            nearest=nearest,
            knob=knob,
            message=message,
        )


        outside.additional_properties = d
        return outside

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
