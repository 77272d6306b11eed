from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.file_source_delimiter_type_0 import check_file_source_delimiter_type_0
from ..models.file_source_delimiter_type_0 import FileSourceDelimiterType0
from ..models.file_source_format_type_0 import check_file_source_format_type_0
from ..models.file_source_format_type_0 import FileSourceFormatType0
from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.columns import Columns





T = TypeVar("T", bound="FileSource")



@_attrs_define
class FileSource:
    """ A file of the project: JSON Lines, CSV or Parquet. A CSV file is uploaded with the purpose
    `user_data`.

        Attributes:
            type_ (Literal['file']): A file of the project.
            file_id (str): Id of the file.
            columns (Columns | Unset): The columns of a table by the part of a row that they become. Those that are left out
                are
                guessed from the names of the columns; all other columns keep their names, for graders.
            limit (int | None | Unset): Reads no more than this many rows; without it, more rows than a curriculum may have
                are refused.
            format_ (FileSourceFormatType0 | None | Unset): Absent: recognised by its content and name.
            delimiter (FileSourceDelimiterType0 | None | Unset): Delimiter of CSV; absent: recognised.
            encoding (None | str | Unset): Encoding of CSV, such as `utf-8`, `windows-1252` or `shift_jis`; absent:
                recognised.
            header (bool | Unset): False: the first row of a CSV file has values, and the columns are `column_1`,
                `column_2`, … Default: True.
     """

    type_: Literal['file']
    file_id: str
    columns: Columns | Unset = UNSET
    limit: int | None | Unset = UNSET
    format_: FileSourceFormatType0 | None | Unset = UNSET
    delimiter: FileSourceDelimiterType0 | None | Unset = UNSET
    encoding: None | str | Unset = UNSET
    header: bool | Unset = True





    def to_dict(self) -> dict[str, Any]:
        from ..models.columns import Columns # noqa: PLC0415
        type_ = self.type_

        file_id = self.file_id

        columns: dict[str, Any] | Unset = UNSET
        if not isinstance(self.columns, Unset):
            columns = self.columns.to_dict()

        limit: int | None | Unset
        if isinstance(self.limit, Unset):
            limit = UNSET
        else:
            limit = self.limit

        format_: None | str | Unset
        if isinstance(self.format_, Unset):
            format_ = UNSET
        elif isinstance(self.format_, str):
            format_ = self.format_
        else:
            format_ = self.format_

        delimiter: None | str | Unset
        if isinstance(self.delimiter, Unset):
            delimiter = UNSET
        elif isinstance(self.delimiter, str):
            delimiter = self.delimiter
        else:
            delimiter = self.delimiter

        encoding: None | str | Unset
        if isinstance(self.encoding, Unset):
            encoding = UNSET
        else:
            encoding = self.encoding

        header = self.header


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "type": type_,
            "file_id": file_id,
        })
        if columns is not UNSET:
            field_dict["columns"] = columns
        if limit is not UNSET:
            field_dict["limit"] = limit
        if format_ is not UNSET:
            field_dict["format"] = format_
        if delimiter is not UNSET:
            field_dict["delimiter"] = delimiter
        if encoding is not UNSET:
            field_dict["encoding"] = encoding
        if header is not UNSET:
            field_dict["header"] = header

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.columns import Columns # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['file'] , d.pop("type"))
        if type_ != 'file':
            raise ValueError(f"type must match const 'file', got '{type_}'")

        file_id = d.pop("file_id")

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


        def _parse_format_(data: object) -> FileSourceFormatType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                format_type_0 = check_file_source_format_type_0(data)



                return format_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FileSourceFormatType0 | None | Unset, data)

        format_ = _parse_format_(d.pop("format", UNSET))


        def _parse_delimiter(data: object) -> FileSourceDelimiterType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                delimiter_type_0 = check_file_source_delimiter_type_0(data)



                return delimiter_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FileSourceDelimiterType0 | None | Unset, data)

        delimiter = _parse_delimiter(d.pop("delimiter", UNSET))


        def _parse_encoding(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        encoding = _parse_encoding(d.pop("encoding", UNSET))


        header = d.pop("header", UNSET)

        file_source = cls(
            type_=type_,
            file_id=file_id,
            columns=columns,
            limit=limit,
            format_=format_,
            delimiter=delimiter,
            encoding=encoding,
            header=header,
        )

        return file_source

