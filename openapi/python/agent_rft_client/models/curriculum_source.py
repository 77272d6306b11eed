from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="CurriculumSource")



@_attrs_define
class CurriculumSource:
    """ Both files of another curriculum of the project.

        Attributes:
            type_ (Literal['curriculum']): Another curriculum.
            curriculum_id (str): Id of the curriculum.
            version (int | None | Unset): Number of its version; absent: the newest.
     """

    type_: Literal['curriculum']
    curriculum_id: str
    version: int | None | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        curriculum_id = self.curriculum_id

        version: int | None | Unset
        if isinstance(self.version, Unset):
            version = UNSET
        else:
            version = self.version


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "type": type_,
            "curriculum_id": curriculum_id,
        })
        if version is not UNSET:
            field_dict["version"] = version

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['curriculum'] , d.pop("type"))
        if type_ != 'curriculum':
            raise ValueError(f"type must match const 'curriculum', got '{type_}'")

        curriculum_id = d.pop("curriculum_id")

        def _parse_version(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        version = _parse_version(d.pop("version", UNSET))


        curriculum_source = cls(
            type_=type_,
            curriculum_id=curriculum_id,
            version=version,
        )

        return curriculum_source

