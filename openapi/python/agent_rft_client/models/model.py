from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import Literal, cast






T = TypeVar("T", bound="Model")



@_attrs_define
class Model:
    """ A model that can be called.

        Attributes:
            id (str): Name of the model, for chat, evals and jobs.
            object_ (Literal['model']): Type of the object; each type has one constant value. Default: 'model'.
            created (int): Unix seconds at which the model was made.
            owned_by (str): `system` for a base model, else the id of its project.
     """

    id: str
    created: int
    owned_by: str
    object_: Literal['model'] = 'model'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        created = self.created

        owned_by = self.owned_by


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "created": created,
            "owned_by": owned_by,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['model'] , d.pop("object"))
        if object_ != 'model':
            raise ValueError(f"object must match const 'model', got '{object_}'")

        created = d.pop("created")

        owned_by = d.pop("owned_by")

        model = cls(
            id=id,
            object_=object_,
            created=created,
            owned_by=owned_by,
        )


        model.additional_properties = d
        return model

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
