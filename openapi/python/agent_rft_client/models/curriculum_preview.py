from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.curriculum_finding import CurriculumFinding
  from ..models.curriculum_preview_first_rows_item import CurriculumPreviewFirstRowsItem
  from ..models.curriculum_preview_tags import CurriculumPreviewTags
  from ..models.previewed_file import PreviewedFile





T = TypeVar("T", bound="CurriculumPreview")



@_attrs_define
class CurriculumPreview:
    """ The contents of a curriculum that is not made; nothing is stored.

        Attributes:
            rows (int): Rows of all sources.
            skipped_rows (int): Rows that were left out because no job takes them; 0 unless `invalid_rows` is `skip`.
            training_rows (int): Rows to train.
            validation_rows (int): Rows that are held out.
            row_groups (int): Clusters of rows whose prompts are nearly the same; no cluster is in both files.
            tags (CurriculumPreviewTags): Rows of each tag.
            object_ (Literal['curriculum.preview']): Type of the object; each type has one constant value. Default:
                'curriculum.preview'.
            usable (bool): True if no finding is an error.
            files (list[PreviewedFile]): The reading of each file.
            first_rows (list[CurriculumPreviewFirstRowsItem]): The first 5 rows as a job would read them.
            findings (list[CurriculumFinding]): Errors first.
     """

    rows: int
    skipped_rows: int
    training_rows: int
    validation_rows: int
    row_groups: int
    tags: CurriculumPreviewTags
    usable: bool
    files: list[PreviewedFile]
    first_rows: list[CurriculumPreviewFirstRowsItem]
    findings: list[CurriculumFinding]
    object_: Literal['curriculum.preview'] = 'curriculum.preview'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.curriculum_finding import CurriculumFinding # noqa: PLC0415
        from ..models.curriculum_preview_first_rows_item import CurriculumPreviewFirstRowsItem # noqa: PLC0415
        from ..models.curriculum_preview_tags import CurriculumPreviewTags # noqa: PLC0415
        from ..models.previewed_file import PreviewedFile # noqa: PLC0415
        rows = self.rows

        skipped_rows = self.skipped_rows

        training_rows = self.training_rows

        validation_rows = self.validation_rows

        row_groups = self.row_groups

        tags = self.tags.to_dict()

        object_ = self.object_

        usable = self.usable

        files = []
        for files_item_data in self.files:
            files_item = files_item_data.to_dict()
            files.append(files_item)



        first_rows = []
        for first_rows_item_data in self.first_rows:
            first_rows_item = first_rows_item_data.to_dict()
            first_rows.append(first_rows_item)



        findings = []
        for findings_item_data in self.findings:
            findings_item = findings_item_data.to_dict()
            findings.append(findings_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "rows": rows,
            "skipped_rows": skipped_rows,
            "training_rows": training_rows,
            "validation_rows": validation_rows,
            "row_groups": row_groups,
            "tags": tags,
            "object": object_,
            "usable": usable,
            "files": files,
            "first_rows": first_rows,
            "findings": findings,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.curriculum_finding import CurriculumFinding # noqa: PLC0415
        from ..models.curriculum_preview_first_rows_item import CurriculumPreviewFirstRowsItem # noqa: PLC0415
        from ..models.curriculum_preview_tags import CurriculumPreviewTags # noqa: PLC0415
        from ..models.previewed_file import PreviewedFile # noqa: PLC0415
        d = dict(src_dict)
        rows = d.pop("rows")

        skipped_rows = d.pop("skipped_rows")

        training_rows = d.pop("training_rows")

        validation_rows = d.pop("validation_rows")

        row_groups = d.pop("row_groups")

        tags = CurriculumPreviewTags.from_dict(d.pop("tags"))




        object_ = cast(Literal['curriculum.preview'] , d.pop("object"))
        if object_ != 'curriculum.preview':
            raise ValueError(f"object must match const 'curriculum.preview', got '{object_}'")

        usable = d.pop("usable")

        files = []
        _files = d.pop("files")
        for files_item_data in (_files):
            files_item = PreviewedFile.from_dict(files_item_data)



            files.append(files_item)


        first_rows = []
        _first_rows = d.pop("first_rows")
        for first_rows_item_data in (_first_rows):
            first_rows_item = CurriculumPreviewFirstRowsItem.from_dict(first_rows_item_data)



            first_rows.append(first_rows_item)


        findings = []
        _findings = d.pop("findings")
        for findings_item_data in (_findings):
            findings_item = CurriculumFinding.from_dict(findings_item_data)



            findings.append(findings_item)


        curriculum_preview = cls(
            rows=rows,
            skipped_rows=skipped_rows,
            training_rows=training_rows,
            validation_rows=validation_rows,
            row_groups=row_groups,
            tags=tags,
            object_=object_,
            usable=usable,
            files=files,
            first_rows=first_rows,
            findings=findings,
        )


        curriculum_preview.additional_properties = d
        return curriculum_preview

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
