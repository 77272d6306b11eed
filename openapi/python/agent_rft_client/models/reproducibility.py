from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast






T = TypeVar("T", bound="Reproducibility")



@_attrs_define
class Reproducibility:
    """ The machines that a job ran on, and whether they keep the promise of mode `sync`.

        Attributes:
            same_to_the_bit (bool): True if a run of the same job, killed and resumed at any moment, ends with the same bits
                on these processors.
            reasons (list[str]): The reasons against it; empty if it is kept.
            processors (list[str]): Processors and libraries of the trainer and the engine, over all claims of the job.
     """

    same_to_the_bit: bool
    reasons: list[str]
    processors: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        same_to_the_bit = self.same_to_the_bit

        reasons = self.reasons



        processors = self.processors




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "same_to_the_bit": same_to_the_bit,
            "reasons": reasons,
            "processors": processors,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        same_to_the_bit = d.pop("same_to_the_bit")

        reasons = cast(list[str], d.pop("reasons"))


        processors = cast(list[str], d.pop("processors"))


        reproducibility = cls(
            same_to_the_bit=same_to_the_bit,
            reasons=reasons,
            processors=processors,
        )


        reproducibility.additional_properties = d
        return reproducibility

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
