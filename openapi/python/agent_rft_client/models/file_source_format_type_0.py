from typing import Literal

FileSourceFormatType0 = Literal['csv', 'jsonl', 'parquet']

FILE_SOURCE_FORMAT_TYPE_0_VALUES: set[FileSourceFormatType0] = { 'csv', 'jsonl', 'parquet',  }

def check_file_source_format_type_0(value: str) -> FileSourceFormatType0:
    if value in FILE_SOURCE_FORMAT_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {FILE_SOURCE_FORMAT_TYPE_0_VALUES!r}")
