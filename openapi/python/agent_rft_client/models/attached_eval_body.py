from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.attached_eval_body_data_source import AttachedEvalBodyDataSource





T = TypeVar("T", bound="AttachedEvalBody")



@_attrs_define
class AttachedEvalBody:
    """ An eval of the project that is run on the start model and the tuned model.

        Attributes:
            eval_id (str): Id of the eval.
            data_source (AttachedEvalBodyDataSource): As of an eval run of type `completions` or `responses`, with the items
                in a file and without `model`.
     """

    eval_id: str
    data_source: AttachedEvalBodyDataSource
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.attached_eval_body_data_source import AttachedEvalBodyDataSource # noqa: PLC0415
        eval_id = self.eval_id

        data_source = self.data_source.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "eval_id": eval_id,
            "data_source": data_source,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.attached_eval_body_data_source import AttachedEvalBodyDataSource # noqa: PLC0415
        d = dict(src_dict)
        eval_id = d.pop("eval_id")

        data_source = AttachedEvalBodyDataSource.from_dict(d.pop("data_source"))




        attached_eval_body = cls(
            eval_id=eval_id,
            data_source=data_source,
        )


        attached_eval_body.additional_properties = d
        return attached_eval_body

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
