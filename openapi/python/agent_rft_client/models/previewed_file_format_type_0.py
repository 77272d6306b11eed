from typing import Literal

PreviewedFileFormatType0 = Literal['csv', 'jsonl', 'parquet']

PREVIEWED_FILE_FORMAT_TYPE_0_VALUES: set[PreviewedFileFormatType0] = { 'csv', 'jsonl', 'parquet',  }

def check_previewed_file_format_type_0(value: str) -> PreviewedFileFormatType0:
    if value in PREVIEWED_FILE_FORMAT_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PREVIEWED_FILE_FORMAT_TYPE_0_VALUES!r}")
