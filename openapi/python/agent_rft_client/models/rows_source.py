from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.columns import Columns
  from ..models.rows_source_rows_item import RowsSourceRowsItem





T = TypeVar("T", bound="RowsSource")



@_attrs_define
class RowsSource:
    """ Rows in the request: rows of a job's file, or flat objects whose keys are columns.

        Attributes:
            type_ (Literal['rows']): Rows in the request.
            rows (list[RowsSourceRowsItem]): The rows.
            columns (Columns | Unset): The columns of a table by the part of a row that they become. Those that are left out
                are
                guessed from the names of the columns; all other columns keep their names, for graders.
            limit (int | None | Unset): Reads no more than this many rows; without it, more rows than a curriculum may have
                are refused.
     """

    type_: Literal['rows']
    rows: list[RowsSourceRowsItem]
    columns: Columns | Unset = UNSET
    limit: int | None | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.columns import Columns # noqa: PLC0415
        from ..models.rows_source_rows_item import RowsSourceRowsItem # noqa: PLC0415
        type_ = self.type_

        rows = []
        for rows_item_data in self.rows:
            rows_item = rows_item_data.to_dict()
            rows.append(rows_item)



        columns: dict[str, Any] | Unset = UNSET
        if not isinstance(self.columns, Unset):
            columns = self.columns.to_dict()

        limit: int | None | Unset
        if isinstance(self.limit, Unset):
            limit = UNSET
        else:
            limit = self.limit


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "type": type_,
            "rows": rows,
        })
        if columns is not UNSET:
            field_dict["columns"] = columns
        if limit is not UNSET:
            field_dict["limit"] = limit

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.columns import Columns # noqa: PLC0415
        from ..models.rows_source_rows_item import RowsSourceRowsItem # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['rows'] , d.pop("type"))
        if type_ != 'rows':
            raise ValueError(f"type must match const 'rows', got '{type_}'")

        rows = []
        _rows = d.pop("rows")
        for rows_item_data in (_rows):
            rows_item = RowsSourceRowsItem.from_dict(rows_item_data)



            rows.append(rows_item)


        _columns = d.pop("columns", UNSET)
        columns: Columns | Unset
        if isinstance(_columns,  Unset):
            columns = UNSET
        else:
            columns = Columns.from_dict(_columns)




        def _parse_limit(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        limit = _parse_limit(d.pop("limit", UNSET))


        rows_source = cls(
            type_=type_,
            rows=rows,
            columns=columns,
            limit=limit,
        )

        return rows_source

