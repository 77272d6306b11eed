from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.previewed_file_format_type_0 import check_previewed_file_format_type_0
from ..models.previewed_file_format_type_0 import PreviewedFileFormatType0
from typing import cast

if TYPE_CHECKING:
  from ..models.columns import Columns





T = TypeVar("T", bound="PreviewedFile")



@_attrs_define
class PreviewedFile:
    """ The reading of a file of a source.

        Attributes:
            source (int): Position of the source in the call, from 0.
            filename (str): Name of the file.
            format_ (None | PreviewedFileFormatType0): Its format; `null` if it cannot be read.
            encoding (None | str): Encoding of a CSV file.
            encoding_guessed (bool): True if other encodings fit too: look at the letters of `first_rows`.
            delimiter (None | str): Delimiter of a CSV file.
            header (list[str]): Names of the first 100 columns.
            columns (Columns | None): The columns that become parts of a row; `null` if the records are rows of a job's file
                already, and `columns` of the source names none.
            rows (int): Records that were read.
            revision (None | str): Commit of the data set that the file is of; `null` for other files.
     """

    source: int
    filename: str
    format_: None | PreviewedFileFormatType0
    encoding: None | str
    encoding_guessed: bool
    delimiter: None | str
    header: list[str]
    columns: Columns | None
    rows: int
    revision: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.columns import Columns # noqa: PLC0415
        source = self.source

        filename = self.filename

        format_: None | str
        if isinstance(self.format_, str):
            format_ = self.format_
        else:
            format_ = self.format_

        encoding: None | str
        encoding = self.encoding

        encoding_guessed = self.encoding_guessed

        delimiter: None | str
        delimiter = self.delimiter

        header = self.header



        columns: dict[str, Any] | None
        if isinstance(self.columns, Columns):
            columns = self.columns.to_dict()
        else:
            columns = self.columns

        rows = self.rows

        revision: None | str
        revision = self.revision


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "source": source,
            "filename": filename,
            "format": format_,
            "encoding": encoding,
            "encoding_guessed": encoding_guessed,
            "delimiter": delimiter,
            "header": header,
            "columns": columns,
            "rows": rows,
            "revision": revision,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.columns import Columns # noqa: PLC0415
        d = dict(src_dict)
        source = d.pop("source")

        filename = d.pop("filename")

        def _parse_format_(data: object) -> None | PreviewedFileFormatType0:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                format_type_0 = check_previewed_file_format_type_0(data)



                return format_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PreviewedFileFormatType0, data)

        format_ = _parse_format_(d.pop("format"))


        def _parse_encoding(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        encoding = _parse_encoding(d.pop("encoding"))


        encoding_guessed = d.pop("encoding_guessed")

        def _parse_delimiter(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        delimiter = _parse_delimiter(d.pop("delimiter"))


        header = cast(list[str], d.pop("header"))


        def _parse_columns(data: object) -> Columns | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                columns_type_0 = Columns.from_dict(data)



                return columns_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Columns | None, data)

        columns = _parse_columns(d.pop("columns"))


        rows = d.pop("rows")

        def _parse_revision(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        revision = _parse_revision(d.pop("revision"))


        previewed_file = cls(
            source=source,
            filename=filename,
            format_=format_,
            encoding=encoding,
            encoding_guessed=encoding_guessed,
            delimiter=delimiter,
            header=header,
            columns=columns,
            rows=rows,
            revision=revision,
        )


        previewed_file.additional_properties = d
        return previewed_file

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
