from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="EndUserRemoval")



@_attrs_define
class EndUserRemoval:
    """ The counts and ids of an end user's data that were removed.

        Attributes:
            object_ (Literal['feedback.end_user.deleted']): Type of the object; each type has one constant value. Default:
                'feedback.end_user.deleted'.
            deleted (bool): True: the object is deleted. Default: True.
            completions (int): Stored chat completions.
            feedback (int): Feedback by this person, or about their conversations.
            rows (int): Rows of files that were built from the feedback.
            files (list[str]): Ids of the files that had such rows and are deleted; files without the rows replace them.
            curricula (list[str]): Ids of the curricula that have a new version, or are deleted because no row was left.
            jobs (list[str]): Ids of ended jobs that read files with such rows, each once: their models keep what they
                learned, and the jobs and models can be deleted. A repeated call names them again.
     """

    completions: int
    feedback: int
    rows: int
    files: list[str]
    curricula: list[str]
    jobs: list[str]
    object_: Literal['feedback.end_user.deleted'] = 'feedback.end_user.deleted'
    deleted: bool = True
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        object_ = self.object_

        deleted = self.deleted

        completions = self.completions

        feedback = self.feedback

        rows = self.rows

        files = self.files



        curricula = self.curricula



        jobs = self.jobs




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "deleted": deleted,
            "completions": completions,
            "feedback": feedback,
            "rows": rows,
            "files": files,
            "curricula": curricula,
            "jobs": jobs,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        object_ = cast(Literal['feedback.end_user.deleted'] , d.pop("object"))
        if object_ != 'feedback.end_user.deleted':
            raise ValueError(f"object must match const 'feedback.end_user.deleted', got '{object_}'")

        deleted = d.pop("deleted")

        completions = d.pop("completions")

        feedback = d.pop("feedback")

        rows = d.pop("rows")

        files = cast(list[str], d.pop("files"))


        curricula = cast(list[str], d.pop("curricula"))


        jobs = cast(list[str], d.pop("jobs"))


        end_user_removal = cls(
            object_=object_,
            deleted=deleted,
            completions=completions,
            feedback=feedback,
            rows=rows,
            files=files,
            curricula=curricula,
            jobs=jobs,
        )


        end_user_removal.additional_properties = d
        return end_user_removal

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
