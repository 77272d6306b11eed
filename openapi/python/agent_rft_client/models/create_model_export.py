from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import Literal, cast






T = TypeVar("T", bound="CreateModelExport")



@_attrs_define
class CreateModelExport:
    """ The form of an export.

        Attributes:
            kind (Literal['merged'] | Unset): `merged`: base model and adapter as one model, in float32, as `transformers`
                reads it. Default: 'merged'.
     """

    kind: Literal['merged'] | Unset = 'merged'





    def to_dict(self) -> dict[str, Any]:
        kind = self.kind


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if kind is not UNSET:
            field_dict["kind"] = kind

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        kind = cast(Literal['merged'] | Unset , d.pop("kind", UNSET))
        if kind != 'merged'and not isinstance(kind, Unset):
            raise ValueError(f"kind must match const 'merged', got '{kind}'")

        create_model_export = cls(
            kind=kind,
        )

        return create_model_export

