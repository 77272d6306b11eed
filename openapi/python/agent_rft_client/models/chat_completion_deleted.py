from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import Literal, cast






T = TypeVar("T", bound="ChatCompletionDeleted")



@_attrs_define
class ChatCompletionDeleted:
    """ The confirmation that a stored completion is deleted, with the feedback about it.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['chat.completion.deleted']): Type of the object; each type has one constant value. Default:
                'chat.completion.deleted'.
            deleted (bool): True: the object is deleted. Default: True.
     """

    id: str
    object_: Literal['chat.completion.deleted'] = 'chat.completion.deleted'
    deleted: bool = True
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        deleted = self.deleted


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "deleted": deleted,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['chat.completion.deleted'] , d.pop("object"))
        if object_ != 'chat.completion.deleted':
            raise ValueError(f"object must match const 'chat.completion.deleted', got '{object_}'")

        deleted = d.pop("deleted")

        chat_completion_deleted = cls(
            id=id,
            object_=object_,
            deleted=deleted,
        )


        chat_completion_deleted.additional_properties = d
        return chat_completion_deleted

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
