from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="TokenLengths")



@_attrs_define
class TokenLengths:
    """ Prompt lengths in tokens, through the model's own chat template.

        Attributes:
            measured_rows (int): Number of measured rows: all rows, or an even sample and the longest rows of a large file.
            mean (float): Mean over the measured rows.
            p50 (int): Half of the rows are at most as long.
            p90 (int): Nine of ten rows are at most as long.
            p99 (int): 99 of 100 rows are at most as long.
            max_ (int): The longest row.
            context_length (int): Tokens of the base model's context.
            over_context (int): Measured prompts that leave the model no room for an answer.
     """

    measured_rows: int
    mean: float
    p50: int
    p90: int
    p99: int
    max_: int
    context_length: int
    over_context: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        measured_rows = self.measured_rows

        mean = self.mean

        p50 = self.p50

        p90 = self.p90

        p99 = self.p99

        max_ = self.max_

        context_length = self.context_length

        over_context = self.over_context


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "measured_rows": measured_rows,
            "mean": mean,
            "p50": p50,
            "p90": p90,
            "p99": p99,
            "max": max_,
            "context_length": context_length,
            "over_context": over_context,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        measured_rows = d.pop("measured_rows")

        mean = d.pop("mean")

        p50 = d.pop("p50")

        p90 = d.pop("p90")

        p99 = d.pop("p99")

        max_ = d.pop("max")

        context_length = d.pop("context_length")

        over_context = d.pop("over_context")

        token_lengths = cls(
            measured_rows=measured_rows,
            mean=mean,
            p50=p50,
            p90=p90,
            p99=p99,
            max_=max_,
            context_length=context_length,
            over_context=over_context,
        )


        token_lengths.additional_properties = d
        return token_lengths

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
