from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import Literal, cast






T = TypeVar("T", bound="EvalDeleted")



@_attrs_define
class EvalDeleted:
    """ The confirmation that an eval and its runs are deleted.

        Attributes:
            deleted (bool): True: the object is deleted. Default: True.
            eval_id (str): Id of the eval.
            object_ (Literal['eval.deleted']): Type of the object; each type has one constant value. Default:
                'eval.deleted'.
     """

    eval_id: str
    deleted: bool = True
    object_: Literal['eval.deleted'] = 'eval.deleted'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        deleted = self.deleted

        eval_id = self.eval_id

        object_ = self.object_


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "deleted": deleted,
            "eval_id": eval_id,
            "object": object_,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        deleted = d.pop("deleted")

        eval_id = d.pop("eval_id")

        object_ = cast(Literal['eval.deleted'] , d.pop("object"))
        if object_ != 'eval.deleted':
            raise ValueError(f"object must match const 'eval.deleted', got '{object_}'")

        eval_deleted = cls(
            deleted=deleted,
            eval_id=eval_id,
            object_=object_,
        )


        eval_deleted.additional_properties = d
        return eval_deleted

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
