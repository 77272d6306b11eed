from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.curriculum_origin_invalid_rows import check_curriculum_origin_invalid_rows
from ..models.curriculum_origin_invalid_rows import CurriculumOriginInvalidRows
from ..models.curriculum_origin_method import check_curriculum_origin_method
from ..models.curriculum_origin_method import CurriculumOriginMethod
from typing import cast

if TYPE_CHECKING:
  from ..models.curriculum_origin_sources_item import CurriculumOriginSourcesItem
  from ..models.curriculum_origin_tags import CurriculumOriginTags
  from ..models.split_options import SplitOptions





T = TypeVar("T", bound="CurriculumOrigin")



@_attrs_define
class CurriculumOrigin:
    """ The sources that the files of a curriculum were made from.

        Attributes:
            rows (int): Rows of all sources.
            skipped_rows (int): Rows that were left out because no job takes them; 0 unless `invalid_rows` is `skip`.
            training_rows (int): Rows to train.
            validation_rows (int): Rows that are held out.
            row_groups (int): Clusters of rows whose prompts are nearly the same; no cluster is in both files.
            tags (CurriculumOriginTags): Rows of each tag.
            method (CurriculumOriginMethod): The kind of job that the rows are for.
            split (SplitOptions): The held-out part: its size and the seed of the choice.
            invalid_rows (CurriculumOriginInvalidRows): The treatment of rows that no job takes.
            sources (list[CurriculumOriginSourcesItem]): The sources in their exact versions, without their rows.
     """

    rows: int
    skipped_rows: int
    training_rows: int
    validation_rows: int
    row_groups: int
    tags: CurriculumOriginTags
    method: CurriculumOriginMethod
    split: SplitOptions
    invalid_rows: CurriculumOriginInvalidRows
    sources: list[CurriculumOriginSourcesItem]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.curriculum_origin_sources_item import CurriculumOriginSourcesItem # noqa: PLC0415
        from ..models.curriculum_origin_tags import CurriculumOriginTags # noqa: PLC0415
        from ..models.split_options import SplitOptions # noqa: PLC0415
        rows = self.rows

        skipped_rows = self.skipped_rows

        training_rows = self.training_rows

        validation_rows = self.validation_rows

        row_groups = self.row_groups

        tags = self.tags.to_dict()

        method: str = self.method

        split = self.split.to_dict()

        invalid_rows: str = self.invalid_rows

        sources = []
        for sources_item_data in self.sources:
            sources_item = sources_item_data.to_dict()
            sources.append(sources_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "rows": rows,
            "skipped_rows": skipped_rows,
            "training_rows": training_rows,
            "validation_rows": validation_rows,
            "row_groups": row_groups,
            "tags": tags,
            "method": method,
            "split": split,
            "invalid_rows": invalid_rows,
            "sources": sources,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.curriculum_origin_sources_item import CurriculumOriginSourcesItem # noqa: PLC0415
        from ..models.curriculum_origin_tags import CurriculumOriginTags # noqa: PLC0415
        from ..models.split_options import SplitOptions # noqa: PLC0415
        d = dict(src_dict)
        rows = d.pop("rows")

        skipped_rows = d.pop("skipped_rows")

        training_rows = d.pop("training_rows")

        validation_rows = d.pop("validation_rows")

        row_groups = d.pop("row_groups")

        tags = CurriculumOriginTags.from_dict(d.pop("tags"))




        method = check_curriculum_origin_method(d.pop("method"))




        split = SplitOptions.from_dict(d.pop("split"))




        invalid_rows = check_curriculum_origin_invalid_rows(d.pop("invalid_rows"))




        sources = []
        _sources = d.pop("sources")
        for sources_item_data in (_sources):
            sources_item = CurriculumOriginSourcesItem.from_dict(sources_item_data)



            sources.append(sources_item)


        curriculum_origin = cls(
            rows=rows,
            skipped_rows=skipped_rows,
            training_rows=training_rows,
            validation_rows=validation_rows,
            row_groups=row_groups,
            tags=tags,
            method=method,
            split=split,
            invalid_rows=invalid_rows,
            sources=sources,
        )


        curriculum_origin.additional_properties = d
        return curriculum_origin

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
