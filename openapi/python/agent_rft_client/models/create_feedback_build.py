from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.create_feedback_build_method import check_create_feedback_build_method
from ..models.create_feedback_build_method import CreateFeedbackBuildMethod
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="CreateFeedbackBuild")



@_attrs_define
class CreateFeedbackBuild:
    """ The files to build from the feedback of the project.

        Attributes:
            method (CreateFeedbackBuildMethod): `dpo`: pairs of thumbs up and down, and of preferences. `supervised`:
                corrections.
            name (None | str | Unset): Name of the new curriculum; instead of `curriculum_id`.
            curriculum_id (None | str | Unset): Id of a curriculum that gets the files as its next version.
            corrections_as_pairs (bool | Unset): True prefers a correction to the answer that it corrects, for `dpo`.
                Default: False.
            thumbs_up_as_rows (bool | Unset): True learns answers with more thumbs up than down too, for `supervised`.
                Default: False.
            validation_share (float | Unset): Share of the rows that is held out. Prompts that are nearly the same are on
                one side, unless `alike_rows` says otherwise. Without enough rows for both files nothing is held out; at most
                1,000 rows are. Default: 0.2.
            created_after (int | None | Unset): Unix seconds: only later feedback is read.
            dry_run (bool | Unset): True returns the counts and stores nothing. Default: False.
     """

    method: CreateFeedbackBuildMethod
    name: None | str | Unset = UNSET
    curriculum_id: None | str | Unset = UNSET
    corrections_as_pairs: bool | Unset = False
    thumbs_up_as_rows: bool | Unset = False
    validation_share: float | Unset = 0.2
    created_after: int | None | Unset = UNSET
    dry_run: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        method: str = self.method

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        curriculum_id: None | str | Unset
        if isinstance(self.curriculum_id, Unset):
            curriculum_id = UNSET
        else:
            curriculum_id = self.curriculum_id

        corrections_as_pairs = self.corrections_as_pairs

        thumbs_up_as_rows = self.thumbs_up_as_rows

        validation_share = self.validation_share

        created_after: int | None | Unset
        if isinstance(self.created_after, Unset):
            created_after = UNSET
        else:
            created_after = self.created_after

        dry_run = self.dry_run


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "method": method,
        })
        if name is not UNSET:
            field_dict["name"] = name
        if curriculum_id is not UNSET:
            field_dict["curriculum_id"] = curriculum_id
        if corrections_as_pairs is not UNSET:
            field_dict["corrections_as_pairs"] = corrections_as_pairs
        if thumbs_up_as_rows is not UNSET:
            field_dict["thumbs_up_as_rows"] = thumbs_up_as_rows
        if validation_share is not UNSET:
            field_dict["validation_share"] = validation_share
        if created_after is not UNSET:
            field_dict["created_after"] = created_after
        if dry_run is not UNSET:
            field_dict["dry_run"] = dry_run

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        method = check_create_feedback_build_method(d.pop("method"))




        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))


        def _parse_curriculum_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        curriculum_id = _parse_curriculum_id(d.pop("curriculum_id", UNSET))


        corrections_as_pairs = d.pop("corrections_as_pairs", UNSET)

        thumbs_up_as_rows = d.pop("thumbs_up_as_rows", UNSET)

        validation_share = d.pop("validation_share", UNSET)

        def _parse_created_after(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        created_after = _parse_created_after(d.pop("created_after", UNSET))


        dry_run = d.pop("dry_run", UNSET)

        create_feedback_build = cls(
            method=method,
            name=name,
            curriculum_id=curriculum_id,
            corrections_as_pairs=corrections_as_pairs,
            thumbs_up_as_rows=thumbs_up_as_rows,
            validation_share=validation_share,
            created_after=created_after,
            dry_run=dry_run,
        )


        create_feedback_build.additional_properties = d
        return create_feedback_build

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
