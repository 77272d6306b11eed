from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.preview_curriculum_invalid_rows import check_preview_curriculum_invalid_rows
from ..models.preview_curriculum_invalid_rows import PreviewCurriculumInvalidRows
from ..models.preview_curriculum_method import check_preview_curriculum_method
from ..models.preview_curriculum_method import PreviewCurriculumMethod
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.build_source import BuildSource
  from ..models.curriculum_source import CurriculumSource
  from ..models.file_source import FileSource
  from ..models.hub_source import HubSource
  from ..models.rollouts_source import RolloutsSource
  from ..models.rows_source import RowsSource
  from ..models.split_options import SplitOptions





T = TypeVar("T", bound="PreviewCurriculum")



@_attrs_define
class PreviewCurriculum:
    """ A curriculum that is not made.

        Attributes:
            sources (list[BuildSource | CurriculumSource | FileSource | HubSource | RolloutsSource | RowsSource]): The
                sources of both files.
            method (PreviewCurriculumMethod | Unset): The kind of job that the rows of `sources` are for. Default:
                'reinforcement'.
            split (SplitOptions | Unset): The held-out part: its size and the seed of the choice.
            invalid_rows (PreviewCurriculumInvalidRows | Unset): `skip` leaves out rows of `sources` that no such job takes,
                and counts them; `refuse` refuses the call. Default: 'refuse'.
     """

    sources: list[BuildSource | CurriculumSource | FileSource | HubSource | RolloutsSource | RowsSource]
    method: PreviewCurriculumMethod | Unset = 'reinforcement'
    split: SplitOptions | Unset = UNSET
    invalid_rows: PreviewCurriculumInvalidRows | Unset = 'refuse'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.build_source import BuildSource # noqa: PLC0415
        from ..models.curriculum_source import CurriculumSource # noqa: PLC0415
        from ..models.file_source import FileSource # noqa: PLC0415
        from ..models.hub_source import HubSource # noqa: PLC0415
        from ..models.rollouts_source import RolloutsSource # noqa: PLC0415
        from ..models.rows_source import RowsSource # noqa: PLC0415
        from ..models.split_options import SplitOptions # noqa: PLC0415
        sources = []
        for sources_item_data in self.sources:
            sources_item: dict[str, Any]
            if isinstance(sources_item_data, FileSource):
                sources_item = sources_item_data.to_dict()
            elif isinstance(sources_item_data, RowsSource):
                sources_item = sources_item_data.to_dict()
            elif isinstance(sources_item_data, CurriculumSource):
                sources_item = sources_item_data.to_dict()
            elif isinstance(sources_item_data, RolloutsSource):
                sources_item = sources_item_data.to_dict()
            elif isinstance(sources_item_data, BuildSource):
                sources_item = sources_item_data.to_dict()
            else:
                sources_item = sources_item_data.to_dict()

            sources.append(sources_item)



        method: str | Unset = UNSET
        if not isinstance(self.method, Unset):
            method = self.method


        split: dict[str, Any] | Unset = UNSET
        if not isinstance(self.split, Unset):
            split = self.split.to_dict()

        invalid_rows: str | Unset = UNSET
        if not isinstance(self.invalid_rows, Unset):
            invalid_rows = self.invalid_rows



        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "sources": sources,
        })
        if method is not UNSET:
            field_dict["method"] = method
        if split is not UNSET:
            field_dict["split"] = split
        if invalid_rows is not UNSET:
            field_dict["invalid_rows"] = invalid_rows

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.build_source import BuildSource # noqa: PLC0415
        from ..models.curriculum_source import CurriculumSource # noqa: PLC0415
        from ..models.file_source import FileSource # noqa: PLC0415
        from ..models.hub_source import HubSource # noqa: PLC0415
        from ..models.rollouts_source import RolloutsSource # noqa: PLC0415
        from ..models.rows_source import RowsSource # noqa: PLC0415
        from ..models.split_options import SplitOptions # noqa: PLC0415
        d = dict(src_dict)
        sources = []
        _sources = d.pop("sources")
        for sources_item_data in (_sources):
            def _parse_sources_item(data: object) -> BuildSource | CurriculumSource | FileSource | HubSource | RolloutsSource | RowsSource:
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    sources_item_type_0 = FileSource.from_dict(data)



                    return sources_item_type_0
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    sources_item_type_1 = RowsSource.from_dict(data)



                    return sources_item_type_1
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    sources_item_type_2 = CurriculumSource.from_dict(data)



                    return sources_item_type_2
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    sources_item_type_3 = RolloutsSource.from_dict(data)



                    return sources_item_type_3
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    sources_item_type_4 = BuildSource.from_dict(data)



                    return sources_item_type_4
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                if not isinstance(data, dict):
                    raise TypeError()
                sources_item_type_5 = HubSource.from_dict(data)



                return sources_item_type_5

            sources_item = _parse_sources_item(sources_item_data)

            sources.append(sources_item)


        _method = d.pop("method", UNSET)
        method: PreviewCurriculumMethod | Unset
        if isinstance(_method,  Unset):
            method = UNSET
        else:
            method = check_preview_curriculum_method(_method)




        _split = d.pop("split", UNSET)
        split: SplitOptions | Unset
        if isinstance(_split,  Unset):
            split = UNSET
        else:
            split = SplitOptions.from_dict(_split)




        _invalid_rows = d.pop("invalid_rows", UNSET)
        invalid_rows: PreviewCurriculumInvalidRows | Unset
        if isinstance(_invalid_rows,  Unset):
            invalid_rows = UNSET
        else:
            invalid_rows = check_preview_curriculum_invalid_rows(_invalid_rows)




        preview_curriculum = cls(
            sources=sources,
            method=method,
            split=split,
            invalid_rows=invalid_rows,
        )


        preview_curriculum.additional_properties = d
        return preview_curriculum

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
