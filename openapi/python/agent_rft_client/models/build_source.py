from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import Literal, cast






T = TypeVar("T", bound="BuildSource")



@_attrs_define
class BuildSource:
    """ The files of a build from feedback. The removal of an end user finds the rows here too.

        Attributes:
            type_ (Literal['feedback_build']): A build from feedback.
            build_id (str): Id of the build.
     """

    type_: Literal['feedback_build']
    build_id: str





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        build_id = self.build_id


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "type": type_,
            "build_id": build_id,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['feedback_build'] , d.pop("type"))
        if type_ != 'feedback_build':
            raise ValueError(f"type must match const 'feedback_build', got '{type_}'")

        build_id = d.pop("build_id")

        build_source = cls(
            type_=type_,
            build_id=build_id,
        )

        return build_source

