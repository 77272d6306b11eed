from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.update_chat_completion_metadata_type_0 import UpdateChatCompletionMetadataType0





T = TypeVar("T", bound="UpdateChatCompletion")



@_attrs_define
class UpdateChatCompletion:
    """ New metadata of a stored completion, in place of all earlier pairs.

        Attributes:
            metadata (None | UpdateChatCompletionMetadataType0): `null` removes all pairs.
     """

    metadata: None | UpdateChatCompletionMetadataType0
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.update_chat_completion_metadata_type_0 import UpdateChatCompletionMetadataType0 # noqa: PLC0415
        metadata: dict[str, Any] | None
        if isinstance(self.metadata, UpdateChatCompletionMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "metadata": metadata,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.update_chat_completion_metadata_type_0 import UpdateChatCompletionMetadataType0 # noqa: PLC0415
        d = dict(src_dict)
        def _parse_metadata(data: object) -> None | UpdateChatCompletionMetadataType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = UpdateChatCompletionMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | UpdateChatCompletionMetadataType0, data)

        metadata = _parse_metadata(d.pop("metadata"))


        update_chat_completion = cls(
            metadata=metadata,
        )


        update_chat_completion.additional_properties = d
        return update_chat_completion

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
