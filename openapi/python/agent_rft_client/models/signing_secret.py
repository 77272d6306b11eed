from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import Literal, cast






T = TypeVar("T", bound="SigningSecret")



@_attrs_define
class SigningSecret:
    """ The secret that signs calls of tools and graders.

        Attributes:
            object_ (Literal['signing_secret']): Type of the object; each type has one constant value. Default:
                'signing_secret'.
            secret (str): `whsec_…`, in the form that Standard Webhooks libraries read.
     """

    secret: str
    object_: Literal['signing_secret'] = 'signing_secret'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        object_ = self.object_

        secret = self.secret


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "secret": secret,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        object_ = cast(Literal['signing_secret'] , d.pop("object"))
        if object_ != 'signing_secret':
            raise ValueError(f"object must match const 'signing_secret', got '{object_}'")

        secret = d.pop("secret")

        signing_secret = cls(
            object_=object_,
            secret=secret,
        )


        signing_secret.additional_properties = d
        return signing_secret

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
